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
        // A FIFO without a writer would be waited for, were it opened otherwise. The end of a line may come on top.
        var bytes = try mapError({ Self.failure($0, path) }) { () throws(SmallFile.Failure) in
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

    private static func failure(_ failure: SmallFile.Failure, _ path: String) -> MQTTFailure {
        switch failure {
        case .system(let error): MQTTFailure("\(path): \(error.reason)")
        case .tooLarge, .directory, .irregular: MQTTFailure("\(path): is too long for a password")
        }
    }
}
