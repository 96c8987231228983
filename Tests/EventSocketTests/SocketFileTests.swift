import EventSocket
import Foundation
import LinuxSystem
import TestSupport
import Testing

/// The socket's file: who may see it, and what is done about one that is there.
@Suite struct SocketFileTests {
    @Test func theFileHasItsModeAndGroup() throws {
        let server = try TestServer {
            $0.mode = 0o622
            $0.group = geteuid() == 0 ? "daemon" : nil
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: server.path)
        #expect(attributes[.posixPermissions] as? Int == 0o622)
        #expect(attributes[.type] as? FileAttributeType == .typeSocket)
        if geteuid() == 0 { #expect(attributes[.groupOwnerAccountName] as? String == "daemon") }
    }

    @Test func theFileOfADaemonThatWasKilledIsReplaced() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(try #require(UnixAddress(path: path)).withPointer { bind(left, $0, $1) } == 0)
        close(left)
        try #require(FileManager.default.fileExists(atPath: path))
        let server = try TestServer { $0.path = path }
        try server.client().subscribe()
        withExtendedLifetime(folder) {}
    }

    @Test func aSocketOnWhichSomebodyAnswersIsLeftAlone() throws {
        let server = try TestServer()
        #expect(throws: SocketServerError.inUse(server.path)) { try TestServer { $0.path = server.path } }
        try server.client().subscribe()
    }

    @Test func whatIsNoSocketIsLeftAlone() throws {
        let folder = try TemporaryFolder(["file": "mine", "folder/x": ""])
        symlink("file", folder.path + "/link")
        mkfifo(folder.path + "/fifo", 0o600)
        for name in ["file", "folder", "link", "fifo"] {
            let path = folder.path + "/" + name
            #expect(throws: SocketServerError.noSocket(path)) { try TestServer { $0.path = path } }
        }
        #expect(try String(contentsOfFile: folder.path + "/file", encoding: .utf8) == "mine")
    }

    @Test func theFileIsRemovedAtTheEndWhenItIsStillOurs() throws {
        let server = try TestServer()
        server.server.finish(within: .zero)
        #expect(server.server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        #expect(!FileManager.default.fileExists(atPath: server.path))

        let other = try TestServer()
        try FileManager.default.removeItem(atPath: other.path)
        try "mine".write(toFile: other.path, atomically: false, encoding: .utf8)
        other.server.finish(within: .zero)
        #expect(other.server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        #expect(try String(contentsOfFile: other.path, encoding: .utf8) == "mine")
    }

    @Test func whatCannotBeIsExplained() throws {
        let long = "/tmp/" + String(repeating: "x", count: 110)
        #expect(throws: SocketServerError.longPath(long)) { try TestServer { $0.path = long } }
        #expect(!SocketPath.isAnswered(long), "no daemon can be there")
        #expect(throws: SocketServerError.relativePath("s")) { try TestServer { $0.path = "s" } }
        #expect(throws: SocketServerError.unknownGroup("no-such")) { try TestServer { $0.group = "no-such" } }
        #expect(throws: SocketServerError.unknownGroup("no-such")) { try TestServer { $0.groups = ["no-such"] } }
        #expect(throws: SocketServerError.unknownUser("no-such")) { try TestServer { $0.users = ["no-such"] } }
        let error = #expect(throws: SocketServerError.self) { try TestServer { $0.path = "/nonexistent/a/s" } }
        #expect(error?.description.hasPrefix("/nonexistent/a: mkdir: ") == true, "\(error as Any)")
    }

    @Test func aMissingFolderIsMade() throws {
        let folder = try TemporaryFolder()
        let server = try TestServer { $0.path = folder.path + "/binnacle/s" }
        let made = try FileManager.default.attributesOfItem(atPath: folder.path + "/binnacle")
        #expect(made[.type] as? FileAttributeType == .typeDirectory)
        #expect(made[.posixPermissions] as? Int == 0o755, "every user may reach the socket")
        let client = try server.client()
        try client.subscribe()
        server.publish(3)
        #expect(try client.sequences(3) == [1, 2, 3])
        withExtendedLifetime(folder) {}
    }

    // MARK: - Another server of the same process

    @Test func anotherServerTakesThePlaceInOneStep() throws {
        let old = try TestServer()
        let client = try old.client()
        try client.subscribe()
        var settings = old.settings
        settings.mode = 0o622
        let new = try SocketServer(settings, replacing: old.server)
        let attributes = try FileManager.default.attributesOfItem(atPath: old.path)
        #expect(attributes[.posixPermissions] as? Int == 0o622)
        #expect(old.server.statistics.connectionCount == 1, "the old one goes on")
        try RawClient(old.path).subscribe()
        #expect(new.statistics.acceptedCount == 1)
        old.server.finish(within: .zero)
        #expect(old.server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        #expect(FileManager.default.fileExists(atPath: old.path))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: (old.path as NSString).deletingLastPathComponent) == [
                "s"
            ])
        new.finish(within: .zero)
        #expect(new.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        #expect(!FileManager.default.fileExists(atPath: old.path))
    }

    @Test func whatCannotTakeThePlaceLeavesTheOldOne() throws {
        let old = try TestServer()
        for change in [{ $0.group = "no-such" }, { $0.path = "/nonexistent/a/s" }, { $0.users = ["no-such"] }]
            as [(inout SocketSettings) -> Void]
        {
            var settings = old.settings
            change(&settings)
            #expect(throws: SocketServerError.self) { try SocketServer(settings, replacing: old.server) }
            try old.client().subscribe()
        }
        let folder = (old.path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder + "/.new", withIntermediateDirectories: false)
        #expect(throws: SocketServerError.noSocket(folder + "/.new")) {
            try SocketServer(old.settings, replacing: old.server)
        }
        try old.client().subscribe()
    }

    @Test func thePathIsThatOfTheSurroundings() throws {
        let folder = try TemporaryFolder()
        let own = folder.path + "/binnacle.sock"
        let folders = ["RUNTIME_DIRECTORY": "/run/b:/run/c", "XDG_RUNTIME_DIR": folder.path]
        let session = ["XDG_RUNTIME_DIR": folder.path]
        #expect(SocketPath.forDaemon(isRoot: true) { folders[$0] } == "/run/b/binnacle.sock")
        #expect(SocketPath.forDaemon(isRoot: true) { session[$0] } == "/run/binnacle/binnacle.sock")
        #expect(SocketPath.forDaemon(isRoot: false) { session[$0] } == own)
        #expect(SocketPath.forDaemon(isRoot: false) { _ in nil } == "/run/binnacle/binnacle.sock")
        let home = ["HOME": "/home/a"]
        #expect(SocketPath.forDaemon(isRoot: false) { home[$0] } == "/home/a/.local/state/binnacle/binnacle.sock")
        #expect(SocketPath.withoutConfiguration(isRoot: true) { session[$0] } == nil)
        #expect(SocketPath.withoutConfiguration(isRoot: true) { folders[$0] } == "/run/b/binnacle.sock")
        #expect(SocketPath.withoutConfiguration(isRoot: false) { session[$0] } == own)
        for (isRoot, existing, path) in [
            (false, [], own),
            (true, [own], "/run/binnacle/binnacle.sock"),
            (false, [own], own),
            (false, [own, "/run/binnacle/binnacle.sock"], own),
            (false, ["/run/binnacle/binnacle.sock", "/run/binnacle"], "/run/binnacle/binnacle.sock"),
            (false, ["/run/binnacle"], "/run/binnacle/binnacle.sock"),
        ] as [(Bool, [String], String)] {
            #expect(
                SocketPath.forClient(isRoot: isRoot) {
                    session[$0]
                } answers: {
                    existing.contains($0)
                } exists: {
                    existing.contains($0)
                } == path)
        }
    }

    /// As after su, which keeps the variables of another account.
    @Test func aFolderThatIsNotTheAccountsOwnIsIgnored() throws {
        let folder = try TemporaryFolder()
        let isRoot = geteuid() == 0
        if isRoot { try #require(chown(folder.path, 1, 1) == 0) }
        for session in [isRoot ? folder.path : "/", "run", "/nonexistent/run"] {
            let variables = ["XDG_RUNTIME_DIR": session, "XDG_STATE_HOME": "state", "HOME": "/home/a"]
            let path = SocketPath.forDaemon(isRoot: false) { variables[$0] }
            #expect(path == "/home/a/.local/state/binnacle/binnacle.sock")
            let reason = SocketPath.ignoredSession { variables[$0] }
            #expect(reason?.hasPrefix("XDG_RUNTIME_DIR (\(session)) ") == true)
        }
        let relative = ["HOME": "."]
        #expect(SocketPath.withoutConfiguration(isRoot: false) { relative[$0] } == nil)
    }

    @Test func theExampleIsAPathThatASocketCanHave() {
        for home in ["", ".", "/" + String(repeating: "x", count: 100)] {
            let variables = ["HOME": home]
            let path = SocketPath.example(isRoot: false) { variables[$0] }
            #expect(path == "/tmp/binnacle-\(geteuid())-own.sock")
        }
    }
}
