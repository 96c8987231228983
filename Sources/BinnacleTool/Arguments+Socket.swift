import CommandRows
import EventSocket
import LinuxSystem
import PlainText

/// Where a client finds the daemon.
extension Arguments {
    /// The path of the socket that is named, or of the first daemon that answers: the user's own, then the service.
    var socketPath: String { value(.socket) ?? SocketPath.forClient() }
}

extension LineWriter {
    /// Writes which daemon answers, where that is not the service and was not named.
    func sayOwnDaemon(_ path: String, isNamed: Bool) {
        guard !isNamed, path != SocketPath.ofService, SocketPath.isAnswered(path) else { return }
        write("your own daemon answers, at \(path.printable)")
    }
}
