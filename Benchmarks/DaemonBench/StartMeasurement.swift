import BenchSupport

/// From exec until the daemon says that it is ready: its configuration is read, and its devices are open.
struct StartMeasurement {
    let binary: String

    func run() {
        let times = (0..<50).map { _ in
            let daemon = Daemon(binary) { _ in
                Daemon.sensors + "[handler.note]\non = [\"motion.began\"]\nlog = true\n"
            }
            daemon.end()
            return daemon.startNanoseconds
        }
        say("exec to READY=1: median \(ms(times, 0.5)) ms, p95 \(ms(times, 0.95)) ms (\(times.count) runs)")
    }
}
