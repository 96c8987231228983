import BenchSupport
import Binnacle
import Glibc
import LinuxSensors

/// Measures the way from a device to a delegate, on a device that is a FIFO: what the kernel's own devices add is not
/// in these figures, and what the reader adds is all there is.
@main
enum SensorBench {
    static func main() {
        guard CommandLine.arguments.count > 1 else {
            say("usage: SensorBench BINNACLE [SECONDS]")
            exit(64)
        }
        let binary = CommandLine.arguments[1]
        let seconds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 60 : 60
        latency()
        start(binary)
        slow(binary, seconds: min(seconds, 20))
        fast(binary, seconds: seconds)
        idle(binary)
    }

    // MARK: - Latency

    /// From the last byte of a scan written to the delegate's call, beside a bare blocking read of the same FIFO.
    private static func latency() {
        let count = 2000
        for round in 1...3 {
            let bare = bareLatencies(count)
            let listener = DelegateLatency(count)
            let delegate = listener.measure()
            say(
                "latency, round \(round): delegate p50 \(us(delegate, 0.5)) µs, p99 \(us(delegate, 0.99)) µs; bare read p50 "
                    + "\(us(bare, 0.5)) µs, p99 \(us(bare, 0.99)) µs; ratio of the medians "
                    + ratio(percentile(delegate, 0.5), percentile(bare, 0.5)))
        }
    }

    private static func bareLatencies(_ count: Int) -> [Int64] {
        let tree = BenchTree()
        defer { tree.remove() }
        let writer = startWriter(tree, count)
        defer { writer.wait() }
        var latencies: [Int64] = []
        var scan = (Int16(0), Int16(0), Int16(0), Int16(0), Int64(0))
        while latencies.count < count, read(tree.node, &scan, 16) == 16 { latencies.append(monotonic() - scan.4) }
        return latencies
    }

    /// Writes scans a few milliseconds apart, every other one a shock, on a thread that has to be waited for.
    static func startWriter(_ tree: BenchTree, _ count: Int) -> Feeder {
        let node = tree.node
        return Feeder {
            for number in 0..<count {
                sleepUntil(monotonic() + 1_000_000 + Int64(number % 7) * 200_000)
                var scan = (Int16(0), Int16(0), Int16(number % 2 == 0 ? 981 : 5000), Int16(0), monotonic())
                _ = write(node, &scan, 16)
            }
        }
    }

    // MARK: - The whole process

    private static func start(_ binary: String) {
        var times: [Int64] = []
        for _ in 0..<20 {
            let tree = BenchTree()
            tree.writeScan(x: 0, z: 981)
            let begin = monotonic()
            let program = record(binary, tree)
            while tree.unreadCount > 0 { sleepUntil(monotonic() + 50_000) }
            times.append(monotonic() - begin)
            _ = program.end()
            tree.remove()
        }
        say("exec to the first scan read: median \(us(times, 0.5)) µs, p95 \(us(times, 0.95)) µs")
    }

    /// At 100 Hz waking up is most of the work: beside it what cat(1) needs, which reads and does nothing else.
    private static func slow(_ binary: String, seconds: Int) {
        let bare = BenchTree()
        let cat = Program(["/bin/cat", bare.root + "/dev/iio:device0"], output: "/dev/null")
        sleepUntil(monotonic() + 300_000_000)
        let bareCount = feed(bare, rate: 100, seconds: seconds)
        let bareEach = cat.end().seconds / Double(bareCount) * 1e6
        bare.remove()
        let tree = BenchTree()
        defer { tree.remove() }
        let idle = record(binary, tree)
        sleepUntil(monotonic() + 300_000_000)
        let base = idle.end().seconds
        let program = record(binary, tree)
        let count = feed(tree, rate: 100, seconds: seconds)
        let usage = program.end()
        let each = (usage.seconds - base) / Double(count) * 1e6
        say(
            "100 Hz with the default latency, recorded: \(decimal(each, 1)) µs of processor a sample (\(count) samples); cat of "
                + "the same device \(decimal(bareEach, 1)) µs; ratio \(decimal(each / bareEach, 2))")
    }

    private static func fast(_ binary: String, seconds: Int) {
        let tree = BenchTree()
        defer { tree.remove() }
        let program = record(binary, tree)
        let begin = monotonic()
        let count = feed(tree, rate: 10_000, seconds: seconds)
        while tree.unreadCount > 0 { sleepUntil(monotonic() + 1_000_000) }
        let elapsed = Double(monotonic() - begin) * 1e-9
        let usage = program.end()
        let lines = countLines(tree.root + "/trace.csv") - 1
        say(
            "10,000 Hz for \(seconds) s, recorded: \(count) written, \(lines) recorded, \(count - lines) lost; "
                + "\(decimal(usage.seconds / elapsed * 100, 1)) % of one core; "
                + "\(decimal(usage.seconds / Double(count) * 1e6, 2)) µs a sample; largest resident memory "
                + "\(usage.residentKilobytes) kB")
    }

    private static func idle(_ binary: String) {
        let tree = BenchTree()
        defer { tree.remove() }
        let program = record(binary, tree)
        feed(tree, rate: 100, seconds: 1)
        say(
            "resident while reading one sensor: \(program.figure("VmRSS")) kB, of it its own (RssAnon) "
                + "\(program.figure("RssAnon")) kB; \(program.figure("Threads")) threads")
        _ = program.end()
        // A configuration whose device is not there: nothing is asked of any device.
        let configuration = tree.put(
            "absent.toml",
            """
            [sensor.a]
            source = "iio"
            match = { name = "absent" }
            [motion.m]
            accelerometer = "a"
            """)
        let waiting = Program([
            binary, "record", "--config", configuration, "--root", tree.root, "--force", "-o", tree.root + "/none.csv",
        ])
        sleepUntil(monotonic() + 2_000_000_000)
        let before = waiting.figure("voluntary_ctxt_switches")
        sleepUntil(monotonic() + 10_000_000_000)
        let after = waiting.figure("voluntary_ctxt_switches")
        say(
            "nothing asked for: \(after - before) wake-ups in 10 s; resident \(waiting.figure("VmRSS")) kB, of it its own "
                + "\(waiting.figure("RssAnon")) kB")
        _ = waiting.end()
    }

    private static func record(_ binary: String, _ tree: BenchTree) -> Program {
        Program([binary, "record", "--root", tree.root, "--force", "-o", tree.root + "/trace.csv"])
    }

    /// Writes scans at a rate, each at its own time.
    @discardableResult
    private static func feed(_ tree: BenchTree, rate: Int, seconds: Int) -> Int {
        let begin = monotonic()
        let count = rate * seconds
        for number in 0..<count {
            let due = begin + Int64(number) * 1_000_000_000 / Int64(rate)
            if due > monotonic() { sleepUntil(due) }
            tree.writeScan(x: Int16(number % 100), z: 981)
        }
        return count
    }

    private static func countLines(_ path: String) -> Int {
        guard let file = fopen(path, "r") else { fail(path) }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var lines = 0
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return lines }
            for byte in buffer[..<count] where byte == 10 { lines += 1 }
        }
    }
}

/// The way through source, pipeline and detector to a delegate.
private final class DelegateLatency: MotionManagerDelegate {
    private let count: Int
    private var latencies: [Int64] = []

    init(_ count: Int) {
        self.count = count
    }

    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        latencies.append(monotonic() - event.timeNanoseconds)
    }

    func measure() -> [Int64] {
        let tree = BenchTree()
        defer { tree.remove() }
        let sensor = Sensor(name: "accel_3d")
        var atOnce = SensorSettings()
        atOnce.latency = .zero
        let request = SensorRequest(sensor: sensor, kinds: [.accelerometer], interface: .iio, settings: atOnce)
        let source: LiveSource
        do {
            source = try LiveSource([request], root: tree.root)
        } catch {
            fail("\(error)")
        }
        var settings = MotionSettings()
        settings.features = [.shock]
        settings.shockWindow = .zero
        settings.shockRefractory = .microseconds(1)
        let manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer), settings: settings)
        manager.delegate = self
        manager.startDetection()
        let pipeline = Pipeline(source: source, detectors: [manager])
        while !source.isSettled {
            _ = pipeline.turn()
            source.wait(timeoutMilliseconds: 10)
        }
        let writer = SensorBench.startWriter(tree, count * 2)
        defer { writer.wait() }
        while latencies.count < count {
            if case .pending = pipeline.turn() { source.wait(timeoutMilliseconds: 1000) }
        }
        return latencies
    }
}
