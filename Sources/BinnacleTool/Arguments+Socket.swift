import CommandRows
import EventSocket
import LinuxSystem
import PlainText

extension Arguments {
    /// The named socket, or that of the first daemon that answers: the user's own, then the service.
    var socketPath: String { value(.socket) ?? SocketPath.forClient() }
}

extension LineWriter {
    /// Reports that the user's own daemon answers, unless the socket was named.
    func sayOwnDaemon(_ path: String, isNamed: Bool) {
        guard !isNamed, path != SocketPath.ofService, SocketPath.isAnswered(path) else { return }
        report("your own daemon answers, at \(path.printable)")
    }
}
