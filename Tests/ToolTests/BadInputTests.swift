import Foundation
import TestSupport
import Testing

/// Hostile and broken files, through the binary: a message, a status, no crash, and little memory.
@Suite struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let contents: Data
        let status: Int32
        let message: String
        var testDescription: String { name }
    }

    private static let head = "t_s,ax,ay,az\n"

    private static func rows(_ range: Range<Int>) -> String {
        range.map { "\(Double($0) / 100),0,0,9.8\n" }.joined()
    }

    static let cases: [Case] = [
        Case(name: "empty", contents: Data(), status: 65, message: "is empty"),
        Case(name: "header only", contents: Data(head.utf8), status: 65, message: "no sample"),
        Case(name: "unknown columns", contents: Data("a,b,c\n1,2,3\n".utf8), status: 65, message: "--map"),
        Case(
            name: "two axes", contents: Data("t_s,ax,ay\n1,2,3\n".utf8), status: 65,
            message: ":1: the accelerometer has no column for z"),
        Case(
            name: "not a number", contents: Data((head + rows(0..<10) + "x,1,2,3\n" + rows(11..<20)).utf8), status: 0,
            message: ":12:1: 'x' is not a time"),
        Case(
            name: "NaN", contents: Data((head + rows(0..<10) + "0.1,nan,2,3\n").utf8), status: 0,
            message: ":12:5: not a finite number"),
        Case(
            name: "infinity", contents: Data((head + rows(0..<10) + "0.1,1,Inf,3\n").utf8), status: 0,
            message: ":12:7: not a finite number"),
        Case(
            name: "backwards", contents: Data((head + rows(5..<10) + rows(0..<3)).utf8), status: 0,
            message: "3 × time goes backwards: skipped"),
        Case(
            name: "repeated stamps", contents: Data((head + rows(0..<5) + rows(4..<9)).utf8), status: 0,
            message: "1 × repeated stamp: kept"),
        Case(
            name: "torn", contents: Data((head + rows(0..<5) + "0.05,1").utf8), status: 0,
            message: "1 × last line torn: skipped"),
        Case(
            name: "long line", contents: Data(head.utf8) + Data(repeating: 0x31, count: 10_000_000), status: 65,
            message: ":2: the line is longer"),
        Case(
            name: "binary", contents: Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }),
            status: 65, message: "not a CSV trace"),
        Case(
            name: "binary after a header",
            contents: Data(head.utf8) + Data((0..<400_000).map { UInt8(truncatingIfNeeded: ($0 &* 7919) >> 3) }),
            status: 65, message: "damaged, or no trace"),
        Case(
            name: "NUL after a header", contents: Data((head + rows(0..<5)).utf8) + Data(count: 1_000_000), status: 65,
            message: ":7: zero bytes, as a power failure leaves them: head -n 6 writes"),
        Case(
            name: "NUL alone", contents: Data(count: 1_000_000), status: 65,
            message: ":1: zero bytes, as a power failure leaves them: there is nothing before them"),
        Case(
            name: "NUL at the end", contents: Data((head + rows(0..<5)).utf8) + Data(count: 4096), status: 0,
            message: ":7: the last line was not written to its end (4096 zero bytes, as a power failure leaves them)"),
        Case(
            name: "NUL and more rows",
            contents: Data((head + rows(0..<5)).utf8) + Data(count: 4096) + Data(rows(5..<9).utf8),
            status: 0, message: ":7:1: 4096 zero bytes, as a power failure leaves them"),
        Case(
            name: "times beyond nanoseconds", contents: Data((head + rows(0..<5) + "1e306,0,0,9\n1e10,0,0,9\n").utf8),
            status: 0, message: "2 × time beyond the years 1677 to 2262: skipped"),
        Case(
            name: "times of a clock beyond nanoseconds",
            contents: Data(
                ("t,ax,ay,az\n" + (0..<50).map { "2300-01-01T00:00:\($0 + 10),0,0,9.8\n" }.joined()).utf8), status: 65,
            message: ":2:1: '2300-01-01T00:00:10' lies outside of the years 1677 to 2262"),
        Case(
            name: "times that are all beyond nanoseconds",
            contents: Data((head + (0..<50).map { "\(1e10 + Double($0)),0,0,9\n" }.joined()).utf8), status: 65,
            message: "none of its 50 rows has a usable sample"),
        Case(
            name: "two columns of a name",
            contents: Data(("t_s,ax,ay,az,ax\n" + (0..<50).map { "\($0),0,0,9.8,1\n" }.joined()).utf8), status: 0,
            message: "ax (column 5) left out (fewer than three axes): ax (column 2), ay, az used"),
    ]

    @Test(arguments: cases)
    func isAnsweredWithAMessageAndAStatus(example: Case) throws {
        let file = try TemporaryFile(example.contents, suffix: ".csv")
        for arguments in [["replay", file.path], ["replay", "--json", "--batch", "1", file.path]] {
            let result = try Binary.run(arguments)
            #expect(result.status == example.status, "\(result.errors)")
            #expect((result.errors + result.output).contains(example.message), "\(result.errors)")
            if example.status != 0 { #expect(result.errors.contains("binnacle: \(file.path)")) }
        }
    }

    /// A pipe without a writer would be waited for, and a device may have no end; what the shell opens is read.
    @Test func pipesAndDevicesAreNoFilesOfThisProgram() throws {
        let folder = try TemporaryFolder(["c.toml": "[motion.m]\n"])
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let recording = Binary.fixtures + "/broad/broad05_rotation_breaks.csv"
        for file in [pipe, "/dev/zero", folder.path + "/none", folder.path] {
            for words in [
                ["check", file], ["run", "--config", file], ["doctor", "--config", file],
                ["replay", "--config", file, recording], ["web", "--token-file", file],
                ["score", recording, file], ["sweep", "--labels", file, recording],
            ] {
                // On a program that waits, this ends by a signal.
                let child = Child(["timeout", "60", Binary.path] + words)
                let errors = try TemporaryFile()
                child.standardError = try errors.writer()
                child.standardOutput = FileHandle.nullDevice
                try child.run()
                child.waitUntilExit()
                #expect([65, 66, 74, 78].contains(child.terminationStatus), "\(words): \(child.terminationStatus)")
                let isOdd = [pipe, "/dev/zero"].contains(file)
                let text = try errors.text()
                #expect(text.contains("a pipe or a device") == isOdd, "\(words): \(text)")
            }
        }
        for command in ["<(cat c.toml)", "/dev/stdin < <(cat c.toml)"] {
            let child = Child(["bash", "-c", "cd '\(folder.path)' && '\(Binary.path)' check \(command)"])
            let errors = try TemporaryFile()
            (child.standardOutput, child.standardError) = (try errors.writer(), try errors.writer())
            try child.run()
            child.waitUntilExit()
            let text = try errors.text()
            #expect(text.contains("has no `accelerometer`"), "\(command): \(text)")
        }
    }

    /// Differences of two stamps need 65 bits, and a nanosecond before the first and behind the last does not exist.
    @Test(
        arguments: [
            [.min + 1, .max], [.min + 1, 0, .max], [-9_000_000_000_000_000_000, 9_000_000_000_000_000_000],
        ] as [[Int64]])
    func stampsFurtherApartThan64BitsReach(places: [Int64]) throws {
        let axes = ["ax_m_s2", "ay_m_s2", "az_m_s2", "gx", "gy", "gz", "mx_uT", "my_uT", "mz_uT"]
        var text = "time_ns," + axes.joined(separator: ",") + "\n"
        for place in places {
            for row in Int64(0)..<400 {
                let time = place > 0 ? place - (399 - row) * 10_000_000 : place + row * 10_000_000
                text += "\(time),0.1,0.2,9.8,0.3,0.2,0.1,20,1,-40\n"
            }
        }
        let file = try TemporaryFile(text, suffix: ".csv")
        let folder = try TemporaryFolder()
        let detectors = [
            "tap.t.accelerometer=accelerometer", "steps.s.accelerometer=accelerometer",
            "stationary.r.accelerometer=accelerometer", "vibration.v.accelerometer=accelerometer",
            "orientation.o.accelerometer=accelerometer", "attitude.a.accelerometer=accelerometer",
            "motion.m.accelerometer=accelerometer", "motion.m.measure=linear_acceleration",
        ].flatMap { ["--set", $0] }
        let commands =
            [
                ["replay"] + detectors, ["replay", "--from", "1s"], ["replay", "--batch", "1", "--arrow"],
                ["sweep", "--set", "motion.motion.threshold_g=0.1,0.2"], ["calibrate", "gyroscope", "--trace"],
                ["calibrate", "magnetometer", "--trace"], ["calibrate", "accelerometer", "--trace"],
            ].map { $0 + [file.path] }
            + ["html", "svg"].map { ["plot"] + detectors + [file.path, "-o", "\(folder.path)/x.\($0)"] }
            + ["csv", "arrows", "mcap"].map { ["convert", file.path, "-o", "\(folder.path)/x.\($0)"] }
        for words in commands {
            let result = try Binary.run(words)
            #expect([0, 65].contains(result.status), "\(words): \(result.status) \(result.errors.suffix(400))")
        }
    }

    /// The least numbers that there are, next to nothing but zeros.
    @Test func aDrawingOfTheSmallestValues() throws {
        let text =
            "time_ns,ax_m_s2,ay_m_s2,az_m_s2\n"
            + (0..<50).map { "\($0 * 10_000_000),1e-38,1e-45,\($0)e-40\n" }.joined()
        let file = try TemporaryFile(text, suffix: ".csv")
        let folder = try TemporaryFolder()
        for name in ["x.svg", "x.html"] {
            let result = try Binary.run("plot", file.path, "-o", "\(folder.path)/\(name)")
            #expect(result.status == 0, "\(name): \(result.status) \(result.errors)")
        }
    }

    @Test func filesThatCannotBeOpened() throws {
        let missing = try Binary.run("replay", "/nonexistent.csv")
        #expect(missing.status == 66 && missing.errors.contains("/nonexistent.csv: no such file"))
        let directory = try Binary.run("replay", Binary.fixtures)
        #expect(directory.status == 65 && directory.errors.contains("is a directory without a recording"))
        let forbidden = try TemporaryFile(Self.head)
        chmod(forbidden.path, 0)
        // Nothing is forbidden to root, so under root the program runs as another user.
        let words = ["replay", forbidden.path]
        let asNobody = getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups"] : []
        let process = Child(asNobody + [Binary.path] + words)
        let errors = try TemporaryFile()
        process.standardError = try errors.writer()
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 77)
        #expect(try errors.text().contains("may not be read"))
    }

    @Test func aSparseFileOfFiveGigabytesIsRefusedAtOnce() throws {
        let file = try TemporaryFile(Self.head + Self.rows(0..<100), suffix: ".csv")
        try #require(truncate(file.path, 5 << 30) == 0)
        let result = try Binary.run("replay", "--json", file.path)
        #expect(result.status == 65)
        #expect(result.errors.contains(":102: zero bytes"))
    }

    @Test func memoryDoesNotGrowWithTheTrace() throws {
        let files = try [200_000, 2_000_000].map { rows in
            var text = "t_ms,ax,ay,az\n"
            for row in 0..<rows { text += "\(row * 10),0,0,9.8\n" }
            return try TemporaryFile(text, suffix: ".csv")
        }
        let long = try largestAnonymousMemory(of: ["replay", "--json", files[1].path])
        // A short run may be over before its peak was looked at; a long one is looked at often.
        var short = 0
        for _ in 0..<50 where long >= short + 4096 {
            short = max(short, try largestAnonymousMemory(of: ["replay", "--json", files[0].path]))
        }
        print("largest RssAnon of a replay: \(short) kB for 0.2, \(long) kB for 2 million rows")
        #expect(long > 0 && long < 64 * 1024)
        #expect(long < short + 4096)
    }

    @Test func memoryDoesNotGrowWithTheNumberOfSensors() throws {
        let names = (0..<1500).map { "s\($0)" }
        var text = "t_ms," + names.map { "\($0).ax_g,\($0).ay_g,\($0).az_g" }.joined(separator: ",") + "\n"
        for row in 0..<400 { text += "\(row)" + String(repeating: ",0,0,1", count: names.count) + "\n" }
        let file = try TemporaryFile(text, suffix: ".csv")
        for options in [[], ["--batch", "65536"]] {
            let peak = try largestAnonymousMemory(of: ["replay", "--json"] + options + [file.path])
            #expect(peak > 0 && peak < 64 * 1024)
        }
    }

    /// The most that a run of the program held, in kB, as often as one can look.
    private func largestAnonymousMemory(of arguments: [String]) throws -> Int {
        let process = Binary.process(arguments)
        try process.run()
        var peak = 0
        while process.isRunning {
            let status =
                (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon") } ?? ""
            peak = max(peak, Int(line.filter(\.isNumber)) ?? 0)
            usleep(500)
        }
        return peak
    }

    @Test func eventsBeforeAFaultAreKept() throws {
        let good = try Data(contentsOf: URL(fileURLWithPath: "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"))
        let file = try TemporaryFile(good + Data(repeating: 0x31, count: 100_000))
        let broken = try Binary.run("replay", "--json", file.path)
        #expect(broken.status == 65)
        let whole = try Binary.run("replay", "--json", "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv")
        #expect(broken.output.hasPrefix(whole.output))
        let added = broken.output.dropFirst(whole.output.count)
        #expect(added.contains("sensor.inactive") && added.contains("sensors.none_left"))
    }
}
