import BinnacleTesting
import Foundation
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

    /// What follows the last change may be a rest, and is no motion; a rest that is reported ends it.
    @Test(arguments: [(5, 4, 0), (5, 5.4, 1), (1, 0.5, 0), (1, 3, 1), (2, 0.04, 0)])
    func onlyWhatMovesForTheWholeTimeDeparts(dwell: Int, moving: Double, departures: Int) {
        var settings = StationarySettings()
        settings.dwell = .seconds(dwell)
        let detector = StationaryDetector(name: "worn", accelerometer: stream, settings: settings)
        let events = play(detector, seconds: 30) { time in
            let isMoving = time > 10 && time < 10 + moving
            return 1 + (isMoving ? Float(0.3 * sin(2 * .pi * (time - 10))) : 0)
        }
        let rest = [EventKind.stationary]
        #expect(events.map(\.kind) == rest + (departures == 1 ? [.departed, .stationary] : []))
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
