import EventSocket
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Who may connect; what takes another account is skipped where we are not root.
@Suite struct PermissionTests {
    static let isRoot = geteuid() == 0

    @Test func thePolicyNamesAccountsAndGroups() throws {
        var settings = SocketSettings(path: "/x")
        func allows(_ user: UInt32, _ groups: Set<UInt32>) throws -> Bool {
            try PeerPolicy(settings, own: 77).allows(PeerCredentials(user: user, process: 1, groups: groups))
        }
        #expect(try allows(5, []))
        settings.users = []
        for (user, isAllowed) in [(UInt32(0), true), (77, true), (5, false)] {
            #expect(try allows(user, []) == isAllowed)
        }
        settings.users = ["daemon"]
        #expect(try allows(1, []))
        #expect(try !allows(2, [1]))
        settings.users = nil
        settings.groups = ["daemon", "bin"]
        #expect(try allows(5, [9, 2]))
        #expect(try !allows(5, [9]))
    }

    @Test func theKernelSaysWhoItIs() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let peer = try PeerCredentials(of: ends[0])
        #expect(peer.user == geteuid() && peer.process == getpid() && peer.groups.contains(getegid()))
    }

    /// Asks for the status as another account, and returns the answer.
    private func ask(_ server: TestServer, as arguments: [String]) throws -> String {
        chmod((server.path as NSString).deletingLastPathComponent, 0o755)
        let output = try TemporaryFile()
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(sys.argv[1])
            except PermissionError:
                print("EACCES"); sys.exit()
            try:
                s.sendall(b'{"status":{}}\\n')
            except BrokenPipeError:
                pass  # It has said why.
            print(s.makefile().readline(), end="")
            """
        let child = Child(
            ["/usr/bin/setpriv"] + arguments + ["/usr/bin/python3", "-c", script, server.path])
        child.standardOutput = try output.writer()
        try child.run()
        child.waitUntilExit()
        return try output.text()
    }

    /// One account opens as many connections as it gets; another one, and root, still find places.
    @Test(
        .enabled(
            if: isRoot && access("/usr/bin/setpriv", X_OK) == 0 && access("/usr/bin/python3", X_OK) == 0,
            "needs root, setpriv and python3"))
    func oneAccountDoesNotGetAllPlaces() throws {
        let server = try TestServer {
            $0.mode = 0o666
            $0.accountConnectionLimit = 5
            $0.connectionLimit = 12
        }
        chmod((server.path as NSString).deletingLastPathComponent, 0o755)
        let output = try TemporaryFile()
        let script = """
            import socket, sys, time
            kept = []
            for _ in range(20):
                s = socket.socket(socket.AF_UNIX)
                s.connect(sys.argv[1])
                try:
                    s.sendall(b'{"subscribe":{}}\\n')
                except BrokenPipeError:
                    pass
                print(s.makefile().readline(), end="", flush=True)
                kept.append(s)
            time.sleep(600)
            """
        let greedy = Child([
            "/usr/bin/setpriv", "--reuid=3", "--regid=9", "--clear-groups", "/usr/bin/python3", "-c", script,
            server.path,
        ])
        greedy.standardOutput = try output.writer()
        try greedy.run()
        defer { greedy.end() }
        try output.wait { $0.split(separator: "\n").count == 20 }
        let answers = try output.text().split(separator: "\n")
        #expect(answers.count { $0.contains("subscribed") } == 5)
        #expect(answers.count { $0.contains("this account has 5 connections already") } == 15)
        let answer = "{\"status\":{\"uptime_s\":1}}\n"
        #expect(try ask(server, as: ["--reuid=1", "--regid=9", "--clear-groups"]) == answer)
        // Root and the daemon's own account are bounded by all places alone.
        let own = try (0..<7).map { _ in try server.client() }
        try own.last?.subscribe()
    }

    @Test(
        .enabled(
            if: isRoot && access("/usr/bin/setpriv", X_OK) == 0 && access("/usr/bin/python3", X_OK) == 0,
            "needs root, setpriv and python3"))
    func otherAccountsAreTakenByNameAndByGroup() throws {
        let answer = "{\"status\":{\"uptime_s\":1}}\n"
        let server = try TestServer {
            $0.mode = 0o666
            $0.users = ["daemon"]
            $0.groups = ["bin"]
        }
        let plain = ["--clear-groups"]
        #expect(try ask(server, as: ["--reuid=1", "--regid=9"] + plain) == answer)
        #expect(try ask(server, as: ["--reuid=3", "--regid=2"] + plain) == answer)
        #expect(try ask(server, as: ["--reuid=3", "--regid=9", "--groups=8,2"]) == answer)
        #expect(try ask(server, as: ["--reuid=3", "--regid=9", "--groups=8"]).contains("no permission"))
        #expect(server.notes.said.withLock { $0.contains { $0.contains("refused uid 3 pid ") } })

        let closed = try TestServer { $0.mode = 0o600 }
        #expect(try ask(closed, as: ["--reuid=3", "--regid=9"] + plain) == "EACCES\n")
    }
}
