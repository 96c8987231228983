import BinnacleHeading
import BinnacleTesting
import PlainText
import Testing

import Binnacle

/// Live readings: what they show is what the samples were, however these are delivered.
@Suite struct ReadingsTests {
    /// Plays samples and takes the readings at the end.
    private func readings(
        of samples: [Sample], capacity: Int = 4096, settings: MotionSettings = MotionSettings()
    ) -> LiveValues {
        let bench = Bench(samples, settings: settings)
        bench.manager.startDetection()
        let collector = LiveValuesCollector(streams: bench.source.streams, detectors: [bench.manager], now: 0)
        let pipeline = Pipeline(
            source: bench.source, detectors: [bench.manager, collector.observer], capacity: capacity)
        pipeline.run()
        return collector.collect(
            at: second, statistics: pipeline.statistics, isWorking: pipeline.isWorking, clock: { $0 })
    }

    /// A walk with one spike of a sample.
    private var spiked: [Sample] {
        recording(seconds: 6) { $0 == 4.21 ? 3.5 : Float(Int($0 * 37) % 7) * 0.01 }
    }

    @Test(arguments: [1, 7, 4096]) func theCutOfDeliveriesChangesNothing(capacity: Int) throws {
        let found = readings(of: spiked, capacity: capacity)
        #expect(found == readings(of: spiked))
        let stream = try #require(found.streams.first)
        #expect(stream.sampleCount == 600 && stream.kind == .accelerometer && stream.sensor == "chassis")
        let x = try #require(stream.x)
        #expect(x.greatest == 3.5 * Units.standardGravity && x.least == 0 && x.last == spiked.last?.x)
        let motion = try #require(found.detectors.first)
        #expect(motion.kind == "motion" && motion.isRunning && motion.sensors == ["chassis"])
        // The spike is a shake, far beyond the limit that stands beside it.
        let user = try #require(motion.measure("user_g"))
        #expect(user.greatest > 3 && user.least >= 0)
        let shake = try #require(motion.limits.first { $0.name == "shake" })
        #expect(shake.measure == "user_g" && shake.begin == 1.5 && shake.end == 0.75 && shake.isAbove)
    }

    @Test func anIntervalHasItsOwnExtremesAndTheNextOneBeginsWithNone() throws {
        let bench = Bench(recording(seconds: 2) { $0 < 1 ? 2 : 0 })
        let collector = LiveValuesCollector(streams: bench.source.streams, detectors: [bench.manager], now: 0)
        bench.manager.startDetection()
        let pipeline = Pipeline(source: bench.source, detectors: [bench.manager, collector.observer], capacity: 100)
        func take(_ now: Int64) -> LiveValues {
            collector.collect(at: now, statistics: pipeline.statistics, isWorking: pipeline.isWorking, clock: { $0 })
        }
        _ = pipeline.turn()
        let first = take(second)
        _ = pipeline.turn()
        let next = take(3 * second)
        #expect(first.streams[0].x?.greatest == 2 * Units.standardGravity)
        #expect(next.streams[0].x?.greatest == 0 && next.intervalNanoseconds == 2 * second)
        #expect(take(4 * second).streams[0].x == nil)
        #expect(take(5 * second).detectors[0].measures.isEmpty)
        let joined = first.joined(with: next)
        #expect(joined.streams[0].x?.greatest == 2 * Units.standardGravity && joined.streams[0].x?.last == 0)
        #expect(joined.streams[0].sampleCount == 200 && joined.intervalNanoseconds == 3 * second)
        #expect(joined.timeNanoseconds == next.timeNanoseconds)
    }

    @Test func valuesThatAreNotFiniteAreLeftOut() throws {
        var samples = recording(seconds: 1) { _ in 0.5 }
        samples[10].x = .infinity
        samples[11].y = .nan
        samples[99].z = -.infinity
        let stream = try #require(readings(of: samples).streams.first)
        #expect(stream.x?.greatest == 0.5 * Units.standardGravity && stream.z?.last == Units.standardGravity)
        #expect(stream.y == LiveValues.Span(least: 0, greatest: 0, last: 0))
        #expect(try #require(stream.length).greatest < 20)
        let none = recording(seconds: 0.1) { _ in .nan }
        #expect(readings(of: none).streams.first?.x == nil)
    }

    @Test func whatIsWrittenIsRead() throws {
        var found = readings(of: spiked)
        found.skippedCount = 3
        found.detectors[0].figures = [
            Figure(.heading, Figure.Name.heading.number(12.5)), Figure(.reason, .text("a \"b\"")),
            Figure(.tilt, .word(ScreenTilt.faceUp)),
        ]
        let value = try JSONReader.value(of: found.json.utf8)
        #expect(LiveValues(value) == found)
        #expect(LiveValues(value)?.json == found.json)
    }

    /// What a detector knew before it stopped is not how things are.
    @Test func aDetectorThatDoesNotRunHasNoValues() throws {
        let bench = Bench(spiked)
        let collector = LiveValuesCollector(streams: bench.source.streams, detectors: [bench.manager], now: 0)
        bench.manager.startDetection()
        let pipeline = Pipeline(source: bench.source, detectors: [bench.manager, collector.observer])
        _ = pipeline.turn()
        func take(_ isWorking: Bool) throws -> LiveValues.Detector {
            let found = collector.collect(
                at: second, statistics: pipeline.statistics, isWorking: { _ in isWorking }, clock: { $0 })
            return try #require(found.detectors.first)
        }
        let stopped = try take(false)
        #expect(bench.manager.state != nil && stopped.state == nil && !stopped.isActive && !stopped.isRunning)
        #expect(stopped.measures.isEmpty && stopped.figures.isEmpty && !stopped.limits.isEmpty)
        #expect(try take(true).state == bench.manager.state)
        // A joined interval takes no measure of the time before.
        var before = LiveValues(timeNanoseconds: 1, intervalNanoseconds: 1), after = before
        before.detectors = [LiveValues.Detector(name: "m", kind: "motion", isRunning: true)]
        let span = try #require(LiveValues.Span(least: 0, greatest: 1, last: 1))
        before.detectors[0].measures = [LiveValues.Measure("user_g", span)]
        after.detectors = [LiveValues.Detector(name: "m", kind: "motion", isRunning: false)]
        #expect(before.joined(with: after).detectors[0].measures.isEmpty)
    }

    @Test func sensorsAreChosenByName() {
        let found = readings(of: spiked)
        #expect(found.only(["chassis"]) == found && found.only(nil) == found)
        #expect(found.only(["lid"]).streams.isEmpty && found.only(["lid"]).detectors.isEmpty)
    }

    @Test func headingsHaveTheirAccuracyOrTheReason() throws {
        let sensor = Sensor(name: "box")
        let up = SampleStream(sensor: sensor, kind: .accelerometer)
        let north = SampleStream(sensor: sensor, kind: .magnetometer)
        var settings = NorthSettings()
        settings.uncalibratedIronMicrotesla = 0
        let detector = NorthDetector(accelerometer: up, magnetometer: north, settings: settings)
        func detectorReadings(_ field: SIMD3<Float>) -> LiveValues.Detector {
            let samples: [(Int, Sample)] = (0..<200).flatMap { i in
                let time = Int64(i) * 10 * millisecond
                return [(0, Sample(timeNanoseconds: time, x: field.x, y: field.y, z: field.z)), (1, rest(time))]
            }
            let source = ScriptedSource(streams: [north, up], samples: samples)
            detector.stopDetection()
            detector.startDetection()
            defer { #expect(detector.rows?.isKept == false) }
            let collector = LiveValuesCollector(streams: source.streams, detectors: [detector], now: 0)
            let pipeline = Pipeline(source: source, detectors: [detector, collector.observer])
            pipeline.run()
            let readings = collector.collect(
                at: second, statistics: pipeline.statistics, isWorking: pipeline.isWorking, clock: { $0 })
            #expect(detector.rows?.isKept == true)
            return readings.detectors[0]
        }
        let found = detectorReadings(SIMD3(0, 21, -45))
        #expect(found.figure(.heading) == .number(0, decimals: 2) && found.figure(.reason) == nil)
        #expect(found.figure(.accuracy) != nil && found.state == "facing")
        let none = detectorReadings(SIMD3(0, 0.1, -45))
        #expect(none.figure(.heading) == nil && none.state == nil)
        #expect(none.figure(.reason) == .text(HeadingFault.fieldVertical.rawValue))
    }

    @Test func anglesOfAScreenStandBesideTheirLimits() throws {
        let sensor = Sensor(name: "lid")
        let stream = SampleStream(sensor: sensor, kind: .accelerometer)
        let detector = OrientationDetector(accelerometer: stream)
        detector.startDetection()
        let lean = Float(30) * .pi / 180
        let samples = (0..<100).map { i in
            (
                0,
                Sample(
                    timeNanoseconds: Int64(i) * 10 * millisecond, x: 0, y: Units.standardGravity * 0.8660254,
                    z: Units.standardGravity * 0.5)
            )
        }
        let source = ScriptedSource(streams: [stream], samples: samples)
        let collector = LiveValuesCollector(streams: [stream], detectors: [detector], now: 0)
        let pipeline = Pipeline(source: source, detectors: [detector, collector.observer])
        pipeline.run()
        let found = collector.collect(
            at: second, statistics: pipeline.statistics, isWorking: pipeline.isWorking, clock: { $0 }
        ).detectors[0]
        #expect(found.state == "normal" && found.figure(.tilt) == .word(ScreenTilt.tiltedUp))
        #expect(found.measure("turn_deg")?.last == 0)
        #expect(abs(try #require(found.measure("lean_deg")).last - lean * 180 / .pi) < 0.11)
        #expect(found.limits.contains { $0.measure == "lean_deg" && $0.begin == 25.5 && $0.end == 15.5 })
    }
}
