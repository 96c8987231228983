import Binnacle
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
