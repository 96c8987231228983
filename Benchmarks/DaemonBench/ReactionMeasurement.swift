import BenchSupport
import Glibc

/// From the last byte of a scan that begins a shock to what the daemon does about it.
struct ReactionMeasurement {
    let binary: String
    let stamp: String

    private static let count = 200

    func run() {
        command()
        line("a line in the log", "log = true") { Daemon(binary, errors: "lines", configuration: $0) }
        line("a line on standard output", "stdout = true") { Daemon(binary, output: "lines", configuration: $0) }
    }

    /// The command says itself when it began to run.
    private func command() {
        var lines = -1 as Int32
        let daemon = Daemon(binary) { tree in
            let fifo = tree.makeFIFO("lines")
            lines = fifo.descriptor
            return Daemon.promptSensors
                + "[handler.alarm]\non = [\"shock\"]\ncommand = [\"\(stamp)\", \"\(fifo.path)\"]\n"
        }
        var times: [Int64] = []
        shock(daemon) { begin in
            var time: Int64 = 0
            waitToRead(lines)
            guard read(lines, &time, 8) == 8 else { fail("read") }
            times.append(time - begin)
        }
        var bare: [Int64] = []
        for _ in 0..<Self.count {
            sleepUntil(monotonic() + 20_000_000)
            var time: Int64 = 0
            let begin = monotonic()
            let program = Program([stamp, daemon.tree.root + "/lines"])
            waitToRead(lines)
            guard read(lines, &time, 8) == 8 else { fail("read") }
            bare.append(time - begin)
            program.wait()
        }
        close(lines)
        daemon.end()
        say(
            "sample to a command's first line: p50 \(ms(times, 0.5)) ms, p95 \(ms(times, 0.95)) ms; posix_spawn of the same "
                + "program p50 \(ms(bare, 0.5)) ms, p95 \(ms(bare, 0.95)) ms; ratio of the medians "
                + ratio(percentile(times, 0.5), percentile(bare, 0.5)))
    }

    private func line(_ name: String, _ action: String, _ start: ((BenchTree) -> String) -> Daemon) {
        var lines = -1 as Int32
        let daemon = start { tree in
            lines = tree.makeFIFO("lines").descriptor
            return Daemon.promptSensors + "[handler.tell]\non = [\"shock\"]\n\(action)\n"
        }
        // What the daemon says of itself when it starts.
        sleepUntil(monotonic() + 100_000_000)
        drain(lines)
        var times: [Int64] = []
        shock(daemon) { begin in
            waitToRead(lines)
            times.append(monotonic() - begin)
            drain(lines)
        }
        close(lines)
        daemon.end()
        say("sample to \(name): p50 \(us(times, 0.5)) µs, p95 \(us(times, 0.95)) µs")
    }

    /// Hits the device again and again, and rests in between.
    private func shock(_ daemon: Daemon, _ body: (Int64) -> Void) {
        for _ in 0..<Self.count {
            daemon.rest()
            sleepUntil(monotonic() + 10_000_000)
            body(daemon.tree.writeScan(x: 0, z: 9000))
            sleepUntil(monotonic() + 10_000_000)
        }
    }

    private func waitToRead(_ descriptor: Int32) {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 10_000) > 0 else { fail("waiting for what the daemon does") }
    }

    private func drain(_ descriptor: Int32) {
        var count: Int32 = 0
        while ioctl(descriptor, UInt(FIONREAD), &count) == 0, count > 0 {
            var bytes = [UInt8](repeating: 0, count: Int(count))
            _ = read(descriptor, &bytes, bytes.count)
        }
    }
}
