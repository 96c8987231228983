import Binnacle
import Glibc
import PosixCalls

/// The file of a recording: keeps the first error that a write met, and writes nothing after it.
final class RecordingFile {
    let path: String
    private(set) var failure: TraceError?
    /// Whether the failure was the reader at the other end of a pipe having gone.
    private(set) var isReaderGone = false
    /// How many bytes were written.
    private(set) var count = 0

    private let file: OutputFile

    init(path: String, replacing: Bool) throws(TraceError) {
        file = try OutputFile(creating: path, replacing: replacing)
        self.path = path
    }

    /// Writes bytes.
    ///
    /// - Throws: ``TraceError`` when writing fails, the first time.
    func write(_ bytes: [UInt8]) throws(TraceError) {
        guard failure == nil else { return }
        do throws(SystemError) {
            try file.write(bytes)
            count += bytes.count
        } catch {
            isReaderGone = error.isReaderGone
            let name = path == OutputFile.standardOutput ? "standard output" : path
            let failure = TraceError(.inputOutput, path: name, "writing failed: \(error.reason)")
            self.failure = failure
            throw failure
        }
    }
}

/// An open file, or standard output.
struct OutputFile {
    /// The path that stands for standard output.
    static let standardOutput = "-"

    /// `nil` for standard output, which stays open.
    private let file: Descriptor?

    /// Makes a file.
    ///
    /// - Parameters:
    ///   - path: Where; `-` is standard output.
    ///   - replacing: Whether a file that is there already may be emptied. Otherwise it is refused, because a recording
    ///     cannot be made again.
    /// - Throws: ``TraceError`` with the system's reason.
    init(creating path: String, replacing: Bool) throws(TraceError) {
        guard path != Self.standardOutput else {
            file = nil
            return
        }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL)
        file = try mapError({ Self.error(creating: path, $0) }) { () throws(SystemError) in
            Descriptor(owning: try systemCall("open", path: path) { open(path, flags, 0o644) })
        }
    }

    /// Writes all bytes, however often it takes.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: file?.raw ?? STDOUT_FILENO)
    }

    private static func error(creating path: String, _ error: SystemError) -> TraceError {
        switch error.code {
        case EEXIST:
            TraceError(
                .cannotCreate, path: path, "is there already, and recordings are not overwritten: choose another name")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be written by this user (\(error.reason))")
        default:
            TraceError(.cannotCreate, path: path, "cannot be created: \(error.reason)")
        }
    }
}
