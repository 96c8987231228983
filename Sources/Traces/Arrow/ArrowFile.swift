import Binnacle

/// An Arrow stream in a mapped file: its schema, and its record batches by their places.
///
/// Each stream of samples walks through the batches by itself, so that no list of them is kept; what was read of the last
/// ones is remembered, because the others come by soon after.
final class ArrowFile {
    /// What stands at a place in the file.
    enum Finding {
        case batch(ArrowBatch, next: Int)
        /// A message without samples, such as the values of a dictionary.
        case other(next: Int)
        /// The end of the stream, or of the file.
        case end
        /// The file cannot be used from there on.
        case fault(TraceError)
    }

    let file: MappedFile
    let schema: ArrowSchema
    /// Where the first message behind the schema begins.
    let firstMessage: Int
    private let decoding: ArrowScanDecoding?

    /// Where the end of the file was found to be torn, and not told of yet.
    private(set) var tornAt: Int?
    private var isTornTold = false
    /// How many readers have not come to the end yet.
    private var openReaders = 0
    /// Whether any of them read a sample.
    private var hasSample = false
    private var remembered: [(offset: Int, finding: Finding)?] = Array(repeating: nil, count: 64)

    var path: String { file.path }
    var bytes: UnsafeRawBufferPointer { file.bytes }

    /// Reads the schema, and the first batch for what is wrong with all of them.
    ///
    /// - Parameters:
    ///   - file: Begins with a message of an Arrow stream.
    ///   - makeDecoder: Makes what decodes raw scans; `nil` when they are not wanted.
    ///   - assumedKind: What sensors measure of which the file says nothing.
    /// - Throws: ``TraceError`` when its samples cannot be read.
    init(_ file: MappedFile, makeDecoder: ScanDecoderMaker?, assumedKind: SampleKind?) throws(TraceError) {
        self.file = file
        do throws(ArrowFault) {
            (schema, firstMessage) = try Self.schema(file.bytes, needsScans: makeDecoder != nil)
        } catch {
            throw TraceError(.data, path: file.path, error.message)
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

    /// Finds what stands at a place where a message ended.
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

    /// All sensor numbers that occur, up to where the file can be used.
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

    /// Makes sure that what was read was in the file.
    func requireWhole() throws(TraceError) {
        guard file.hasShrunk else { return }
        throw TraceError(.inputOutput, path: path, "the file shrank while it was read: what is left of it is not used")
    }

    /// Where the last message begins, when it is not whole; says so once.
    func takeTorn() -> Int? {
        guard let tornAt, !isTornTold else { return nil }
        isTornTold = true
        return tornAt
    }

    /// Takes note of a reader.
    func add() { openReaders += 1 }

    /// Takes note of a sample that was read.
    func didRead() { hasSample = true }

    /// Takes note of a reader that came to the end, and makes sure that one of them had a sample.
    func remove() throws(TraceError) {
        openReaders -= 1
        guard openReaders == 0, !hasSample else { return }
        throw TraceError(.data, path: path, "has a schema and no usable sample")
    }
}
