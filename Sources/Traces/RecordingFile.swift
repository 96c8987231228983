import Binnacle

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
        file = try OutputFile.create(path: path, replacing: replacing)
        self.path = path
    }

    /// Writes bytes.
    ///
    /// - Throws: ``TraceError`` when writing fails, the first time.
    func write(_ bytes: [UInt8]) throws(TraceError) {
        guard failure == nil else { return }
        let code = file.write(bytes)
        guard code != 0 else {
            count += bytes.count
            return
        }
        isReaderGone = code == OutputFile.readerIsGone
        let name = path == OutputFile.standardOutput ? "standard output" : path
        let error = TraceError(.inputOutput, path: name, "writing failed: \(SystemText.of(code))")
        failure = error
        throw error
    }
}
