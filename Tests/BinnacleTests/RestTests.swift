import Binnacle
import BinnacleTesting
import TestSupport
import Testing

/// What a detector of motion and a sensor make of a time without samples that their source has told.
@Suite struct RestTests {
    private static let g: Float = 9.80665

    /// A pipeline whose deliveries a test writes by itself.
    private final class Bench {
        let sensor = Sensor(name: "chassis")
        let manager: MotionManager
        let diary = MotionDiary()
        let pipeline: Pipeline
        private let stream: SampleStream
        private var time: Int64 = 0

        init(_ settings: MotionSettings = MotionSettings()) {
            stream = SampleStream(sensor: sensor, kind: .accelerometer)
            manager = MotionManager(accelerometer: stream, settings: settings)
            pipeline = Pipeline(source: ScriptedSource(streams: [stream], samples: []), detectors: [manager])
            manager.delegate = diary
            manager.startDetection()
        }

        /// Offers samples a hundredth of a second apart, the first of them with the end of a rest.
        func deliver(_ seconds: Double, x: Float = 0, ending rest: SampleRest.Phase? = nil) {
            let count = Int(seconds * 100)
            let delivery = SampleDelivery(streams: [stream], capacity: count)
            if let rest { delivery.append(SampleRest(stream: stream.id, phase: rest)) }
            for _ in 0..<count {
                time += 10_000_000
                delivery.batches[0].append(timeNanoseconds: time, x: x * RestTests.g, y: 0, z: RestTests.g)
            }
            pipeline.offer(delivery)
        }

        /// Tells that a rest begins, and lets time pass.
        func rest(seconds: Int64) {
            let delivery = SampleDelivery(streams: [stream], capacity: 1)
            delivery.append(SampleRest(stream: stream.id, phase: .began))
            pipeline.offer(delivery)
            time += seconds * second
        }
    }

    @Test func theEventBeginsTheMotionAtTheFirstSample() throws {
        let bench = Bench()
        bench.deliver(5)
        bench.rest(seconds: 100)
        #expect(bench.sensor.isSleeping)
        #expect(bench.manager.state == "sleeping")
        bench.deliver(0.5, x: 0.3, ending: .ended(onsetNanoseconds: 104 * second))
        #expect(!bench.sensor.isSleeping)
        #expect(bench.manager.isMoving)
        let began = try #require(bench.diary.events.first)
        #expect(began.onsetNanoseconds == 104 * second)
        #expect(began.timeNanoseconds == 105 * second + 10_000_000)
        #expect(abs(began.magnitudeG - 0.3) < 0.001)
        // Where it lies now is known after the warm-up, and then it has to be quiet for a second.
        bench.deliver(4, x: 0.3)
        #expect(bench.diary.without("should", "moving", "will").count == 2)
        let ended = try #require(bench.diary.events.last)
        #expect(ended.onsetNanoseconds == 104 * second)
        #expect(!bench.manager.isMoving)
        #expect(bench.pipeline.statistics[0].gapCount == 0)
    }

    @Test func aRestWithoutAnEventIsNoMotion() {
        let bench = Bench()
        bench.deliver(5)
        bench.rest(seconds: 100)
        bench.deliver(4, x: 0.3, ending: .ended(onsetNanoseconds: nil))
        #expect(bench.diary.without("will").isEmpty)
        #expect(bench.manager.state == "still")
    }

    /// No sample could end it any more.
    @Test func aRestEndsAMotion() throws {
        let bench = Bench()
        bench.deliver(5)
        bench.deliver(0.3, x: 0.3)
        #expect(bench.manager.isMoving)
        bench.rest(seconds: 100)
        #expect(!bench.manager.isMoving)
        let ended = try #require(bench.diary.events.last)
        #expect(ended.timeNanoseconds == 5_300_000_000)
        #expect(ended.magnitudeG > 0.2)
        bench.rest(seconds: 1)
        #expect(bench.diary.without("should", "moving", "will").count == 2)
    }

    @Test func withoutMotionToDetectNothingBegins() {
        var settings = MotionSettings()
        settings.features = [.freeFall, .shock]
        let bench = Bench(settings)
        bench.deliver(5)
        bench.rest(seconds: 100)
        bench.deliver(4, x: 0.3, ending: .ended(onsetNanoseconds: 104 * second))
        #expect(bench.diary.without("will").isEmpty)
    }

    @Test func aSensorThatFailsDoesNotSleep() {
        let bench = Bench()
        bench.deliver(5)
        bench.rest(seconds: 100)
        Sensor.deactivate([bench.sensor], because: CancellationError())
        #expect(!bench.sensor.isSleeping)
    }

    @Test func whatNeedsAGyroscopeIsNotWatched() {
        var settings = MotionSettings()
        settings.watch = .chip
        #expect(settings.problems().isEmpty)
        settings.features.insert(.rotation)
        #expect(settings.problems().count == 1)
        settings.features = MotionSettings.Feature.usual
        settings.measure = .linearAcceleration
        #expect(settings.problems().count == 1)
    }
}
