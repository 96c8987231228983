import Glibc
import PosixCalls

/// The output file of a recording or a picture, or standard output; it keeps the first write error and writes nothing after it.
package final class RecordingFile {
    private(set) var failure: TraceError?
    /// Whether the failure was that the reading end of a pipe was closed.
    private(set) var isReaderGone = false

    private let path: String
    /// `nil` for standard output, which is not closed.
    private let file: Descriptor?

    /// Creates the file, where `-` is standard output; throws if it exists and `replacing` is false.
    package init(path: String, replacing: Bool) throws(TraceError) {
        self.path = path
        guard path != "-" else {
            file = nil
            return
        }
        // A recording cannot be repeated, so an existing one is not truncated by mistake.
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL)
        file = try mapError({ Self.error(creating: path, $0) }) { () throws(SystemError) in
            Descriptor(owning: try systemCall("open", path: path) { open(path, flags, 0o644) })
        }
    }

    /// Writes all bytes; throws ``TraceError`` at the first failure only.
    package func write(_ bytes: [UInt8]) throws(TraceError) {
        guard failure == nil else { return }
        do throws(SystemError) {
            try writeAll(bytes, to: file?.raw ?? STDOUT_FILENO)
        } catch {
            isReaderGone = error.isReaderGone
            let name = file == nil ? "standard output" : path
            let failure = TraceError(.inputOutput, path: name, "writing failed: \(error.reason)")
            self.failure = failure
            throw failure
        }
    }

    private static func error(creating path: String, _ error: SystemError) -> TraceError {
        switch error.code {
        case EEXIST:
            TraceError(
                .cannotCreate, path: path, "is there already: choose another name, or overwrite it with --force")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be written by this user (\(error.reason))")
        default:
            TraceError(.cannotCreate, path: path, "cannot be created: \(error.reason)")
        }
    }
}
