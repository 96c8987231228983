import BenchSupport
import Binnacle
import EventSocket
import Glibc
import PlainText

/// What store and socket add: from a sample to a subscriber, and how many events a second the store takes.
struct EventMeasurement {
    let binary: String
    let seconds: Int

    /// Every other scan that is written here is a shock.
    private static func configuration(_ tree: BenchTree, synchronous: String) -> String {
        """
        [store]
        path = "\(tree.root)/events.db"
        synchronous = "\(synchronous)"
        keep_mb = 10000
        keep_events = 100000000
        [socket]
        path = "\(tree.root)/socket"
        [sensor.chassis]
        source = "iio"
        match = { name = "accel_3d" }
        latency_s = 0
        [motion.moved]
        accelerometer = "chassis"
        detect = ["shock"]
        shock_window_s = 0
        shock_refractory_s = 0.000001
        [handler.note]
        on = ["events.dropped", "samples.lost", "gap", "store.failed"]
        log = true

        """
    }

    func run() {
        for synchronous in ["normal", "full"] { latency(synchronous) }
        for hertz in [20_000, 40_000, 80_000] { flood(hertz) }
    }

    private func start(_ synchronous: String) -> Daemon {
        Daemon(binary, errors: "log") { tree in
            tree.put("log", "")
            return Self.configuration(tree, synchronous: synchronous)
        }
    }

    /// A thousand events a second, each appended and then handed to a subscriber.
    private func latency(_ synchronous: String) {
        let daemon = start(synchronous)
        let count = 1000 * min(seconds, 20)
        let device = daemon.tree.devices[0]
        let connection = connect(daemon)
        let feeder = Feeder {
            let begin = monotonic() + 50_000_000
            for number in 0..<count {
                sleepUntil(begin + Int64(number) * 1_000_000)
                device.writeScan(x: 0, y: 0, z: 981)
                device.writeScan(x: 0, y: 0, z: 9000)
            }
        }
        var times: [Int64] = []
        while times.count < count {
            guard let line = readLine(connection) else { break }
            let now = monotonic()
            guard let event = try? Event(json: line), event.kind == .shock else { continue }
            times.append(now - event.timeNanoseconds)
        }
        feeder.wait()
        let log = contents(daemon.tree.root + "/log")
        daemon.end()
        say(
            "sample to a subscriber, appended before, 1,000 events a second, synchronous \(synchronous): p50 "
                + "\(ms(times, 0.5)) ms, p99 \(ms(times, 0.99)) ms, largest \(ms(times, 1)) ms; \(times.count) of \(count) "
                + "events\(log)")
    }

    /// Scans forty at a time, as a device with a watermark delivers them, every other one an event for the store.
    private func flood(_ hertz: Int) {
        let daemon = start("normal")
        let device = daemon.tree.devices[0]
        let begin = monotonic()
        let turns = hertz * min(seconds, 30) / 20
        for turn in 0..<turns {
            let due = begin + Int64(turn) * 20_000_000_000 / Int64(hertz)
            sleepUntil(due)
            device.writeScans(40, z: 9000, other: 981, last: due, intervalNanoseconds: 500_000_000 / Int64(hertz))
        }
        while daemon.tree.unreadCount > 0 { sleepUntil(monotonic() + 1_000_000) }
        let fed = monotonic() - begin
        let share = Double(daemon.program.processorNanoseconds) / Double(fed) * 100
        let status = settledStatus(daemon)
        let stored = status["store"]?["events"]?.integer ?? -1
        let dropped = status["store"]?["dropped"]?.integer ?? -1
        let bytes = status["store"]?["bytes"]?.integer ?? -1
        let elapsed = Double(monotonic() - begin) * 1e-9
        let memory = daemon.program.figure("VmRSS")
        let log = contents(daemon.tree.root + "/log")
        daemon.end()
        say(
            "\(hertz) events a second for \(min(seconds, 30)) s into the store: \(stored) of \(turns * 20) stored, \(dropped) "
                + "dropped, within \(decimal(elapsed, 1)) s; \(decimal(share, 1)) % of one core; "
                + "\(bytes / 1_000_000) MB; resident \(memory) kB\(log)")
    }

    /// The status when the store's queue is empty.
    private func settledStatus(_ daemon: Daemon) -> JSONValue {
        while true {
            let connection = connect(daemon, asking: "{\"status\":{}}")
            guard let line = readLine(connection), let answer = try? JSONReader.value(of: line.utf8),
                let status = answer["status"]
            else { fail("asking for the status") }
            if status["store"]?["queued"]?.integer == 0 { return status }
            sleepUntil(monotonic() + 5_000_000)
        }
    }

    private func connect(_ daemon: Daemon, asking request: String = "{\"subscribe\":{}}") -> SocketConnection {
        do throws(EventSubscriptionError) {
            let connection = try SocketConnection(path: daemon.tree.root + "/socket")
            try connection.send(request)
            return connection
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private func readLine(_ connection: SocketConnection) -> String? {
        do throws(EventSubscriptionError) {
            return try connection.readLine(deadline: monotonic() + 10_000_000_000)
        } catch {
            return nil
        }
    }

    /// What the log says, where it says anything: then the figures are not what they seem.
    private func contents(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [CChar](repeating: 0, count: 400)
        guard fread(&bytes, 1, 399, file) > 0 else { return "" }
        return bytes.withUnsafeBufferPointer { $0.baseAddress.map { "; LOG: " + String(cString: $0) } ?? "" }
    }
}
