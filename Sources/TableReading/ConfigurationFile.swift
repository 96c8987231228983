import LinuxSystem

/// The bytes of a configuration file.
package enum ConfigurationFile {
    /// The most bytes that a file may have.
    package static let largestSize = 1 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - mayWait: Whether it may be a pipe; nobody waits for one that lies in a folder.
    /// - Returns: Its bytes.
    /// - Throws: ``ConfigurationError`` when it cannot be read.
    package static func contents(of path: String, mayWait: Bool) throws(ConfigurationError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            return try SmallFile.bytes(path, limit: largestSize, kind: mayWait ? .any : .regular)
        } catch {
            switch error {
            case .system(let error): throw .file(path: path, ConfigurationError.FileProblem(code: error.code))
            case .directory: throw .file(path: path, .directory)
            case .irregular: throw .file(path: path, .irregular)
            case .tooLarge: throw .file(path: path, .tooLarge(limit: largestSize))
            }
        }
    }
}
