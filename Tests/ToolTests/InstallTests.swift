import Foundation
import TestSupport
import Testing

/// `make install` and `make uninstall`, into a folder that stands for the machine.
@Suite struct InstallTests {
    @Test func everyFileIsInItsPlaceWithItsMode() throws {
        let machine = try Machine()
        #expect(try machine.make("install") == 0, "\(machine.said)")
        let examples = Machine.examples.map { "-rw-r--r-- usr/share/doc/binnacle/examples/\($0)" }
        let pages = Machine.pages.map { "-rw-r--r-- usr/share/man/man\($0.suffix(1))/\($0)" }
        #expect(pages.count >= 8 && pages.contains("-rw-r--r-- usr/share/man/man1/binnacle.1"))
        #expect(
            try machine.tree()
                == ([
                    "drwxr-xr-x etc",
                    "drwxr-xr-x etc/binnacle",
                    "-rw-r--r-- etc/binnacle/binnacle.toml",
                    "drwxr-xr-x etc/binnacle/conf.d",
                    "drwxr-xr-x usr",
                    "drwxr-xr-x usr/bin",
                    "-rwxr-xr-x usr/bin/binnacle",
                    "drwxr-xr-x usr/lib",
                    "drwxr-xr-x usr/lib/systemd",
                    "drwxr-xr-x usr/lib/systemd/system",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-metrics.socket",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-metrics@.service",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-serve.socket",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-serve@.service",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-trigger.service",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-web.socket",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle-web@.service",
                    "-rw-r--r-- usr/lib/systemd/system/binnacle.service",
                    "drwxr-xr-x usr/lib/systemd/user",
                    "-rw-r--r-- usr/lib/systemd/user/binnacle-notify.service",
                    "drwxr-xr-x usr/lib/sysusers.d",
                    "-rw-r--r-- usr/lib/sysusers.d/binnacle.conf",
                    "drwxr-xr-x usr/lib/udev",
                    "drwxr-xr-x usr/lib/udev/rules.d",
                    "-rw-r--r-- usr/lib/udev/rules.d/70-binnacle.rules",
                    "drwxr-xr-x usr/share",
                    "drwxr-xr-x usr/share/bash-completion",
                    "drwxr-xr-x usr/share/bash-completion/completions",
                    "-rw-r--r-- usr/share/bash-completion/completions/binnacle",
                    "drwxr-xr-x usr/share/dbus-1",
                    "drwxr-xr-x usr/share/dbus-1/system.d",
                    "drwxr-xr-x usr/share/doc",
                    "drwxr-xr-x usr/share/doc/binnacle",
                    "drwxr-xr-x usr/share/doc/binnacle/examples",
                    "-rw-r--r-- usr/share/dbus-1/system.d/binnacle.conf",
                    "-rw-r--r-- usr/share/doc/binnacle/examples/binnacle-desktop.conf",
                    "-rw-r--r-- usr/share/doc/binnacle/examples/binnacle-network.conf",
                    "drwxr-xr-x usr/share/fish",
                    "drwxr-xr-x usr/share/fish/vendor_completions.d",
                    "-rw-r--r-- usr/share/fish/vendor_completions.d/binnacle.fish",
                    "drwxr-xr-x usr/share/man",
                    "drwxr-xr-x usr/share/man/man1",
                    "drwxr-xr-x usr/share/man/man5",
                    "drwxr-xr-x usr/share/man/man7",
                    "drwxr-xr-x usr/share/polkit-1",
                    "drwxr-xr-x usr/share/polkit-1/actions",
                    "-rw-r--r-- usr/share/polkit-1/actions/org.binnacle.Binnacle1.policy",
                    "drwxr-xr-x usr/share/polkit-1/rules.d",
                    "-rw-r--r-- usr/share/polkit-1/rules.d/binnacle.rules",
                    "drwxr-xr-x usr/share/zsh",
                    "drwxr-xr-x usr/share/zsh/site-functions",
                    "-rw-r--r-- usr/share/zsh/site-functions/_binnacle",
                ] + pages + examples).sorted(by: Machine.pathsInOrder))
        for (place, source) in [
            ("etc/binnacle/binnacle.toml", "config/binnacle.toml"),
            ("usr/share/man/man1/binnacle-run.1", "man/binnacle-run.1"),
            ("usr/share/bash-completion/completions/binnacle", "completions/binnacle.bash"),
            ("usr/lib/systemd/system/binnacle-trigger.service", "systemd/binnacle-trigger.service"),
            ("usr/lib/sysusers.d/binnacle.conf", "systemd/binnacle.sysusers"),
            ("usr/share/doc/binnacle/examples/binnacle-network.conf", "systemd/binnacle-network.conf"),
            ("usr/lib/udev/rules.d/70-binnacle.rules", "systemd/70-binnacle.rules"),
        ] {
            #expect(try machine.text(place) == Machine.source(source), "\(place)")
        }
    }

    @Test(arguments: [("/usr", "/usr/bin"), ("/usr/local", "/usr/local/bin"), ("/opt/binnacle", "/opt/binnacle/bin")])
    func theUnitStartsWhatWasInstalled(prefix: String, folder: String) throws {
        let machine = try Machine(prefix: prefix)
        #expect(try machine.make("install") == 0, "\(machine.said)")
        for (place, name, command) in [
            ("system", "binnacle.service", "binnacle run"),
            ("system", "binnacle-metrics@.service", "binnacle metrics --http"),
            ("system", "binnacle-web@.service", "binnacle web --http"),
            ("system", "binnacle-serve@.service", "binnacle serve --stdio"),
            ("user", "binnacle-notify.service", "binnacle on motion.began --"),
        ] {
            let unit = try machine.text("\(prefix.dropFirst())/lib/systemd/\(place)/\(name)")
            let shipped = try Machine.source("systemd/\(name)")
            let starts = unit.split(separator: "\n").filter { $0.hasPrefix("ExecStart=") }
            #expect(starts.count == 1 && starts[0].hasPrefix("ExecStart=\(folder)/\(command)"))
            // Nothing else is another.
            #expect(
                unit.replacing("ExecStart=\(folder)/", with: "")
                    == shipped.replacing("ExecStart=/usr/local/bin/", with: ""))
        }
    }

    @Test func aChangedConfigurationIsKept() throws {
        let machine = try Machine()
        #expect(try machine.make("install") == 0)
        // Once more, over what has not been changed.
        #expect(try machine.make("install") == 0)
        #expect(!machine.exists("etc/binnacle/binnacle.toml.new"))

        try machine.write("# mine\n", to: "etc/binnacle/binnacle.toml")
        try machine.write("# mine, too\n", to: "etc/binnacle/conf.d/mine.toml")
        #expect(try machine.make("install") == 0)
        #expect(try machine.text("etc/binnacle/binnacle.toml") == "# mine\n")
        #expect(try machine.text("etc/binnacle/conf.d/mine.toml") == "# mine, too\n")
        #expect(try machine.text("etc/binnacle/binnacle.toml.new") == Machine.source("config/binnacle.toml"))

        // Who takes the new one has no more use for its copy.
        try machine.write(Machine.source("config/binnacle.toml"), to: "etc/binnacle/binnacle.toml")
        #expect(try machine.make("install") == 0)
        #expect(!machine.exists("etc/binnacle/binnacle.toml.new"))
    }

    @Test func uninstallLeavesFoldersOfOthersAlone() throws {
        let machine = try Machine()
        #expect(try machine.make("install") == 0)
        #expect(try machine.make("uninstall") == 0, "\(machine.said)")
        #expect(
            try machine.tree() == [
                "drwxr-xr-x etc", "drwxr-xr-x usr", "drwxr-xr-x usr/bin", "drwxr-xr-x usr/lib",
                "drwxr-xr-x usr/lib/systemd", "drwxr-xr-x usr/lib/systemd/system", "drwxr-xr-x usr/lib/systemd/user",
                "drwxr-xr-x usr/lib/sysusers.d",
                "drwxr-xr-x usr/lib/udev", "drwxr-xr-x usr/lib/udev/rules.d", "drwxr-xr-x usr/share",
                "drwxr-xr-x usr/share/bash-completion", "drwxr-xr-x usr/share/bash-completion/completions",
                "drwxr-xr-x usr/share/dbus-1", "drwxr-xr-x usr/share/dbus-1/system.d",
                "drwxr-xr-x usr/share/doc", "drwxr-xr-x usr/share/fish",
                "drwxr-xr-x usr/share/fish/vendor_completions.d", "drwxr-xr-x usr/share/man",
                "drwxr-xr-x usr/share/man/man1", "drwxr-xr-x usr/share/man/man5", "drwxr-xr-x usr/share/man/man7",
                "drwxr-xr-x usr/share/polkit-1", "drwxr-xr-x usr/share/polkit-1/actions",
                "drwxr-xr-x usr/share/polkit-1/rules.d",
                "drwxr-xr-x usr/share/zsh", "drwxr-xr-x usr/share/zsh/site-functions",
            ])
        // There is nothing left to remove, and that is no fault.
        #expect(try machine.make("uninstall") == 0, "\(machine.said)")
    }

    @Test func uninstallKeepsWhatIsNotOurs() throws {
        let machine = try Machine()
        #expect(try machine.make("install") == 0)
        try machine.write("# mine\n", to: "etc/binnacle/binnacle.toml")
        try machine.write("# mine, too\n", to: "etc/binnacle/conf.d/mine.toml")
        try machine.write("mine\n", to: "usr/share/doc/binnacle/examples/mine.toml")
        #expect(try machine.make("install") == 0)
        #expect(try machine.make("uninstall") == 0, "\(machine.said)")
        #expect(
            try machine.tree().filter { $0.hasPrefix("-") } == [
                "-rw-r--r-- etc/binnacle/binnacle.toml", "-rw-r--r-- etc/binnacle/conf.d/mine.toml",
                "-rw-r--r-- usr/share/doc/binnacle/examples/mine.toml",
            ])
    }

    /// The unit gives the service no network: without the drop-in an example that sends something would only fail.
    @Test func everyExampleThatSendsNamesTheDropIn() throws {
        let senders = ["mqtt = ", "nmea = ", "sends a message", "send a message", "message on a phone"]
        var count = 0
        for name in Machine.examples {
            let text = try Machine.source("config/examples/\(name)")
            guard senders.contains(where: text.contains) else { continue }
            #expect(
                text.contains("install -D -m 644 binnacle-network.conf -t /etc/systemd/system/binnacle.service.d"),
                "\(name)")
            count += 1
        }
        #expect(count >= 4)
    }

    @Test func withoutABinaryNothingIsInstalled() throws {
        let machine = try Machine()
        try FileManager.default.removeItem(atPath: machine.binary.path)
        #expect(try machine.make("install") != 0)
        #expect(machine.said.contains("run 'make build' first"))
        #expect(try machine.tree().isEmpty)
    }
}

/// A folder that stands for a machine, and what is installed on it; it lives as long as this object.
private final class Machine {
    static let project = Binary.tests.deletingLastPathComponent()
    static let examples =
        (try? FileManager.default.contentsOfDirectory(atPath: Binary.config + "/examples")) ?? []

    static let pages =
        (try? FileManager.default.contentsOfDirectory(atPath: project.appendingPathComponent("man").path)) ?? []

    /// Stands for the program: no test runs it.
    let binary: TemporaryFile
    private let root: String
    private let prefix: String
    private let messages: TemporaryFile

    init(prefix: String = "/usr") throws {
        self.prefix = prefix
        root = NSTemporaryDirectory() + "binnacle-install-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
        binary = try TemporaryFile("the program\n")
        chmod(binary.path, 0o700)
        messages = try TemporaryFile()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    /// Runs `make` with a umask that withholds files from other users: the umask must not show in what is installed.
    func make(_ target: String) throws -> Int32 {
        let child = Child([
            "/bin/sh", "-c", "umask 077; exec make \"$@\"", "sh", target, "DESTDIR=\(root)", "PREFIX=\(prefix)",
            "BINARY=\(binary.path)",
        ])
        child.folder = Self.project.path
        // What a make that runs the tests was told is not meant for this one.
        child.environment = ["MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": ""]
        child.standardOutput = try messages.writer()
        child.standardError = child.standardOutput
        try child.run()
        child.waitUntilExit()
        return child.terminationReason == .exit ? child.terminationStatus : -1
    }

    /// What make and its programs said last.
    var said: String { (try? messages.text()) ?? "" }

    /// Every file and folder with its mode, as `ls` writes it, in the order of their paths.
    func tree() throws -> [String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
        return try paths.map { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: root + "/" + path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            let letters = "rwxrwxrwx".enumerated().map { mode & (0o400 >> $0.offset) != 0 ? $0.element : "-" }
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            return (isFolder ? "d" : "-") + String(letters) + " " + path
        }.sorted(by: Self.pathsInOrder)
    }

    static func pathsInOrder(_ one: String, _ other: String) -> Bool { one.dropFirst(11) < other.dropFirst(11) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + "/" + path) }

    func text(_ path: String) throws -> String { try String(contentsOfFile: root + "/" + path, encoding: .utf8) }

    static func source(_ path: String) throws -> String {
        try String(contentsOf: project.appendingPathComponent(path), encoding: .utf8)
    }

    func write(_ text: String, to path: String) throws {
        try text.write(toFile: root + "/" + path, atomically: false, encoding: .utf8)
    }
}
