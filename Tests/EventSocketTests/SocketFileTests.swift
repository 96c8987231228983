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
        #expect(throws: SocketServerError.longPath("s")) { try TestServer { $0.path = "s" } }
        #expect(throws: SocketServerError.unknownGroup("no-such")) { try TestServer { $0.group = "no-such" } }
        #expect(throws: SocketServerError.unknownGroup("no-such")) { try TestServer { $0.groups = ["no-such"] } }
        #expect(throws: SocketServerError.unknownUser("no-such")) { try TestServer { $0.users = ["no-such"] } }
        let error = #expect(throws: SocketServerError.self) { try TestServer { $0.path = "/nonexistent/a/s" } }
        #expect(error?.description.hasPrefix("/nonexistent/a: mkdir: ") == true, "\(error as Any)")
    }

    @Test func aMissingFolderIsMade() throws {
        let folder = try TemporaryFolder()
        let server = try TestServer { $0.path = folder.path + "/binnacle/s" }
        try server.client().subscribe()
        withExtendedLifetime(folder) {}
    }

    @Test func thePathIsThatOfTheSurroundings() {
        let folders = ["RUNTIME_DIRECTORY": "/run/b:/run/c", "XDG_RUNTIME_DIR": "/run/user/7"]
        let session = ["XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(SocketPath.forDaemon(isRoot: true) { folders[$0] } == "/run/b/binnacle.sock")
        #expect(SocketPath.forDaemon(isRoot: true) { session[$0] } == "/run/binnacle/binnacle.sock")
        #expect(SocketPath.forDaemon(isRoot: false) { session[$0] } == "/run/user/7/binnacle.sock")
        #expect(SocketPath.forDaemon(isRoot: false) { _ in nil } == "/run/binnacle/binnacle.sock")
        for (isRoot, existing, path) in [
            (false, [], "/run/binnacle/binnacle.sock"),
            (true, ["/run/user/7/binnacle.sock"], "/run/binnacle/binnacle.sock"),
            (false, ["/run/user/7/binnacle.sock"], "/run/user/7/binnacle.sock"),
            (false, ["/run/user/7/binnacle.sock", "/run/binnacle/binnacle.sock"], "/run/binnacle/binnacle.sock"),
        ] as [(Bool, [String], String)] {
            #expect(
                SocketPath.forClient(isRoot: isRoot) {
                    session[$0]
                } exists: {
                    existing.contains($0)
                } == path)
        }
    }
}
