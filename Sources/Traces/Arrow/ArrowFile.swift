import Binnacle
import PosixCalls

/// An Arrow stream in a mapped file: its schema, and its record batches by their offsets.
///
/// Each stream of samples walks through the batches by itself, so that no list of them is kept; the last ones parsed
/// are
/// cached for the other streams.
final class ArrowFile {
    /// What is at an offset in the file.
    enum Finding {
        case batch(ArrowBatch, next: Int)
        /// A message without samples, such as the values of a dictionary.
        case other(next: Int)
        /// The end of the stream, or of the file.
        case end
        /// The file cannot be read from there on.
        case fault(TraceError)
    }

    let file: MappedFile
    let schema: ArrowSchema
    /// The offset of the first message after the schema.
    let firstMessage: Int
    private let decoding: ArrowScanDecoding?

    /// The offset of an incomplete last message.
    private(set) var tornAt: Int?
    private var isTornTold = false
    /// The number of readers that have not reached the end.
    private var openReaders = 0
    /// Whether any reader read a sample.
    private var hasSample = false
    private var remembered: [(offset: Int, finding: Finding)?] = Array(repeating: nil, count: 64)

    var path: String { file.path }
    var bytes: UnsafeRawBufferPointer { file.bytes }

    /// Reads the schema of an Arrow stream; raw scans are decoded if there is a `makeDecoder`.
    init(_ file: MappedFile, makeDecoder: ScanDecoderMaker?, assumedKind: SampleKind?) throws(TraceError) {
        self.file = file
        (schema, firstMessage) = try mapError({ TraceError(.data, path: file.path, $0.message) }) {
            () throws(ArrowFault) in try Self.schema(file.bytes, needsScans: makeDecoder != nil)
        }
        let metadata = schema.metadata
        decoding = makeDecoder.map { ArrowScanDecoding($0, metadata: metadata, assumedKind: assumedKind) }
    }

    private static func schema(
        _ bytes: UnsafeRawBufferPointer, needsScans: Bool
    ) throws(ArrowFault) -> (ArrowSchema, Int) {
        guard case .message(let message) = try ArrowMessage.find(in: bytes, at: 0) else {
            throw ArrowFault("ends within its schema: nothing was recorded")
        }
        guard message.header == ArrowMessage.Header.schema, let table = try message.table.table(2) else {
            throw ArrowFault("does not begin with a schema")
        }
        return (
            try ArrowSchema(table, version: message.version(), needsScans: needsScans), message.body.upperBound
        )
    }

    /// Parses what is at the offset after a message.
    func find(at offset: Int) -> Finding {
        let place = offset >> 3 & (remembered.count - 1)
        if let known = remembered[place], known.offset == offset { return known.finding }
        let finding: Finding
        do throws(ArrowFault) {
            finding = try read(at: offset)
        } catch {
            finding = .fault(TraceError(.data, path: path, "message at byte \(offset): \(error.message)"))
        }
        remembered[place] = (offset, finding)
        return finding
    }

    private func read(at offset: Int) throws(ArrowFault) -> Finding {
        switch try ArrowMessage.find(in: bytes, at: offset) {
        case .torn:
            tornAt = offset
            return .end
        case .end(let next):
            guard next == bytes.count else {
                throw ArrowFault(
                    "\(bytes.count - next) bytes behind the end of the stream: were files put together? convert takes several"
                )
            }
            return .end
        case .message(let message):
            switch message.header {
            case ArrowMessage.Header.batch:
                guard let batch = try ArrowBatch(message, schema, in: bytes, decoding: decoding) else {
                    tornAt = offset
                    return .end
                }
                return .batch(batch, next: message.body.upperBound)
            case ArrowMessage.Header.schema:
                throw ArrowFault("a second schema: were files put together? convert takes several")
            default:
                guard message.body.upperBound <= bytes.count else {
                    tornAt = offset
                    return .end
                }
                return .other(next: message.body.upperBound)
            }
        }
    }

    /// The first batch; `nil` when there is none.
    func firstBatch() throws(TraceError) -> ArrowBatch? {
        var offset = firstMessage
        while true {
            switch find(at: offset) {
            case .batch(let batch, _): return batch
            case .other(let next): offset = next
            case .end: return nil
            case .fault(let error): throw error
            }
        }
    }

    /// All sensor numbers in the readable part of the file.
    func presentSensors() -> SensorSet {
        var present = SensorSet()
        var offset = firstMessage
        while true {
            switch find(at: offset) {
            case .batch(let batch, let next):
                present.formUnion(batch.present)
                offset = next
                file.release(upTo: offset)
            case .other(let next): offset = next
            case .end, .fault: return present
            }
        }
    }

    /// The offset of an incomplete last message; `nil` after the first call.
    func takeTorn() -> Int? {
        guard let tornAt, !isTornTold else { return nil }
        isTornTold = true
        return tornAt
    }

    /// Registers a reader.
    func add() { openReaders += 1 }

    /// Records that a reader read a sample.
    func didRead() { hasSample = true }

    /// Unregisters a reader at its end; throws ``TraceError`` when none of the readers had a sample.
    func remove() throws(TraceError) {
        openReaders -= 1
        guard openReaders == 0, !hasSample else { return }
        throw TraceError(.data, path: path, "has a schema and no usable sample")
    }
}
