import Glibc

/// An open file that is read forward, in pieces, with read(2).
///
/// A mapping would be faster to write down, but a file that shrinks under a mapping kills the process with SIGBUS, unless
/// it is prepared for it as ``MappedFile`` is; read(2) just comes to the end.
struct InputFile: ~Copyable {
    let path: String
    /// The size when it was opened; `nil` for a pipe or a device.
    let size: Int64?
    /// For as long as this value lives.
    let descriptor: Int32

    private init(path: String, size: Int64?, descriptor: Int32) {
        self.path = path
        self.size = size
        self.descriptor = descriptor
    }

    /// Whether a path leads to a regular file.
    static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Opens a file for reading.
    static func open(path: String) throws(TraceError) -> InputFile {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(opening: path, code: errno) }
        var status = stat()
        let isExamined = fstat(descriptor, &status) == 0
        let kind = status.st_mode & S_IFMT
        // From here on the descriptor has an owner that closes it.
        let file = InputFile(path: path, size: kind == S_IFREG ? Int64(status.st_size) : nil, descriptor: descriptor)
        guard isExamined else {
            throw TraceError(.inputOutput, path: path, "cannot be examined: \(SystemText.of(errno))")
        }
        guard kind != S_IFDIR else {
            throw TraceError(
                .noInput, path: path,
                "is a directory: name the trace files in it, for example \(path)/Accelerometer.csv")
        }
        return file
    }

    deinit {
        close(descriptor)
    }

    /// The size now; `nil` when it cannot be known.
    var currentSize: Int64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The file's first bytes, without reading on; fewer where it ends, none of a pipe.
    func firstBytes(_ count: Int) -> [UInt8] {
        guard size != nil else { return [] }
        var bytes = Array(repeating: UInt8(0), count: count)
        let result = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, result)))
    }

    /// Reads up to a number of bytes, and waits for the first one.
    ///
    /// - Returns: How many were read; 0 at the end of the file, and when the wait was cancelled.
    func read(
        into buffer: UnsafeMutableRawPointer, count: Int, isCancelled: () -> Bool
    ) throws(TraceError) -> Int {
        while true {
            if size == nil, !isReady() {
                if isCancelled() { return 0 }
                continue
            }
            let result = Glibc.read(descriptor, buffer, count)
            if result >= 0 { return result }
            if errno != EINTR && errno != EAGAIN {
                throw TraceError(.inputOutput, path: path, "reading failed: \(SystemText.of(errno))")
            }
        }
    }

    /// Waits until a pipe has something, at most half a second: a signal that comes just before the wait would not end it.
    private func isReady() -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let result = poll(&input, 1, 500)
        // What poll cannot do, read will complain about.
        return result > 0 || (result < 0 && errno != EINTR)
    }

    private static func error(opening path: String, code: Int32) -> TraceError {
        switch code {
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP:
            TraceError(.noInput, path: path, "no such file (\(SystemText.of(code)))")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be read by this user (\(SystemText.of(code)))")
        default:
            TraceError(.inputOutput, path: path, "cannot be opened: \(SystemText.of(code))")
        }
    }
}
