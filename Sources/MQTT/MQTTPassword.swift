import Glibc
import LinuxSystem

/// The location of a password, which is read at each connection, so that it can be changed.
package enum MQTTPassword: Sendable, Equatable {
    /// A file with the password and an optional line end.
    case file(String)
    /// A credential that the service manager hands to the service (systemd.exec(5)).
    case credential(String)

    /// The maximum size of a password in a CONNECT, in bytes.
    private static let longest = 65_535

    /// Reads the password; throws also when other users can read the file.
    func read() throws(MQTTFailure) -> String {
        let path = try path()
        // The limit includes a line end. A FIFO without a writer is not waited for.
        let explain = { (failure: SmallFile.Failure) in
            if case .system(let error) = failure { return MQTTFailure("\(path): \(error.reason)") }
            return MQTTFailure("\(path): is too long for a password")
        }
        var bytes = try mapError(explain) { () throws(SmallFile.Failure) in
            try SmallFile.bytes(path, limit: Self.longest + 2, kind: .present)
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
                throw MQTTFailure("\(path): other users can read this password (chmod o-r helps)")
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

    /// Whether users other than the owner and the group can read a file; `false` when it does not exist.
    static func isReadableByAll(_ path: String) -> Bool {
        ((try? fileStatus(path))?.st_mode ?? 0) & S_IROTH != 0
    }
}
