import Foundation
import TestSupport
import Testing

/// `binnacle run` by a plain user without a configuration, and the commands that find it.
@Suite struct OwnDaemonTests {
    /// The account of the tests, or one without rights when they run as root.
    private static let account: uid_t = geteuid() == 0 ? 65_534 : geteuid()

    /// A home folder of a plain user, and the program where that user may run it.
    private final class Home {
        let folder: TemporaryFolder
        let program: String
        var path: String { folder.path + "/home" }
        var runtime: String { folder.path + "/run" }

        init() throws {
            folder = try TemporaryFolder()
            program = folder.path + "/binnacle"
            chmod(folder.path, 0o755)
            // Copied by another process: what a test beside this one starts meanwhile would hold the copy open for writing,
            // and what is open for writing cannot be executed.
            let copy = Child(["/bin/cp", Binary.path, program])
            try copy.run()
            copy.waitUntilExit()
            try #require(copy.terminationStatus == 0)
            for path in [folder.path + "/home", folder.path + "/run"] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                chown(path, OwnDaemonTests.account, gid_t(OwnDaemonTests.account))
                chmod(path, 0o700)
            }
        }

        func child(_ arguments: [String], hasSession: Bool = true) -> Child {
            let words =
                geteuid() == 0
                ? [
                    "/usr/bin/setpriv", "--reuid", "\(account)", "--regid", "\(account)", "--clear-groups", program,
                ] : [program]
            let child = Child(words + arguments)
            child.folder = "/"
            child.environment = [
                "HOME": path, "XDG_RUNTIME_DIR": hasSession ? runtime : "", "XDG_STATE_HOME": "",
                "RUNTIME_DIRECTORY": "", "STATE_DIRECTORY": "",
            ]
            return child
        }

        func run(_ arguments: [String], hasSession: Bool = true) throws -> Binary.Result {
            let child = child(arguments, hasSession: hasSession)
            let (output, errors) = (try TemporaryFile(), try TemporaryFile())
            child.standardOutput = try output.writer()
            child.standardError = try errors.writer()
            try child.run()
            child.waitUntilExit()
            return Binary.Result(status: child.terminationStatus, output: try output.text(), errors: try errors.text())
        }
    }

    private static func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(arguments: [true, false])
    func aDaemonOfOnesOwnIsFoundAndKeepsItsEvents(hasSession: Bool) throws {
        let home = try Home()
        let daemon = home.child(["run", "--simulate", "walk"], hasSession: hasSession)
        defer { daemon.end() }
        let errors = try TemporaryFile()
        daemon.standardError = try errors.writer()
        try daemon.run()
        try errors.wait { $0.contains("motion.began") }
        let state = home.path + "/.local/state/binnacle"
        let socket = (hasSession ? home.runtime : state) + "/binnacle.sock"
        let status = try home.run(["status"], hasSession: hasSession)
        #expect(status.status == 0, "\(status.output)\(status.errors)")
        #expect(status.output.contains("socket \(socket): "), "\(status.output)")
        #expect(status.output.contains("store \(state)/events.db: "))
        try waitUntil("an event") {
            try home.run(["events", "--kind", "motion.*"], hasSession: hasSession).output.contains("motion.began")
        }
        let events = try home.run(["events"], hasSession: hasSession)
        #expect(events.errors.contains("your own daemon answers, at \(socket)"))
        let on = try home.run(["on", "any", "--once", "--after", "0"], hasSession: hasSession)
        #expect(on.status == 0 && on.output.contains("(simulated)"))
        for folder in ["/.local", "/.local/state", "/.local/state/binnacle"] {
            #expect(try Self.mode(home.path + folder) == 0o700, "\(folder)")
        }
        // A second one runs as well, and says what it does without.
        let second = home.child(["run", "--simulate", "walk"], hasSession: hasSession)
        defer { second.end() }
        let told = try TemporaryFile()
        second.standardError = try told.writer()
        try second.run()
        try told.wait { $0.contains("motion.began") }
        #expect(try told.text().contains("another daemon of yours answers"))
        kill(second.processIdentifier, SIGTERM)
        second.waitUntilExit()
        kill(daemon.processIdentifier, SIGTERM)
        daemon.waitUntilExit()
        #expect(daemon.terminationStatus == 0)
        // Without the daemon its store is read.
        let kept = try home.run(["events", "--kind", "motion.began"], hasSession: hasSession)
        #expect(kept.status == 0 && kept.output.contains("motion.began"), "\(kept.errors)")
        #expect(kept.errors.contains("reading \(state)/events.db"))
    }

    /// As after su, which keeps the variable.
    @Test func theSessionOfAnotherAccountIsNoDaemon() throws {
        let home = try Home()
        let daemon = home.child(["run", "--simulate", "walk"])
        daemon.environment?["XDG_RUNTIME_DIR"] = "/root"
        defer { daemon.end() }
        let errors = try TemporaryFile()
        daemon.standardError = try errors.writer()
        try daemon.run()
        // Without a session the commands look in the same place.
        try waitUntil("an answer") { try home.run(["status"], hasSession: false).status == 0 }
        #expect(FileManager.default.fileExists(atPath: home.path + "/.local/state/binnacle/events.db"))
        let text = try errors.text()
        #expect(text.contains("XDG_RUNTIME_DIR (/root) is no folder of this account"), "\(text)")
        #expect(!text.contains("another daemon of yours"), "\(text)")
    }

    @Test func aStoreThatMayNotBeReadIsAMatterOfRights() throws {
        let home = try Home()
        let file = home.folder.path + "/closed.db"
        try "closed".write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0)
        let result = try home.run(["events", "--store", file])
        #expect(result.status == 77, "\(result.errors)")
        #expect(result.errors.contains("read it as its owner"), "\(result.errors)")
    }

    /// The same with the paths that a configuration leaves open.
    @Test func aConfigurationWithoutPathsHasThemThere() throws {
        let home = try Home()
        let file = home.folder.path + "/c.toml"
        try """
        [store]
        [socket]
        [sensor.s]
        source = "simulated"
        [motion.m]
        accelerometer = "s"
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = home.child(["run", file])
        defer { daemon.end() }
        try daemon.run()
        try waitUntil("a stored event") { try home.run(["events"]).output.contains("motion.began") }
        #expect(FileManager.default.fileExists(atPath: home.path + "/.local/state/binnacle/events.db"))
        #expect(FileManager.default.fileExists(atPath: home.runtime + "/binnacle.sock"))
    }

    /// SIGHUP means another thing for a daemon than for a program whose window was closed.
    @Test(arguments: ["", "nohup "]) func aTerminalThatIsClosedEndsIt(prefix: String) throws {
        let folder = try TemporaryFolder([
            "b.toml": "[sensor.a]\nsource = \"simulated\"\nmodel = \"still\"\n[motion.m]\naccelerometer = \"a\"\n"
        ])
        let command = "echo $$ > pid; exec \(prefix)'\(Binary.path)' run --config b.toml"
        let terminal = Child(["script", "-qec", command, "/dev/null"])
        terminal.folder = folder.path
        terminal.standardInput = FileHandle.nullDevice
        let output = try TemporaryFile()
        terminal.standardOutput = try output.writer()
        try terminal.run()
        // Also when an expectation fails: the library's monitor of exit tests turns for ever beside a child that is not reaped.
        defer { terminal.end() }
        let log = folder.path + "/nohup.out"
        try waitUntil("the start") {
            let kept = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            return try (kept + output.text()).contains("runs with")
        }
        let text = try String(contentsOfFile: folder.path + "/pid", encoding: .utf8)
        let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        kill(terminal.processIdentifier, SIGKILL)
        terminal.waitUntilExit()
        if !prefix.isEmpty {
            try waitUntil("the reload") { try String(contentsOfFile: log, encoding: .utf8).contains("configuration") }
            #expect(kill(process, 0) == 0)
            kill(process, SIGTERM)
        }
        #expect(Child.isGone(process))
    }
}
