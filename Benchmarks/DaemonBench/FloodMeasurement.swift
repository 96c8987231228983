import BenchSupport
import Glibc
import LinuxSystem
import VirtualDevices

/// More events than anybody wants: every sample is one.
struct FloodMeasurement {
    let binary: String
    let seconds: Int

    private static let hertz = 20_000
    private static let configuration = """
        [sensor.chassis]
        source = "iio"
        match = { name = "accel_3d" }
        [motion.moved]
        accelerometer = "chassis"
        detect = ["motion"]
        measure = "magnitude"
        min_duration_s = 0
        quiet_s = 3600
        update_interval_s = 0.000000001
        [handler.out]
        on = ["motion.moving"]
        stdout = true
        [handler.note]
        on = ["events.dropped", "samples.lost", "gap"]
        log = true

        """

    func run() {
        measure("into /dev/null", output: nil)
        measure("into a handler that hangs", output: "stuck")
    }

    private func measure(_ name: String, output: String?) {
        var stuck: Int32 = -1
        let daemon = Daemon(binary, output: output, errors: "log") { tree in
            tree.put("log", "")
            // The FIFO has no reader.
            if let output { stuck = tree.makeFIFO(output).descriptor }
            return Self.configuration
        }
        let log = daemon.tree.root + "/log"
        let begin = monotonic()
        let count = feed(daemon.tree.devices[0])
        while daemon.tree.unreadCount > 0 { sleepUntil(monotonic() + 1_000_000) }
        let elapsed = Double(monotonic() - begin)
        let share = Double(daemon.program.processorNanoseconds) / elapsed * 100
        _ = daemon.program.end()
        let (dropped, isDamaged) = losses(log)
        if stuck >= 0 { close(stuck) }
        daemon.tree.remove()
        say(
            "flood of \(Self.hertz) events a second for \(seconds) s \(name): \(decimal(share, 1)) % of one core; "
                + "\(dropped) of \(count) events dropped and told\(isDamaged ? "; SAMPLES WERE LOST" : "")")
    }

    /// Writes scans twenty at a time, as a device with a watermark does.
    private func feed(_ device: FifoNode) -> Int {
        let begin = monotonic()
        let turns = Self.hertz * seconds / 20
        for turn in 0..<turns {
            let due = begin + Int64(turn) * 1_000_000
            sleepUntil(due)
            device.writeScans(20, z: 1500, last: due, intervalNanoseconds: 50_000)
        }
        return turns * 20
    }

    /// What the log says of dropped events, and whether it says anything else.
    private func losses(_ path: String) -> (dropped: Int, isDamaged: Bool) {
        guard let bytes = try? SmallFile.bytes(path, limit: 1 << 30, kind: .regular) else { fail(path) }
        var result = (dropped: 0, isDamaged: false)
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.contains("samples.lost") || words.contains("gap") { result.isDamaged = true }
            guard words.contains("events.dropped"), let place = words.firstIndex(of: "count") else { continue }
            result.dropped += Int(words[place + 1]) ?? 0
        }
        return result
    }
}
