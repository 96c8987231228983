import BenchSupport
import Glibc

/// What is resident as libraries come in: sensors alone, then store and socket, then MQTT to a broker on this machine.
struct MemoryMeasurement {
    let binary: String

    private static let broker = "/usr/sbin/mosquitto"

    func run() {
        measure("sensors alone") { _ in "" }
        measure("with store and socket", Self.storeAndSocket)
        guard access(Self.broker, X_OK) == 0 else {
            say("resident with store, socket and MQTT: not measured, there is no \(Self.broker)")
            return
        }
        let broker = Program([Self.broker, "-p", "18883"])
        sleepUntil(monotonic() + 500_000_000)
        measure("with store, socket and MQTT") { tree in
            Self.storeAndSocket(tree) + "[handler.fleet]\non = [\"shock\"]\nmqtt = \"mqtt://localhost:18883\"\n"
        }
        _ = broker.end()
    }

    private static func storeAndSocket(_ tree: BenchTree) -> String {
        "[store]\npath = \"\(tree.root)/events.db\"\n[socket]\npath = \"\(tree.root)/socket\"\n"
    }

    private func measure(_ name: String, _ further: (BenchTree) -> String) {
        let daemon = Daemon(binary, errors: "log") { tree in
            tree.put("log", "")
            return Daemon.sensors + "[handler.note]\non = [\"shock\"]\nlog = true\n" + further(tree)
        }
        daemon.feed(hertz: 100, seconds: 2)
        for _ in 0..<100 {
            daemon.tree.writeScan(x: 0, z: 9000)
            sleepUntil(monotonic() + 10_000_000)
        }
        daemon.feed(hertz: 100, seconds: 2)
        let memory = ["VmRSS", "RssAnon", "RssFile"].map(daemon.program.figure)
        let threads = daemon.program.figure("Threads")
        daemon.end()
        say(
            "resident \(name): \(memory[0]) kB, of it its own (RssAnon) \(memory[1]) kB, of files \(memory[2]) kB; "
                + "\(threads) threads; ready after \(decimal(Double(daemon.startNanoseconds) * 1e-6, 2)) ms")
    }
}
