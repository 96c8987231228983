import BenchSupport
import VirtualDevices

/// What the daemon costs while its sensors deliver and nothing happens.
struct IdleMeasurement {
    let binary: String
    let seconds: Int

    func run() {
        let bare = bareShare()
        let daemon = Daemon(binary, errors: "log") { tree in
            tree.put("log", "")
            return Daemon.sensors + """
                [handler.note]
                on = ["motion.began", "motion.ended", "shake", "shock", "north.left", "sensor.inactive", "samples.lost"]
                log = true
                [handler.alarm]
                on = ["shock"]
                command = ["/bin/true"]

                """
        }
        // The first samples bring the first heading, and the detectors to rest.
        daemon.feed(hertz: 100, seconds: 3)
        let (share, rate) = daemon.cost { daemon.feed(hertz: 100, seconds: seconds) }
        // The rates that it sees settle.
        daemon.feedAsAsked(seconds: 3)
        let asked = daemon.cost { daemon.feedAsAsked(seconds: seconds) }
        let rates = daemon.tree.devices.indices.map { decimal(daemon.tree.rateHz(of: $0), 0) + " Hz" }
        let memory = ["VmRSS", "RssAnon", "RssFile"].map(daemon.program.figure)
        let threads = daemon.program.figure("Threads")
        daemon.end()
        say(
            "idle, two sensors at 100 Hz for \(seconds) s: \(decimal(share, 2)) % of one core, \(decimal(rate, 1)) wake-ups "
                + "a second; cat of the same two devices \(decimal(bare, 2)) %; ratio \(decimal(share / bare, 2))")
        say(
            "the same at the rates that the daemon asks of them, \(rates.joined(separator: " and ")): \(decimal(asked.share, 2)) % of one core, "
                + "\(decimal(asked.rate, 1)) wake-ups a second")
        say(
            "resident meanwhile: \(memory[0]) kB, of it its own (RssAnon) \(memory[1]) kB, of files \(memory[2]) kB; "
                + "\(threads) threads")
    }

    /// What two cats need that read the same devices and do nothing else, in percent of one core.
    private func bareShare() -> Double {
        let tree = BenchTree(["in_accel", "in_magn"])
        defer { tree.remove() }
        let cats = tree.devices.map { Program(["/bin/cat", $0.path], output: "/dev/null") }
        sleepUntil(monotonic() + 300_000_000)
        let time = cats.map(\.processorNanoseconds).reduce(0, +)
        let begin = monotonic()
        for number in 0..<(100 * seconds) {
            for (half, device) in tree.devices.enumerated() {
                sleepUntil(begin + Int64(number) * 10_000_000 + Int64(half) * 5_000_000)
                device.writeScan(x: 0, y: 0, z: 981)
            }
        }
        let share = Double(cats.map(\.processorNanoseconds).reduce(0, +) - time) / Double(monotonic() - begin) * 100
        for cat in cats { _ = cat.end() }
        return share
    }
}
