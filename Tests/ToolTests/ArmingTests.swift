import Foundation
import LinuxSystem
import TestSupport
import Testing

/// `binnacle disarm` and `binnacle arm` at a running daemon.
@Suite struct ArmingTests {
    private static let sensor = """
        [sensor.box]
        source = "simulated"
        model = "shake"
        [motion.moved]
        accelerometer = "box"
        """

    private static let outputs = """
        [handler.out]
        on = ["any"]
        stdout = true
        [socket]
        path = "STATE/socket"
        [store]
        path = "STATE/events.db"
        """

    private static let configuration = """
        \(sensor)
        [handler.siren]
        on = ["shake", "handler.disarmed"]
        detector = ["moved"]
        file = "STATE/siren"
        [handler.plotter]
        nmea = "udp://127.0.0.1:1"
        [north.bow]
        accelerometer = "box"
        magnetometer = "box"
        \(outputs)
        """

    private func start(_ state: TemporaryFolder, isInService: Bool = true) throws -> DaemonRun {
        let text = Self.configuration.replacingOccurrences(of: "STATE", with: state.path)
        let run = try DaemonRun(text, environment: isInService ? ["STATE_DIRECTORY": state.path] : [:]).start()
        try run.waitForEvent("shake")
        return run
    }

    private func kinds(_ state: TemporaryFolder) throws -> [String] {
        guard let text = try? String(contentsOfFile: state.path + "/siren", encoding: .utf8) else { return [] }
        return try text.split(separator: "\n").map { line in
            let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(event?["kind"] as? String)
        }
    }

    @Test func aHandlerThatIsDisarmedGetsNothingAlsoAfterARestart() throws {
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        var run = try start(state)
        #expect(try run.errors.text().contains("disarmed.json") == false, "a first start has no file, and misses none")
        #expect(try Binary.run("disarm", "siren", "--socket", socket).output.hasPrefix("'siren' is disarmed"))
        // A second time changes nothing.
        #expect(try Binary.run("disarm", "siren", "--socket", socket).status == 0)
        try run.waitForEvent("handler.disarmed")
        try waitUntil("the siren was told") { try kinds(state).last == "handler.disarmed" }
        let before = try kinds(state).count
        #expect(try Binary.run("status", "--socket", socket).output.contains("handler siren (file): DISARMED, "))
        #expect(try Binary.run("status", "--json", "--socket", socket).output.contains(#""armed":false"#))
        #expect(
            try Binary.run("metrics", "--socket", socket).output.contains(
                "binnacle_handler_armed{handler=\"siren\",action=\"file\"} 0"))
        let shakes = try run.events().count { $0["kind"] as? String == "shake" }
        try run.waitForEvent("shake", count: shakes + 2)
        run.reload()
        try run.waitForEvent("shake", count: shakes + 20)
        let reports = try run.events().count { $0["kind"] as? String == "handler.disarmed" }
        #expect(reports == 1, "a reload says nothing new")
        #expect(run.stop() == 0)
        #expect(try kinds(state).dropFirst(before).allSatisfy { $0 == "handler.disarmed" })
        #expect(
            try String(contentsOfFile: state.path + "/disarmed.json", encoding: .utf8)
                == "{\"version\":1,\"handlers\":[\"siren\"]}\n")

        run = try start(state)
        try run.waitForEvent("handler.disarmed")
        try run.waitForEvent("shake", count: 2)
        #expect(try kinds(state).dropFirst(before).allSatisfy { $0 == "handler.disarmed" })
        #expect(try Binary.run("arm", "siren", "--socket", socket).output == "'siren' is armed\n")
        try run.waitForEvent("handler.armed")
        try waitUntil("the siren sounds") { try kinds(state).last == "shake" }
        #expect(try Binary.run("status", "--socket", socket).output.contains("DISARMED") == false)
        #expect(run.stop() == 0)
        #expect(
            try String(contentsOfFile: state.path + "/disarmed.json", encoding: .utf8)
                == "{\"version\":1,\"handlers\":[]}\n")
    }

    /// Also what the handler has that a reload has exchanged, and what the store keeps for its successor meanwhile.
    @Test func disarmingReachesWhatAReloadHasLeft() throws {
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        func text(_ seconds: Int) -> String {
            """
            \(Self.sensor)
            [handler.siren]
            on = ["shake"]
            command = ["/bin/sh", "-c", "echo $1 >>STATE/runs; while [ ! -e STATE/go ]; do sleep 0.05; done", "sh", "{seq}"]
            timeout_s = \(seconds)
            \(Self.outputs)
            """.replacingOccurrences(of: "STATE", with: state.path)
        }
        func runs() -> [Int] {
            let text = (try? String(contentsOfFile: state.path + "/runs", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { Int($0) }
        }
        let run = try DaemonRun(text(1000)).start()
        func number(_ kind: String) throws -> Int {
            try #require(try run.events().first { $0["kind"] as? String == kind }?["seq"] as? Int)
        }
        try waitUntil("a program") { runs().count == 1 }
        try run.waitForEvent("shake", count: 5)
        try run.configure(text(1001))
        run.reload()
        try run.waitForMessage("configuration reloaded")
        #expect(try Binary.run("disarm", "siren", "--socket", socket).status == 0)
        try run.waitForEvent("handler.disarmed")
        #expect(try Binary.run("arm", "siren", "--socket", socket).status == 0)
        try run.waitForEvent("handler.armed")
        try state.write("go", "")
        let (disarmed, armed) = (try number("handler.disarmed"), try number("handler.armed"))
        try waitUntil("a program for a later event; so far: \(runs())") { (runs().last ?? 0) > armed }
        #expect(runs().dropFirst().allSatisfy { $0 > disarmed }, "\(runs()), disarmed at \(disarmed)")
        #expect(run.stop() == 0)
    }

    /// A daemon that does not get the store changes nothing of what the one that has it keeps.
    @Test func aDaemonThatIsRefusedArmsNothing() throws {
        let state = try TemporaryFolder()
        let run = try start(state)
        #expect(try Binary.run("disarm", "siren", "--socket", state.path + "/socket").status == 0)
        let kept = state.path + "/disarmed.json"
        try waitUntil("the state is written") { FileManager.default.fileExists(atPath: kept) }
        let other = try DaemonRun(
            Self.configuration.replacingOccurrences(of: "STATE", with: state.path)
                .replacingOccurrences(of: "siren", with: "bell"),
            environment: ["STATE_DIRECTORY": state.path])
        try other.process.run()
        other.process.waitUntilExit()
        #expect(other.process.terminationStatus == 75)
        #expect(try String(contentsOfFile: kept, encoding: .utf8).contains("siren"))
        #expect(run.stop() == 0)
    }

    /// The handler is disarmed all the same, until a restart.
    @Test func aStateThatCannotBeKeptIsAProblem() throws {
        let state = try TemporaryFolder()
        try #require(mkdir(state.path + "/disarmed.json", 0o700) == 0)
        let run = try start(state)
        let disarmed = try Binary.run("disarm", "siren", "--socket", state.path + "/socket")
        #expect(disarmed.status == 74 && disarmed.output.hasPrefix("'siren' is disarmed"), "\(disarmed)")
        #expect(disarmed.errors.contains("/disarmed.json: which handlers are disarmed cannot be written"))
        var status = ""
        try waitUntil("the problem; the last status: \(status)") {
            let result = try Binary.run("status", "--socket", state.path + "/socket")
            status = result.output
            return result.status == 1 && status.contains("which handlers are disarmed cannot be written")
        }
        try #require(rmdir(state.path + "/disarmed.json") == 0)
        #expect(try Binary.run("arm", "siren", "--socket", state.path + "/socket").status == 0)
        try waitUntil("the end of the problem") {
            try Binary.run("status", "--socket", state.path + "/socket").status == 0
        }
        #expect(run.stop() == 0)
    }

    /// Root's daemon that no systemd started has no state folder.
    @Test(.enabled(if: geteuid() == 0, "for root, who has no state folder")) func whatIsForgottenIsSaid() throws {
        let state = try TemporaryFolder()
        let run = try start(state, isInService: false)
        #expect(try Binary.run("disarm", "siren", "--socket", state.path + "/socket").status == 0)
        try run.waitForMessage("is disarmed until this run ends")
        #expect(run.stop() == 0)
    }

    /// Requests for nothing, of which the log has ten, do not hide a change.
    @Test func whoHasDisarmedIsLoggedBehindManyRequests() throws {
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        let run = try start(state)
        for _ in 0..<12 { #expect(try Binary.run("disarm", "sirne", "--socket", socket).status == 69) }
        #expect(try Binary.run("disarm", "siren", "--socket", socket).status == 0)
        try run.waitForMessage("asks to disarm `siren`")
        #expect(run.stop() == 0)
    }

    /// A client may change it as often as it likes, and causes few events; the state that lasts is among them.
    @Test func manyChangesAreFewEvents() throws {
        let state = try TemporaryFolder([:])
        let run = try start(state)
        let start = SystemClock.monotonic()
        for number in 0..<25 {
            let command = number % 2 == 0 ? "disarm" : "arm"
            #expect(try Binary.run(command, "siren", "--socket", state.path + "/socket").status == 0)
        }
        func reports() throws -> [String] {
            try run.events().compactMap { $0["kind"] as? String }.filter { $0.hasPrefix("handler.") }
        }
        try waitUntil("the last state") { try reports().last == "handler.disarmed" }
        let periods = 1 + (SystemClock.monotonic() - start) / 10_000_000_000
        #expect(try Int64(reports().count) <= 10 * periods)
        // The end waits for no limit.
        for number in 0..<13 {
            let command = number % 2 == 0 ? "arm" : "disarm"
            #expect(try Binary.run(command, "siren", "--socket", state.path + "/socket").status == 0)
        }
        #expect(run.stop() == 0)
        #expect(try reports().last == "handler.armed")
    }

    /// A handler that a reload has removed is armed when another one adds it, and can be disarmed again.
    @Test func aHandlerThatComesBackIsArmedAndDisarmedWithAnEvent() throws {
        let state = try TemporaryFolder()
        let text = Self.configuration.replacingOccurrences(of: "STATE", with: state.path)
        let run = try DaemonRun(text, environment: ["STATE_DIRECTORY": state.path]).start()
        let socket = state.path + "/socket"
        func disarm(count: Int) throws {
            try run.waitForEvent("shake")
            #expect(try Binary.run("disarm", "siren", "--socket", socket).status == 0)
            try run.waitForEvent("handler.disarmed", count: count)
        }
        try disarm(count: 1)
        try run.configure(text.replacingOccurrences(of: "siren", with: "bell"))
        run.reload()
        try run.waitForMessage("the handler `siren` was disarmed; when it comes back, it is armed")
        try waitUntil("the handler is gone") {
            try !Binary.run("status", "--socket", socket).output.contains("handler siren")
        }
        try run.configure(text)
        run.reload()
        try waitUntil("the handler is there") {
            try Binary.run("status", "--socket", socket).output.contains("handler siren")
        }
        // What the client has changed it sees at once.
        #expect(try Binary.run("status", "--socket", socket).output.contains("DISARMED") == false)
        try disarm(count: 2)
        #expect(try Binary.run("status", "--socket", socket).output.contains("DISARMED"))
        #expect(run.stop() == 0)
    }

    @Test func whatCannotBeDisarmedIsSaid() throws {
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        try "nonsense".write(toFile: state.path + "/disarmed.json", atomically: true, encoding: .utf8)
        let run = try start(state)
        try run.waitForMessage("which handlers are disarmed cannot be read")
        let unknown = try Binary.run("disarm", "sirne", "--socket", socket)
        #expect(unknown.status == 69 && unknown.errors.contains("there is no handler `sirne` (did you mean `siren`?)"))
        let plotter = try Binary.run("disarm", "plotter", "--socket", socket)
        #expect(plotter.status == 69 && plotter.errors.contains("repeats the latest heading"))
        #expect(try Binary.run("disarm", "--socket", socket).status == 64)
        try run.waitForMessage("asks to disarm `sirne`")
        #expect(run.stop() == 0)
    }
}
