import BinnacleTesting
import PlainText
import Testing

import Binnacle

/// Detectors of steps and of rest, in input that no device should give.
@Suite struct WalkAndRestTests {
    private let stream = SampleStream(sensor: Sensor(name: "worn"), kind: .accelerometer)

    /// Plays samples of an upright acceleration in g, 50 a second.
    private func play(_ detector: any EventDetector, seconds: Int, value: (Double) -> Float) -> [Event] {
        let samples = (0..<50 * seconds).map { index in
            Sample(
                timeNanoseconds: Int64(index) * 20_000_000, x: 0, y: 0,
                z: value(Double(index) / 50) * Units.standardGravity)
        }
        let (router, collector) = (Router(), EventCollector())
        router.add(collector)
        detector.report(to: router)
        detector.startDetection()
        Pipeline(
            source: ScriptedSource(streams: [stream], samples: samples.map { (0, $0) }), detectors: [detector],
            router: router
        ).run()
        return collector.events
    }

    @Test func samplesThatAreNoNumbersAreNoRest() {
        let detector = StationaryDetector(accelerometer: stream)
        #expect(play(detector, seconds: 20) { _ in .nan }.isEmpty && detector.state == nil)
        // Still until 10 s, then nothing that is a number for 9 s: what was known ends with it.
        let events = play(StationaryDetector(accelerometer: stream), seconds: 20) { time in
            time > 10 && time < 19 ? .nan : 1
        }
        #expect(events.map(\.kind) == [.stationary])
    }

    @Test(arguments: ["9223372036854775807", "9007199254740993", "-1", "1.5", "\"7\""])
    func aCountThatIsNotPlausibleIsNotContinued(count: String) throws {
        let detector = StepDetector(accelerometer: stream)
        #expect(!detector.recall(try JSONReader.value(of: "{\"steps\":\(count)}".utf8)))
        #expect(detector.total == 0)
        _ = play(detector, seconds: 20) { 1 + Float($0.truncatingRemainder(dividingBy: 0.5) < 0.25 ? 0.3 : -0.3) }
        #expect(detector.total > 10)
    }

    @Test func aCountIsContinuedAndBeginsAgain() throws {
        let detector = StepDetector(accelerometer: stream)
        #expect(detector.recall(try JSONReader.value(of: "{\"steps\":41}".utf8)))
        #expect(detector.total == 41 && detector.learned == "{\"steps\":41}")
        #expect(detector.resetKept() && detector.total == 0)
        #expect(!StationaryDetector(accelerometer: stream).resetKept())
    }
}
