import Foundation
import TestSupport
import Testing

/// A mosquitto broker of a test's own, on a free port of this machine.
final class Broker {
    static let program = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"].first(where: isExecutable)
    /// What is said when the tests with a broker are left out.
    static let absence: Comment = "mosquitto is not installed; `scripts/setup test` installs it"

    let port: Int
    let folder: TemporaryFolder
    private let configuration: String
    private var child: Child?

    /// Starts a broker with further lines in its configuration, in which `FOLDER` stands for its folder.
    ///
    /// A user is written into the file `users`.
    init(_ lines: String = "allow_anonymous true", user: (name: String, password: String)? = nil) throws {
        folder = try TemporaryFolder()
        if let user {
            // The broker's own tool writes it: versions differ in the lengths of salts that they read.
            let child = Child(["mosquitto_passwd", "-b", "-c", folder.path + "/users", user.name, user.password])
            try child.run()
            child.waitUntilExit()
            try #require(child.terminationStatus == 0)
        }
        port = try freePort()
        // Root's broker would become another user, who cannot see the folder.
        configuration = """
            user root
            listener \(port) 127.0.0.1
            log_dest file \(folder.path)/log
            log_type all
            max_queued_messages 0
            \(lines.replacing("FOLDER", with: folder.path))

            """
        try folder.write("broker.conf", configuration)
        try start()
    }

    deinit {
        child?.end()
    }

    /// Starts it, again after ``stop()``, and waits until it can be reached.
    func start() throws {
        let child = Child([try #require(Self.program, Self.absence), "-c", folder.path + "/broker.conf"])
        try child.run()
        self.child = child
        try waitUntil("the broker; \(contents(of: folder.path + "/log") ?? "it says nothing")") {
            guard child.isRunning else { throw BrokerError(contents(of: folder.path + "/log") ?? "it ended") }
            return Self.answers(port)
        }
    }

    /// Stops it, in order or with a kill, and waits for its end.
    func stop(_ signal: Int32 = SIGTERM) {
        guard let child else { return }
        // mosquitto forgets a signal that comes while it starts.
        while child.isRunning {
            kill(child.processIdentifier, signal)
            usleep(50_000)
        }
        self.child = nil
    }

    /// What it has logged.
    var log: String { contents(of: folder.path + "/log") ?? "" }

    struct BrokerError: Error {
        let words: String
        init(_ words: String) { self.words = words }
    }

    private static func answers(_ port: Int) -> Bool {
        Wire.connected(to: port) != nil
    }
}

func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

/// A port that no program listens on, also a while later: the system gives none below 32768 to those who ask for any.
func freePort() throws -> Int {
    while true {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        let port = Int.random(in: 20_000..<32_768)
        if withAddress(port, { bind(socket, $0, $1) }) == 0 { return port }
        try #require(errno == EADDRINUSE)
    }
}

/// A socket that listens on a free port of this machine, with its port.
func listener() throws -> (socket: Int32, port: Int) {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(withAddress(0) { bind(socket, $0, $1) } == 0)
    try #require(listen(socket, 16) == 0)
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    try #require(result == 0)
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
}
