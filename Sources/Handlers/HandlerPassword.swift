import Glibc
import LinuxSystem
import PlainText
package import TableReading

/// The location of a password, which is read at each use, so that it can be changed.
package enum HandlerPassword: Sendable, Equatable {
    /// A file with the password and an optional line end.
    case file(String)
    /// A credential that the service manager hands to the service (systemd.exec(5)).
    case credential(String)

    /// Why there is no password, as a part of a sentence.
    package struct Failure: Error, Equatable {
        package let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    /// The maximum size of a password in MQTT's CONNECT, in bytes.
    private static let longest = 65_535

    /// Reads the password; throws also when other users can read the file.
    package func read() throws(Failure) -> String {
        let path = try path()
        let explain = { (failure: SmallFile.Failure) in Failure("\(path): \(failure.reason)") }
        var bytes = try mapError(explain) { () throws(SmallFile.Failure) in
            // The limit includes a line end.
            try SmallFile.bytes(path, limit: Self.longest + 2, kind: .regular)
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw Failure("\(path): holds no password") }
        guard bytes.count <= Self.longest else { throw Failure("\(path): is too long for a password") }
        guard !bytes.contains(0), let password = String(validating: bytes, as: UTF8.self) else {
            throw Failure("\(path): is no password in UTF-8")
        }
        return password
    }

    private func path() throws(Failure) -> String {
        switch self {
        case .file(let path):
            guard !Self.isReadableByAll(path) else {
                throw Failure("\(path): other users can read this password (chmod o-r helps)")
            }
            return path
        case .credential(let name):
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                throw Failure(
                    "credential '\(name)': there are none (CREDENTIALS_DIRECTORY is not set; "
                        + "LoadCredential= in the service's unit hands one over)")
            }
            return String(cString: folder) + "/" + name
        }
    }

    /// Whether users other than the owner and the group can read a file; `false` when it does not exist.
    package static func isReadableByAll(_ path: String) -> Bool {
        ((try? fileStatus(path))?.st_mode ?? 0) & S_IROTH != 0
    }
}

extension HandlerPassword {
    /// Reads `password_file`; `nil` when it cannot be used, which is then reported.
    package static func file(_ table: TableReader, _ key: String) -> HandlerPassword? {
        // If both keys are given, the row of the credential reports it.
        guard table.entry("password_credential") == nil else { return nil }
        guard let entry = table.entry(key), let path = table.file(key) else { return nil }
        guard !isReadableByAll(path) else {
            table.refuse(
                key, at: entry.node.position, "other users can read \(Spelling.quoted(path: path))",
                hint: "chmod o-r takes that right away")
            return nil
        }
        return .file(path)
    }

    /// Reads `password_credential`; `nil` when it cannot be used, which is then reported.
    package static func credential(_ table: TableReader, _ key: String) -> HandlerPassword? {
        guard let entry = table.entry(key) else { return nil }
        guard table.entry("password_file") == nil else {
            table.refuse(
                key, at: entry.keyPosition, with: ["password_file"],
                "\(table.title) has both `password_file` and `\(key)`", hint: "there is one password")
            return nil
        }
        guard let name = table.string(key) else { return nil }
        guard !name.contains("/"), name != ".", name != ".." else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` is a name, and no path",
                hint: "that of a LoadCredential= in the service's unit")
            return nil
        }
        return .credential(name)
    }
}
