import Binnacle
import Glibc
import LinuxSensors
import LinuxSystem
import Traces
import VirtualDevices

/// The two methods of motion detection.
package enum DetectionForm: String, CaseIterable {
    /// The squared acceleration outside a band around 1 g, without a filter.
    case threshold
    /// Gravity is filtered out first, which is the default.
    case gravity

    /// Settings that enable all features; every shock counts, because samples may be microseconds apart.
    var settings: MotionSettings {
        var settings = MotionSettings()
        settings.shockRefractory = .zero
        settings.shockWindow = .zero
        if self == .threshold {
            settings.measure = .magnitude
            settings.features = [.motion, .freeFall, .shock]
        }
        return settings
    }
}

final class EventCounter: MotionManagerDelegate {
    private(set) var count = 0

    func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) { count += 1 }
}

// MARK: - Live

/// Reads live samples like the daemon, from a FIFO in place of a device, and detects motion.
private final class LiveRun {
    let form: DetectionForm
    let tree: FifoTree
    let events = EventCounter()
    private let node: FifoNode?
    private let source: LiveSource
    private let pipeline: Pipeline
    private let manager: MotionManager
    private var time = SystemClock.monotonic()

    init(_ form: DetectionForm) throws(SystemError) {
        self.form = form
        tree = try FifoTree()
        node = try tree.addDevice(0, name: "accel_3d")
        // The path of a sample is measured, without the time for which samples collect.
        var atOnce = SensorSettings()
        atOnce.latency = .zero
        let request = SensorRequest(
            sensor: Sensor(name: "accel_3d"), kinds: [.accelerometer], interface: .iio, settings: atOnce)
        source = try LiveSource([request], finder: DeviceFinder(under: tree.root), waker: try Waker())
        manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer), settings: form.settings)
        pipeline = Pipeline(source: source, detectors: [manager])
        manager.delegate = events
        manager.startDetection()
        let deadline = SystemClock.monotonic() + 10_000_000_000
        while !source.isSettled {
            guard SystemClock.monotonic() < deadline else {
                throw SystemError(code: ETIMEDOUT, call: "open", path: tree.root)
            }
            readBatch(timeoutMilliseconds: 10)
        }
    }

    /// Writes scans 2 µs apart, of which every second one is a shock if `blows` is set.
    func write(_ batch: Int, blows: Bool = false) {
        var bytes: [UInt8] = []
        for number in 0..<batch {
            time += 2000
            bytes += FifoNode.scan(3, -2, blows && number.isMultiple(of: 2) ? 4000 : 981, time)
        }
        try? node?.write(bytes)
    }

    /// One turn of the daemon's loop: waits, and reads until nothing is left.
    func readBatch(timeoutMilliseconds: Int32 = 1000) {
        source.wait(timeoutMilliseconds: timeoutMilliseconds)
        while case .samples = pipeline.turn() {}
    }
}

extension Bench {
    /// Measures live samples in batches, and a plain read of a FIFO for comparison.
    func measureLive() throws(BenchError) {
        let (runs, bare) = try mapError(BenchError.init) { () throws(SystemError) in
            let runs = try DetectionForm.allCases.map { form throws(SystemError) in try LiveRun(form) }
            return (runs, try FifoNode(path: runs[0].tree.root + "/bare"))
        }
        var rows: [FigureRow] = []
        var parts: [FigureRow] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        for batch in [1, 16, 128] {
            let scans = [UInt8](repeating: 0, count: 16 * batch)
            let alone = Variant("read", preparing: { try? bare.write(scans) }) {
                _ = read(bare.raw, &bytes, bytes.count)
            }
            let live = runs.map { run in
                Variant(run.form.rawValue, preparing: { run.write(batch) }, run: { run.readBatch() })
            }
            let deliveries = try times([alone] + live, passNanoseconds: 20_000_000)
            parts += try liveParts(batch, read: deliveries[0].median, whole: deliveries[1].median)
            let times = deliveries.map { $0.scaled(by: 1 / Double(batch)) }
            for (variant, time) in zip([alone] + live, times) {
                var row = FigureRow(type: "live")
                row.add("batch", count: batch, head: "batch")
                row.add("form", variant.label, head: "form")
                row.add("times_bare_read", number: time.median / times[0].median, decimals: 2, head: "× read")
                row.add("ns_per_sample", nanoseconds: time)
                rows.append(row)
            }
        }
        write("live: from a FIFO through epoll, read, decode and detection to the delegate; 16 bytes a sample", rows)
        write("live, threshold: its parts by themselves; the rest is the loop, the clocks and the statistics", parts)
        write("live: events in 1000 batches of 16, in which every other sample is a blow", runs.map(tally))
    }

    private func tally(_ run: LiveRun) -> FigureRow {
        let before = run.events.count
        for _ in 0..<1000 {
            run.write(16, blows: true)
            run.readBatch()
        }
        var row = FigureRow(type: "live_count")
        row.add("form", run.form.rawValue, head: "form")
        row.add("events", count: run.events.count - before, head: "events")
        return row
    }
}

// MARK: - Recordings

/// Plays a recording from the opening of its file to its last event, like a replay, with this number of processors.
package func playRecording(
    _ path: String, _ form: DetectionForm, processorCount: Int = 1
) throws(BenchError) -> (samples: Int, events: Int) {
    let source = try mapError(BenchError.init) { () throws(TraceError) in
        try TraceSource(paths: [path], processorCount: processorCount)
    }
    let manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer), settings: form.settings)
    let events = EventCounter()
    manager.delegate = events
    manager.startDetection()
    // The sizes of a replay's deliveries.
    let pipeline = Pipeline(source: source, detectors: [manager], capacity: source.isMapped ? 65_536 : 4096)
    var failure: String?
    pipeline.run(afterTurn: { if case .failed(_, let reason) = $0 { failure = "\(reason)" } })
    if let failure { throw .unavailable(failure) }
    return (pipeline.sampleCount, events.count)
}

extension Bench {
    /// Measures synthetic recordings in each format, from the opening of the file to the last event.
    func measureTraces() throws(BenchError) {
        let folder = try mapError(BenchError.init) { () throws(SystemError) in
            try ScratchFolder(prefix: "binnacle-bench")
        }
        defer { withExtendedLifetime(folder) {} }
        let rowCount = options.isQuick ? 1_000_000 : 5_000_000
        var rows: [FigureRow] = []
        for format in ["csv", "arrows"] {
            let path = "\(folder.path)/trace.\(format)"
            try mapError(BenchError.init) { () throws(TraceError) in try record(rowCount, to: path) }
            if isCancelled() { throw .cancelled }
            var status = stat()
            stat(path, &status)
            for form in DetectionForm.allCases {
                let outcome = try playRecording(path, form)
                let time = try times([Variant("play") { _ = try? playRecording(path, form) }])[0]
                var row = FigureRow(type: "trace")
                row.add("format", format, head: "format")
                row.add("form", form.rawValue, head: "form")
                row.add("rows", count: outcome.samples, head: "rows")
                row.add("events", count: outcome.events, head: "events")
                row.add("mb_per_s", number: Double(status.st_size) / time.median * 1e3, head: "MB/s")
                row.add("ns_per_row", nanoseconds: time.scaled(by: 1 / Double(rowCount)))
                rows.append(row)
            }
        }
        write("traces: from the opening of the file, which is in memory, to the last event", rows)
    }

    /// Writes a recording at 100 Hz of a device at rest that is pushed for a second every hour.
    private func record(_ rowCount: Int, to path: String) throws(TraceError) {
        let stream = SampleStream(sensor: Sensor(name: "accel_3d"), kind: .accelerometer)
        let writer = try TraceWriter(path: path, streams: [stream])
        let delivery = SampleDelivery(streams: [stream], capacity: 4096)
        var numbers = SeededNumbers(seed: 1)
        // Quantised like a device's readings.
        func step(_ value: Float) -> Float { (value * 10_000).rounded() / 10_000 }
        for row in 0..<rowCount {
            let isPushed = row % 360_000 >= 359_900
            delivery.batches[0].append(
                timeNanoseconds: Int64(row) * 10_000_000,
                x: step(numbers.signed() * 0.05 + (isPushed ? Float(row % 20) * 0.2 : 0)),
                y: step(numbers.signed() * 0.05), z: step(9.81 + numbers.signed() * 0.05))
            guard delivery.batches[0].isFull || row == rowCount - 1 else { continue }
            if isCancelled() { return }
            try writer.write(delivery)
            delivery.removeAll()
        }
        try writer.flush()
    }
}

extension BenchError {
    init(_ error: some CustomStringConvertible) {
        self = .unavailable(error.description)
    }
}
