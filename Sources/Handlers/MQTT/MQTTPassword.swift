import Glibc
import LinuxSystem

/// Where a password is; it is read each time it is needed, so that it may be changed.
package enum MQTTPassword: Sendable, Equatable {
    /// A file that holds it, and an end of line if any.
    case file(String)
    /// A credential that the service manager hands to the service (systemd.exec(5)).
    case credential(String)

    /// The most bytes that a CONNECT can carry.
    private static let longest = 65_535

    /// Reads it.
    ///
    /// - Returns: The password, without the end of its line.
    /// - Throws: ``MQTTFailure`` when it cannot be read or used, or when everybody could read it.
    func read() throws(MQTTFailure) -> String {
        let path = try path()
        var bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Self.contents(of: path)
        } catch {
            throw MQTTFailure("\(path): \(error.reason)")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw MQTTFailure("\(path): holds no password") }
        guard bytes.count <= Self.longest else { throw MQTTFailure("\(path): is too long for a password") }
        guard !bytes.contains(0), let password = String(validating: bytes, as: UTF8.self) else {
            throw MQTTFailure("\(path): is no password in UTF-8")
        }
        return password
    }

    private func path() throws(MQTTFailure) -> String {
        switch self {
        case .file(let path):
            guard !Self.isReadableByAll(path) else {
                throw MQTTFailure("\(path): everybody can read this password (chmod o-r helps)")
            }
            return path
        case .credential(let name):
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                throw MQTTFailure(
                    "credential '\(name)': there are none (CREDENTIALS_DIRECTORY is not set; "
                        + "LoadCredential= in the service's unit hands one over)")
            }
            return String(cString: folder) + "/" + name
        }
    }

    /// Whether people can read a file who are neither its owner nor in its group; `false` when there is none.
    package static func isReadableByAll(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
    }

    /// A file's bytes, and of one that is too long a few too many.
    private static func contents(of path: String) throws(SystemError) -> [UInt8] {
        // A FIFO without a writer would be waited for.
        let file = try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longest {
            let count = try systemCall("read", path: path) { Glibc.read(file.raw, &piece, piece.count) }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}
