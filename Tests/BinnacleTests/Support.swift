import Binnacle

/// A source that gives what it was given: the fake for every test that needs samples.
final class ListSource: SampleSource {
    let streams: [SampleStream]
    private(set) var askedCount = 0
    private var samples: [(stream: Int, sample: Sample)]
    private var ends: [Int: Int64] = [:]
    private var failures: [Int: ([SampleStream], any Error)] = [:]

    /// Samples in their order of arrival, each with the index of its stream.
    init(streams: [SampleStream], samples: [(stream: Int, sample: Sample)]) {
        self.streams = streams
        self.samples = samples
    }

    /// Fails streams instead of answering the n-th question, counted from 1, and forgets their samples for so long.
    func fail(
        _ streams: [SampleStream], atQuestion question: Int, until end: Int64 = .max,
        with error: any Error = TestError()
    ) {
        failures[question] = (streams, error)
        ends[question] = end
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        askedCount += 1
        if let (streams, reason) = failures[askedCount], let end = ends[askedCount] {
            let failed = streams.compactMap { stream in self.streams.firstIndex { $0.id == stream.id } }
            samples.removeAll { failed.contains($0.stream) && $0.sample.timeNanoseconds < end }
            return .failed(streams, reason: reason)
        }
        guard !samples.isEmpty else { return .ended }
        var taken = 0
        var last = (time: Int64.min, stream: -1)
        for (stream, sample) in samples {
            guard !delivery.batches[stream].isFull, (sample.timeNanoseconds, stream) >= last else { break }
            delivery.batches[stream].append(sample)
            last = (sample.timeNanoseconds, stream)
            taken += 1
        }
        samples.removeFirst(taken)
        return .samples
    }
}

struct TestError: Error, CustomStringConvertible {
    var description = "the cable is out"
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
    let source: ListSource
    let manager: MotionManager

    init(_ samples: [Sample], settings: MotionSettings = MotionSettings()) {
        let stream = SampleStream(sensor: sensor, kind: .accelerometer)
        source = ListSource(streams: [stream], samples: samples.map { (0, $0) })
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
