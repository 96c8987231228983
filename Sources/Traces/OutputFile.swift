import Glibc

/// An open file, or standard output, that is written with write(2).
struct OutputFile: ~Copyable {
    /// The path that stands for standard output.
    static let standardOutput = "-"
    /// The error number of a pipe whose reader has gone.
    static let readerIsGone = EPIPE

    let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Makes a file.
    ///
    /// - Parameters:
    ///   - path: Where; `-` is standard output.
    ///   - replacing: Whether a file that is there already may be emptied. Otherwise it is refused, because a recording
    ///     cannot be made again.
    /// - Returns: The file, empty.
    /// - Throws: ``TraceError`` with the system's reason.
    static func create(path: String, replacing: Bool) throws(TraceError) -> OutputFile {
        guard path != standardOutput else { return OutputFile(path: path, descriptor: STDOUT_FILENO) }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL)
        while true {
            let descriptor = Glibc.open(path, flags, 0o644)
            if descriptor >= 0 { return OutputFile(path: path, descriptor: descriptor) }
            if errno != EINTR { throw error(creating: path, code: errno) }
        }
    }

    deinit {
        if descriptor != STDOUT_FILENO { close(descriptor) }
    }

    /// Writes all bytes, however often it takes.
    ///
    /// - Returns: 0, or the number of the error that ended it.
    func write(_ bytes: [UInt8]) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var written = 0
            while written < bytes.count {
                let result = Glibc.write(descriptor, start + written, bytes.count - written)
                if result >= 0 {
                    written += result
                } else if errno == EAGAIN {
                    // Whoever shares the descriptor made it non-blocking; waiting for room is what blocking means.
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&room, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    private static func error(creating path: String, code: Int32) -> TraceError {
        switch code {
        case EEXIST:
            TraceError(
                .cannotCreate, path: path, "is there already, and recordings are not overwritten: choose another name")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be written by this user (\(SystemText.of(code)))")
        default:
            TraceError(.cannotCreate, path: path, "cannot be created: \(SystemText.of(code))")
        }
    }
}
