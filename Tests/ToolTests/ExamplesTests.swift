import Foundation
import LinuxSystem
import TestSupport
import Testing

/// Each file of config/examples does what its comment promises, with a recording that makes it do so.
@Suite struct ExamplesTests {
    private static let folder = Binary.config + "/examples"

    /// An example whose program is replaced by one that writes its arguments, a line for each call.
    private final class Trial {
        let folder: TemporaryFolder
        let configuration: String
        private let calls: String

        init(_ name: String, program: String? = nil, _ replacements: [String: String] = [:]) throws {
            folder = try TemporaryFolder()
            calls = folder.path + "/calls"
            configuration = folder.path + "/" + name
            var text = try String(contentsOfFile: ExamplesTests.folder + "/" + name, encoding: .utf8)
            if let program {
                try #require(text.contains("\"\(program)\""))
                try folder.write("program", "#!/bin/sh\necho \"called $*\" >>'\(calls)'\n")
                chmod(folder.path + "/program", 0o755)
                text.replace("\"\(program)\"", with: "\"\(folder.path)/program\"")
            }
            for (old, new) in replacements {
                try #require(text.contains(old), "\(name) has no \(old)")
                text.replace(old, with: new)
            }
            try folder.write(name, text)
            #expect(try Binary.run("check", configuration).status == 0)
        }

        /// Replays a recording of the sensor, with the handlers; the compass of a named detector is taken for calibrated.
        func replay(
            _ trace: String, _ sensors: [String] = ["chassis"], detector: String? = nil
        ) throws -> [[String: Any]] {
            try replay(
                arguments: (detector.map { ["--set", "north.\($0).hard_iron_uT=0"] } ?? [])
                    + sensors.flatMap { sensor in
                        ["--bind", "\(sensor)=\(trace)" + (sensor == "compass" ? ":magnetometer" : ":accelerometer")]
                    })
        }

        /// Replays what arguments name, with the handlers.
        func replay(arguments: [String]) throws -> [[String: Any]] {
            let result = try Binary.run(["replay", "--handlers", "--json", "--config", configuration] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return try result.lines.map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }

        /// The arguments of each call of the program.
        func called() throws -> [String] {
            guard FileManager.default.fileExists(atPath: calls) else { return [] }
            return try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n")
                .map { String($0.dropFirst("called ".count)) }
        }
    }

    /// A recording of an accelerometer: what is added to gravity at a time, in g along x.
    private static func trace(
        seconds: Double, hz: Double = 50, _ push: (Double) -> Double
    ) throws -> TemporaryFile {
        var text = "time_s,ax_g,ay_g,az_g\n"
        for index in 0..<Int(seconds * hz) {
            let time = Double(index) / hz
            text += "\(time),\(push(time)),0,1\n"
        }
        return try TemporaryFile(text, suffix: ".csv")
    }

    private static func kinds(_ events: [[String: Any]]) -> [String] { events.compactMap { $0["kind"] as? String } }

    /// A wash of half an hour with pauses of up to two minutes is one; then the program is called, once.
    @Test func theWashingMachineHasFinished() throws {
        let trial = try Trial("washing-machine.toml", program: "/usr/local/bin/laundry-done")
        let trace = try Self.trace(seconds: 2100) { time in
            let isWashing = time > 20 && time < 1820 && time.truncatingRemainder(dividingBy: 300) > 110
            return isWashing ? 0.3 * sin(2 * .pi * 7 * time) : 0
        }
        let events = try trial.replay(trace.path)
        #expect(Self.kinds(events).filter { $0.hasPrefix("motion.") } == ["motion.began", "motion.ended"])
        let calls = try trial.called()
        try #require(calls.count == 1)
        let duration = try #require(calls[0].split(separator: " ").first.flatMap { Double($0) })
        #expect(duration > 1500 && duration < 1900, "\(duration)")
    }

    /// An alarm at the first push of a commotion.
    ///
    /// A recording has no time of day, so the quiet hours of the example leave nothing out.
    @Test func aBoxThatIsMovedAlarms() throws {
        let trial = try Trial("moved-box.toml", program: "/usr/local/bin/box-alarm")
        // Pushed at 10 s and at 30 s, and then left alone for two minutes before the next push.
        let trace = try Self.trace(seconds: 200) { time in
            [10, 30, 170].contains { time >= $0 && time < $0 + 1 } ? 0.2 * sin(2 * .pi * 5 * time) : 0
        }
        #expect(Self.kinds(try trial.replay(trace.path)).filter { $0 == "motion.began" }.count == 3)
        let calls = try trial.called()
        #expect(calls.count == 2, "\(calls)")
        #expect(calls.allSatisfy { $0.hasPrefix("motion.began 0.") })
    }

    /// A laptop that is turned keeps its screen; folded back, the screen turns with it.
    @Test func theScreenTurnsOnlyWithAFoldedLaptop() throws {
        let trial = try Trial(
            "tablet-screen.toml", program: "/usr/local/bin/rotate-screen",
            // The recording has the axes of the library.
            ["# frame = \"device\"": "frame = \"device\""])
        let events = try trial.replay(arguments: [Binary.golden + "/simulated-laptop.csv"])
        let postures = events.filter { $0["kind"] as? String == "hinge.changed" }.compactMap {
            $0["posture"] as? String
        }
        #expect(Set(postures) == ["closed", "laptop", "tent", "tablet"])
        #expect(try trial.called() == ["normal", "left-up"])
    }

    @Test func aFallParksTheDisk() throws {
        let trial = try Trial("disk-protection.toml", program: "/usr/local/bin/park-disk")
        let events = try trial.replay(Binary.golden + "/simulated-drop.csv")
        #expect(Self.kinds(events).filter { $0 == "free_fall" }.count == 1)
        #expect(try trial.called().count == 1)
        // Being shaken and struck is no fall.
        let still = try Trial("disk-protection.toml", program: "/usr/local/bin/park-disk")
        let shaken = try Self.trace(seconds: 10, hz: 400) { 2 * sin(2 * .pi * 5 * $0) }
        _ = try still.replay(shaken.path)
        #expect(try still.called().isEmpty)
    }

    /// A device that turns by 6° a second, with the field of Kiel.
    private static func turning(seconds: Double, degreesPerSecond: Double = 6) throws -> TemporaryFile {
        var text = "time_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT\n"
        for index in 0..<Int(seconds * 50) {
            let time = Double(index) / 50
            let heading = max(0, min(time - 5, seconds - 10)) * degreesPerSecond * .pi / 180
            text += "\(time),0,0,9.81,\(-18 * sin(heading)),\(18 * cos(heading)),-46\n"
        }
        return try TemporaryFile(text, suffix: ".csv")
    }

    /// In a turn of a minute and a half there is a heading in each second, at most two a second, and the last one is the last.
    @Test func aBoatsHeadingIsNeverBlindInATurn() throws {
        let lines = try TemporaryFile()
        let trial = try Trial("boat-heading.toml", ["stdout = true": "file = \"\(lines.path)\""])
        let trace = try Self.turning(seconds: 100)
        let events = try trial.replay(trace.path, ["chassis", "compass"], detector: "boat")
        let shown = try lines.text().split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }.filter { $0["kind"] as? String == "heading" }
        let times = shown.compactMap { ($0["time_ns"] as? Int).map { Double($0) / 1e9 } }.filter { $0 > 5 && $0 < 95 }
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.count > 100 && times.count < 220)
        #expect((gaps.max() ?? 99) < 1.5, "\(gaps.max() ?? 99)")
        let last = try #require(events.last { $0["kind"] as? String == "heading" })
        #expect(shown.last?["seq"] as? Int == last["seq"] as? Int)
    }

    @Test func anAntennaThatIsTurnedAwayIsReported() throws {
        let trial = try Trial("north-antenna.toml", program: "/usr/bin/logger")
        let trace = try Self.turning(seconds: 30)
        let events = try trial.replay(trace.path, ["chassis", "compass"], detector: "antenna")
        #expect(Self.kinds(events).contains("north.faced") && Self.kinds(events).contains("north.left"))
        let calls = try trial.called()
        #expect(calls.contains { $0.contains("daemon.info") && $0.hasSuffix("the antenna looks north") })
        #expect(calls.contains { $0.contains("daemon.warning") && $0.hasSuffix("from its bearing") })
    }

    /// Without a broker: the events that would go there.
    @Test func aFleetReportsWhatItsCommentSays() throws {
        let lines = try TemporaryFile()
        let trial = try Trial(
            "fleet-broker.toml",
            [
                "mqtt = \"mqtts://broker.example:8883\"": "file = \"\(lines.path)\"", "user = \"machine-1\"": "",
                "password_credential = \"mqtt\"": "",
            ])
        let trace = try Self.trace(seconds: 60) { time in
            time >= 20 && time < 30 ? 0.2 * sin(2 * .pi * 5 * time) : time >= 45 && time < 45.1 ? 4 : 0
        }
        _ = try trial.replay(trace.path)
        let text = try lines.text()
        for kind in ["motion.began", "motion.ended", "shock"] {
            #expect(text.contains("\"kind\":\"\(kind)\""), "\(kind)")
        }
    }

    @Test func aPlotterGetsTheHeading() throws {
        let found = try NetworkAddress.resolve(host: "127.0.0.1", port: 0, type: SOCK_DGRAM, isOwn: true)
        let address = try #require(found.first)
        let socket = try address.makeSocket(SOCK_DGRAM)
        try systemCall("bind") { address.withPointer { bind(socket.raw, $0, $1) } }
        let port = try NetworkAddress(of: socket.raw).port
        let trial = try Trial(
            "nmea.toml",
            [
                "udp://192.168.1.255:10110": "udp://127.0.0.1:\(port)",
                "source = \"auto\"": "source = \"simulated\"\nmodel = \"turn\"",
            ])
        let run = try DaemonRun(nil, ["--config", trial.configuration]).start()
        var bytes = [UInt8](repeating: 0, count: 4096)
        var text = ""
        try waitUntil("sentences; so far \(text)") {
            let count = recv(socket.raw, &bytes, bytes.count, 0)
            if count > 0 { text += String(decoding: bytes[..<count], as: UTF8.self) }
            return text.contains("$HCHDG,") && text.contains("$HCHDM,")
        }
        #expect(run.stop() == 0)
    }

    /// No example is left out here.
    @Test func eachExampleHasATest() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".toml") }
        #expect(
            names.sorted() == [
                "boat-heading.toml", "disk-protection.toml", "fleet-broker.toml", "moved-box.toml", "nmea.toml",
                "north-antenna.toml", "tablet-screen.toml", "washing-machine.toml",
            ])
    }
}
