import Binnacle
import BinnacleTesting

struct TestError: Error, Equatable, CustomStringConvertible {
    var description = "the cable is out"
}

extension ScriptedSource {
    /// Fails streams at a request because the cable is out.
    func fail(_ streams: [SampleStream], atRequest request: Int, until end: Int64 = .max) {
        fail(streams, atRequest: request, until: end, with: TestError())
    }
}

extension EventCollector {
    /// The events' times in seconds.
    var seconds: [Double] { events.map { Double($0.timeNanoseconds / millisecond) / 1000 } }
}

/// Rest, flat on a table.
func rest(_ timeNanoseconds: Int64) -> Sample {
    Sample(timeNanoseconds: timeNanoseconds, x: 0, y: 0, z: Units.standardGravity)
}

let millisecond: Int64 = 1_000_000
let second: Int64 = 1_000_000_000

/// Accelerometer samples at 100 Hz; `push` gives the extra acceleration along x, in g, at a time in seconds.
func recording(seconds: Double, push: (Double) -> Float) -> [Sample] {
    (0..<Int(seconds * 100)).map { i in
        var sample = rest(Int64(i) * 10 * millisecond)
        sample.x = push(Double(i) / 100) * Units.standardGravity
        return sample
    }
}

/// One accelerometer alone, as most tests want it.
struct Bench {
    let sensor = Sensor(name: "chassis")
    let source: ScriptedSource
    let manager: MotionManager

    init(_ samples: [Sample], settings: MotionSettings = MotionSettings()) {
        let stream = SampleStream(sensor: sensor, kind: .accelerometer)
        source = ScriptedSource(streams: [stream], samples: samples.map { (0, $0) })
        manager = MotionManager(accelerometer: stream, settings: settings)
    }

    func run(capacity: Int = 4096) {
        manager.startDetection()
        Pipeline(source: source, detectors: [manager], capacity: capacity).run()
    }
}

/// Writes down each call as `method time`, and answers questions from a closure.
final class MotionDiary: MotionManagerDelegate {
    private(set) var entries: [String] = []
    private(set) var events: [MotionEvent] = []
    private(set) var senders: [MotionManager] = []
    var answer: (MotionEvent) -> Bool = { _ in true }
    var onEntry: (MotionManager) -> Void = { _ in }

    private func note(_ manager: MotionManager, _ name: String, _ time: Int64?, _ event: MotionEvent? = nil) {
        entries.append(time.map { "\(name) \($0 / millisecond)" } ?? name)
        senders.append(manager)
        if let event { events.append(event) }
        onEntry(manager)
    }

    func motionManagerWillStartDetection(_ manager: MotionManager) { note(manager, "willStart", nil) }
    func motionManagerDidStopDetection(_ manager: MotionManager) { note(manager, "didStop", nil) }
    func motionManagerDeviceNotAvailable(_ manager: MotionManager) { note(manager, "notAvailable", nil) }
    func motionManager(_ manager: MotionManager, didFailWithError error: any Error) { note(manager, "fail", nil) }
    func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool {
        entries.append("should \(event.timeNanoseconds / millisecond)")
        return answer(event)
    }
    func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        note(manager, "began", event.timeNanoseconds, event)
    }
    func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        note(manager, "moving", sample.timeNanoseconds)
    }
    func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        note(manager, "ended", event.timeNanoseconds, event)
    }
    func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        note(manager, "shake", event.timeNanoseconds, event)
    }
    func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        note(manager, "freeFall", event.timeNanoseconds, event)
    }
    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        note(manager, "shock", event.timeNanoseconds, event)
    }

    func without(_ names: String...) -> [String] {
        entries.filter { entry in !names.contains { entry.hasPrefix($0) } }
    }
}
