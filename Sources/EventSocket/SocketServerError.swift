package import LinuxSystem

/// Why the socket cannot be opened.
package enum SocketServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another process listens at the path.
    case inUse(String)
    /// The file at the path is no socket.
    case noSocket(String)
    /// No socket can have the path.
    case longPath(String)
    /// There is no account of that name.
    case unknownUser(String)
    /// There is no group of that name.
    case unknownGroup(String)
    /// The socket cannot be given to that group.
    case foreignGroup(String, SystemError)
    /// A system call failed.
    case system(SystemError)

    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .inUse(let path): "\(path): another process answers on this socket; is the daemon running already?"
        case .noSocket(let path): "\(path): is no socket and is left alone; move it away or choose another path"
        case .longPath(let path):
            "\(path): a socket's path has from 1 to \(UnixAddress.longestPath) bytes, this one has \(path.utf8.count)"
        case .unknownUser(let name): "there is no account `\(name)`"
        case .unknownGroup(let name): "there is no group `\(name)`"
        case .foreignGroup(let name, let error):
            "the socket cannot be given to the group `\(name)` (\(error.reason)): the daemon has to be a member of it, "
                + "and to see it (PrivateUsers=no)"
        case .system(let error): error.description
        }
    }
}
