import Glibc

extension Configuration {
    /// Reads and checks a file.
    ///
    /// A pipe will do as well as a file. Nothing is kept open.
    ///
    /// - Throws: ``ConfigurationError`` when the file cannot be read, or with everything that is wrong with it.
    package static func read(path: String) throws(ConfigurationError) -> Configuration {
        try parse(contents(of: path), path: path)
    }

    private static func contents(of path: String) throws(ConfigurationError) -> [UInt8] {
        // The system would end the path at a NUL, and open another file than the one that was named.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .file(path: path, .missing) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(path: path, problem(code: errno)) }
        defer { close(descriptor) }

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
            guard code == 0 else { throw .file(path: path, problem(code: code)) }
            if chunk.isEmpty { return text }
            text += chunk
        }
        throw .file(path: path, .tooLarge(limit: largestSize))
    }

    private static func problem(code: Int32) -> ConfigurationError.FileProblem {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EISDIR: .directory
        case EACCES, EPERM: .forbidden
        default: .system(code: code, reason: String(cString: strerror(code)))
        }
    }
}
