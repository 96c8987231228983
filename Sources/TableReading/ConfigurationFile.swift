import Glibc

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
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (mayWait ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw .file(path: path, ConfigurationError.FileProblem(code: errno)) }
        defer { close(descriptor) }
        if !mayWait {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
                throw .file(path: path, .directory)
            }
            guard status.st_mode & S_IFMT == S_IFREG else { throw .file(path: path, .irregular) }
        }

        var text: [UInt8] = []
        while text.count <= largestSize {
            var code: Int32 = 0
            let wanted = min(65_536, largestSize + 1 - text.count)
            let chunk = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let result = Glibc.read(descriptor, buffer.baseAddress, wanted)
                code = result < 0 ? errno : 0
                count = max(result, 0)
            }
            if code == EINTR { continue }
            guard code == 0 else { throw .file(path: path, ConfigurationError.FileProblem(code: code)) }
            if chunk.isEmpty { return text }
            text += chunk
        }
        throw .file(path: path, .tooLarge(limit: largestSize))
    }
}
