import Foundation
import TestSupport
import Testing

/// `binnacle simulate`, with a terminal's other end in place of the kernel's: this needs no uhid.
@Suite struct SimulateTests {
    /// A pseudo-terminal that passes bytes on as they are.
    ///
    /// It does not keep writes apart, so what a device says is cut by the lengths in it.
    private final class Line {
        let path: String
        private let master: Int32
        /// Kept open, or the settings would go with the last who had it open.
        private let slave: Int32
        private var rest: [UInt8] = []

        init() throws {
            master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, because stdlib.h does not show its own functions for them.
            var lock: Int32 = 0
            var number: Int32 = -1
            try #require(
                master >= 0 && ioctl(master, 0x4004_5431, &lock) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
            path = "/dev/pts/\(number)"
            slave = open(path, O_RDWR | O_NOCTTY)
            var settings = termios()
            try #require(slave >= 0 && tcgetattr(slave, &settings) == 0)
            cfmakeraw(&settings)
            try #require(tcsetattr(slave, TCSANOW, &settings) == 0)
            _ = fcntl(master, F_SETFL, O_NONBLOCK)
        }

        deinit {
            close(master)
            close(slave)
        }

        func say(_ bytes: [UInt8]) { _ = write(master, bytes, bytes.count) }

        /// What the device says next; `nil` when it says nothing for what is an eternity even on a busy machine.
        func next(patience: Int = 6000) -> KernelDouble.Event? {
            for _ in 0..<patience {
                if let length = length(), rest.count >= length {
                    defer { rest.removeFirst(length) }
                    return KernelDouble.event(Array(rest.prefix(length)))
                }
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = read(master, &bytes, bytes.count)
                if count > 0 { rest += bytes.prefix(count) } else { usleep(10_000) }
            }
            return nil
        }

        /// Passes over samples.
        func nextAnswer() -> KernelDouble.Event? {
            while let event = next() {
                guard case .input = event else { return event }
            }
            return nil
        }

        private func length() -> Int? {
            guard rest.count >= 4 else { return nil }
            func size(at offset: Int) -> Int? { rest.count >= offset + 2 ? KernelDouble.number(rest, offset, 2) : nil }
            return switch KernelDouble.number(rest, 0, 4) {
            case 1: 4
            case 11: size(at: 260).map { 280 + $0 }
            case 12: size(at: 4).map { 6 + $0 }
            case 10: size(at: 10).map { 12 + $0 }
            case 14: 10
            default: rest.count
            }
        }
    }

    /// A run of the program, with a pipe to command it.
    private final class Run {
        let process: Child
        let output: TemporaryFile
        let errors: TemporaryFile
        private let commands = Pipe()

        init(_ arguments: [String]) throws {
            output = try TemporaryFile()
            errors = try TemporaryFile()
            process = Binary.process(["simulate"] + arguments)
            process.standardInput = commands.fileHandleForReading
            process.standardOutput = try output.writer()
            process.standardError = try errors.writer()
            try process.run()
        }

        deinit { process.end() }

        func say(_ line: String) { commands.fileHandleForWriting.write(Data((line + "\n").utf8)) }

        func end(_ signal: Int32? = nil) -> Int32 {
            if let signal { kill(process.processIdentifier, signal) }
            try? waitUntil("the end") { !process.isRunning }
            process.end()
            return process.terminationReason == .exit ? process.terminationStatus : -1
        }
    }

    private static func switchOn(_ line: Line, report: UInt8, interval: UInt32 = 10) {
        line.say(KernelDouble.set(5, KernelDouble.features(report: report, on: true, interval: interval)))
        #expect(line.nextAnswer() == .setAnswer(identifier: 5, error: 0))
    }

    @Test func aHubIsPluggedUnpluggedAndEnded() throws {
        let line = try Line()
        let run = try Run(["--model", "still", "--node", line.path, "--name", "test hub"])
        guard case .create(let name, let descriptor)? = line.next() else {
            Issue.record("no device")
            return
        }
        #expect(name == "test hub")
        line.say(KernelDouble.get(3, report: 2))
        #expect(line.next() == .getAnswer(identifier: 3, error: 0, [2, 1, 6, 10, 0, 0, 0, 0, 0, 0, 0]))
        Self.switchOn(line, report: 1)
        guard case .input(let sample)? = line.next() else {
            Issue.record("no sample")
            return
        }
        // A report of 32 bits with the hub's time: it lies on its back.
        #expect(sample.count == 21)
        #expect(sample[0] == 1)
        #expect((98_000...102_000).contains(KernelDouble.number(sample, 9, 4)))
        run.say("unplug")
        #expect(line.nextAnswer() == .destroy)
        run.say("unplug")
        run.say("jump")
        try run.errors.wait { $0.contains("no command 'jump'") }
        #expect(try run.errors.text().contains("unplug: it is not plugged in; say 'plug'"))
        run.say("plug")
        #expect(line.next() == .create(name: "test hub", descriptor: descriptor))
        run.say("plug")
        try run.errors.wait { $0.contains("it is plugged in already") }
        run.say("quit")
        #expect(line.nextAnswer() == .destroy)
        #expect(run.end() == 0)
        let said = try run.output.text()
        let plugged = "plugged in: accelerometer and magnetometer\n"
        #expect(said == plugged + "unplugged\n" + plugged)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalTakesTheDeviceAway(signal: Int32) throws {
        let line = try Line()
        let run = try Run(["--model", "walk", "--gyroscope", "--bits", "16", "--time", "kernel", "--node", line.path])
        #expect(line.next() != nil)
        Self.switchOn(line, report: 2)
        guard case .input(let sample)? = line.next() else {
            Issue.record("no sample")
            return
        }
        // At rest the gyroscope has its noise alone, which ends at 0.174°/s.
        let axes = (0..<3).map { Int16(truncatingIfNeeded: KernelDouble.number(sample, 1 + 2 * $0, 2)) }
        #expect(sample.count == 7 && sample[0] == 2 && axes.allSatisfy { abs($0) <= 174 }, "\(sample)")
        #expect(run.end(signal) == 0)
        #expect(line.nextAnswer() == .destroy)
    }

    /// The whole recording comes, from the moment on at which a program reads, and in its order.
    @Test func aTraceIsPlayedToItsEnd() throws {
        let rows = (0..<20).map { "\(Double($0) / 100),0,0,\(Double($0) * 0.980665)" }.joined(separator: "\n")
        let trace = try TemporaryFile("time_s,ax,ay,az\n\(rows)\n", suffix: ".csv")
        let line = try Line()
        let run = try Run(["--trace", trace.path, "--wait", "--node", line.path])
        guard case .create? = line.next() else {
            Issue.record("no device")
            return
        }
        // Samples that were sent before anybody read would be missing; that none is sent cannot be waited for.
        usleep(300_000)
        Self.switchOn(line, report: 1)
        var heights: [Int] = []
        var times: [Int] = []
        while let event = line.next() {
            guard case .input(let sample) = event else {
                #expect(event == .destroy)
                break
            }
            heights.append(KernelDouble.number(sample, 9, 4))
            times.append(KernelDouble.number(sample, 13, 8))
            // It stays for a second after the last sample, and says what became of them; nothing can prolong that.
            if heights.count == 20 { run.say("count") }
        }
        #expect(heights == (0..<20).map { $0 * 10_000 })
        #expect(times.map { $0 - (times.first ?? 0) } == (0..<20).map { $0 * 10_000 })
        #expect(run.end() == 0)
        #expect(try run.output.text() == "plugged in: accelerometer\nthe traces have ended\n20 samples sent\n")
    }

    /// A second of 200 Hz, in which nothing is answered; then everything that was measured comes.
    @Test func aStallHoldsBackAnswersAndSamples() throws {
        let line = try Line()
        let run = try Run(["--model", "still", "--rate-hz", "200", "--node", line.path])
        #expect(line.next() != nil)
        Self.switchOn(line, report: 1, interval: 5)
        var times: [Int] = []
        func takeSample() {
            if case .input(let sample)? = line.next() { times.append(KernelDouble.number(sample, 13, 8)) }
        }
        takeSample()
        run.say("stall 1")
        try run.output.wait { $0.contains("stalled for 1.000 s") }
        line.say(KernelDouble.get(9, report: 1))
        var isAnswered = false
        while !isAnswered, let event = line.next() {
            if case .input(let sample) = event { times.append(KernelDouble.number(sample, 13, 8)) }
            isAnswered =
                event
                == .getAnswer(
                    identifier: 9, error: 0, KernelDouble.features(report: 1, on: true, interval: 5))
        }
        #expect(isAnswered)
        for _ in 0..<200 { takeSample() }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 5000 })
        run.say("gap 0.5")
        try run.output.wait { $0.contains("a gap of 0.500 s") }
        // Those that were written before the command may still come.
        for _ in 0..<400 where zip(times, times.dropFirst()).allSatisfy({ $1 - $0 == 5000 }) { takeSample() }
        let step = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
        #expect((490_000...510_000).contains(step))
        #expect(run.end(SIGINT) == 0)
    }

    @Test func theTimeEndsItWithoutCommands() throws {
        let line = try Line()
        let process = Binary.process(["simulate", "--model", "still", "--for", "200ms", "--node", line.path])
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(line.next() != nil)
        #expect(line.next() == .destroy)
    }

    @Test func withoutTheKernelsHelpItSaysWhatIsMissing() throws {
        for (arguments, module) in [(["--as", "hub"], "uhid"), (["--as", "evdev"], "uinput")] {
            let result = try Binary.run(["simulate", "--model", "walk", "--node", "/nonexistent/node"] + arguments)
            #expect(result.status == 69)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("/nonexistent/node: this kernel has no \(module) at work"))
            #expect(result.errors.contains("modprobe \(module)"))
            #expect(result.errors.contains("binnacle run --simulate"))
        }
        // No device, and one of another kind.
        let file = try TemporaryFile("precious")
        #expect(try Binary.run("simulate", "--model", "walk", "--node", file.path).status == 69)
        #expect(try file.text() == "precious")
        let other = try Binary.run("simulate", "--model", "walk", "--as", "evdev", "--node", "/dev/null")
        #expect(other.status == 69)
        #expect(other.errors.contains("/dev/null: UI_DEV_CREATE: "))
    }

    @Test func whatATraceLacksIsSaid() throws {
        let compass = try TemporaryFile("time_s,mx,my,mz\n0,1,2,3\n", suffix: ".csv")
        let result = try Binary.run("simulate", "--trace", compass.path, "--as", "evdev")
        #expect(result.status == 64)
        #expect(result.errors.contains("the traces have the magnetometer of 'magnetometer'"))
        #expect(try Binary.run("simulate", "--trace", "/nonexistent.csv").status == 66)
        let named = try Binary.run("simulate", "--trace", compass.path, "--sensor", "box")
        #expect(named.status == 64)
        #expect(named.errors.contains("--sensor box: no such sensor in the traces"))
    }

    @Test(
        arguments: [
            ([], "simulate needs --model MODEL or --trace FILE"), (["walk"], "simulate takes no 'walk'"),
            (["--model"], "--model needs a value: still|walk|shake|tap|turn|drop|wash"),
            (["--model", "wlak"], "did you mean `walk`?"), (["--model", "walk", "--trace", "x"], "does not go with"),
            (["--model", "walk", "--loop"], "--loop is for --trace"),
            (["--model", "walk", "--speed", "2"], "--speed is for --trace"),
            (["--trace", "x", "--rate-hz", "5"], "--rate-hz is for --model"),
            (["--trace", "x", "--gyroscope"], "--gyroscope is for --model"),
            (["--trace", "x", "--speed", "max"], "--speed max: has to be a number above 0"),
            (["--model", "walk", "--rate-hz", "0"], "--rate-hz 0: has to be"),
            (["--model", "walk", "--bits", "24"], "--bits 24: has to be 16 or 32"),
            (["--model", "walk", "--time", "mine"], "--time mine: has to be hub or kernel"),
            (["--model", "walk", "--as", "gps"], "--as gps: has to be hub or evdev"),
            (["--model", "walk", "--as", "evdev", "--bits", "16"], "--bits is for --as hub"),
            (["--model", "walk", "--as", "evdev", "--wait"], "--wait is for --as hub"),
            (["--model", "walk", "--name", ""], "--name : has to be 1 to 127"),
            (["--model", "walk", "--name", "Gerät"], "in ASCII"),
            (["--model", "walk", "--for", "2"], "--for 2: has to be a time"),
        ] as [([String], String)])
    func wrongUseIsExplained(arguments: [String], message: String) throws {
        let result = try Binary.run(["simulate"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test func theHelpNamesTheCommands() throws {
        let help = try Binary.run("simulate", "--help")
        #expect(help.status == 0)
        for word in [
            "unplug", "stall SECONDS", "gap SECONDS", "--rate-hz HZ", "--model still|walk|shake|tap|turn|drop|wash",
        ] {
            #expect(help.output.contains(word))
        }
        for line in help.output.split(separator: "\n") { #expect(line.count <= 126, "\(line)") }
    }
}
