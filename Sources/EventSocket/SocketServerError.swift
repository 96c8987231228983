package import LinuxSystem

/// Why the socket cannot be opened.
package enum SocketServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another process listens at the path.
    case inUse(String)
    case noSocket(String)
    case longPath(String)
    case relativePath(String)
    case unknownUser(String)
    case unknownGroup(String)
    /// The socket's group cannot be set to this one.
    case foreignGroup(String, SystemError)
    case system(SystemError)

    /// The error and the remedy.
    package var description: String {
        switch self {
        case .inUse(let path): "\(path): another process answers on this socket; is the daemon running already?"
        case .noSocket(let path): "\(path): is no socket and is left alone; move it away or choose another path"
        case .longPath(let path):
            "\(path): a socket's path has from 1 to \(UnixAddress.longestPath) bytes, this one has \(path.utf8.count); "
                + "set a shorter `path` in [socket], or --set socket.path=PATH"
        case .relativePath(let path): "\(path): a socket's path begins with /; set such a `path` in [socket]"
        case .unknownUser(let name): "there is no account `\(name)`"
        case .unknownGroup(let name): "there is no group `\(name)`"
        case .foreignGroup(let name, let error):
            "the socket cannot be given to the group `\(name)` (\(error.reason)): the daemon has to be a member of it, "
                + "and to see it (PrivateUsers=no)"
        case .system(let error): error.description
        }
    }
}
