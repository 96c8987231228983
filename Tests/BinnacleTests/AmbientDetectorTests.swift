import BinnacleTesting
import Foundation
import Testing

import Binnacle

@Suite struct ReadingDetectorTests {
    /// What detectors of readings tell.
    private final class Diary: DetectorDelegate {
        private(set) var entries: [String] = []

        func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult) {
            if let event = result as? LightEvent {
                entries.append("\(event.level) \(event.unit) \(event.timeNanoseconds)")
            }
            if let proximity = result.value(of: .proximity) { entries.append("\(proximity) \(result.timeNanoseconds)") }
        }
        func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error) {
            entries.append("failed \(error)")
        }
        func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) { entries.append(reason) }
    }

    @Test func lightIsToldFirstAndThenWhenItHasChanged() {
        let diary = Diary()
        let detector = AmbientLightDetector()
        detector.delegate = diary
        detector.process(level: 5, unit: .lux, at: 0)
        detector.startDetection()
        let levels = [100, 109, 110.5, 100, 99.4, .nan, -1, 3, 3.9, 2, 0, 0.9, 1]
        for (time, level) in levels.enumerated() { detector.process(level: level, unit: .lux, at: Int64(time)) }
        detector.process(level: 1, unit: .percent, at: 20)
        #expect(
            diary.entries == [
                "100.0 lux 0", "110.5 lux 2", "99.4 lux 4", "3.0 lux 7", "2.0 lux 9", "0.0 lux 10", "1.0 lux 12",
                "1.0 percent 20",
            ])
    }

    @Test func aFailureIsToldOnceAndTheNextReadingAlways() {
        let diary = Diary()
        let detector = AmbientLightDetector()
        detector.delegate = diary
        detector.startDetection()
        let pipeline = Pipeline(source: ScriptedSource(streams: [], steps: []), detectors: [detector])
        for time in 0..<2 {
            detector.process(level: 100, unit: .lux, at: Int64(time))
            #expect(pipeline.isWorking(detector))
            for _ in 0..<3 { detector.didFail(because: TestError()) }
            #expect(!pipeline.isWorking(detector))
        }
        #expect(
            diary.entries == ["100.0 lux 0", "failed the cable is out", "100.0 lux 1", "failed the cable is out"])
    }

    @Test func whatIsNearHasAHysteresis() {
        let diary = Diary()
        let detector = ProximityDetector()
        detector.delegate = diary
        detector.startDetection()
        for (time, strength) in [1.0, 1.05, 1.11, 0.95, 0.9, 0.89, 1.1, .nan, 2].enumerated() {
            detector.process(strength: strength, at: Int64(time))
        }
        #expect(diary.entries == ["far 0", "near 2", "far 5", "near 8"])
        #expect(detector.proximity == .near)
        detector.didFail(because: TestError())
        detector.process(strength: 2, at: 9)
        #expect(diary.entries.suffix(2) == ["failed the cable is out", "near 9"])
    }

    @Test func readingsBecomeEventsWithTheirUnits() throws {
        let router = Router()
        let events = EventCollector()
        router.add(events)
        let light = AmbientLightDetector(name: "room")
        let proximity = ProximityDetector(name: "ear")
        light.delegate = router
        proximity.delegate = router
        light.startDetection()
        proximity.startDetection()
        light.process(level: 12.34, unit: .lux, at: 5)
        light.process(level: 50, unit: .percent, at: 6)
        proximity.process(strength: 2, at: 7)
        light.didFail(because: TestError())
        router.flush(upTo: nil)
        #expect(
            // A failure belongs to no reading; without sensors its time is 0.
            events.events.map(\.json) == [
                #"{"seq":1,"kind":"detector.failed","detector":"room","sensor":null,"time_ns":0,"reason":"the cable is out"}"#,
                #"{"seq":2,"kind":"light.changed","detector":"room","sensor":"room","time_ns":5,"illuminance_lux":12.3}"#,
                #"{"seq":3,"kind":"light.changed","detector":"room","sensor":"room","time_ns":6,"brightness_percent":50.0}"#,
                #"{"seq":4,"kind":"proximity.changed","detector":"ear","sensor":"ear","time_ns":7,"proximity":"near"}"#,
            ])
    }
}
