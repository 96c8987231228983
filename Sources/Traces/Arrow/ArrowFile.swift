import ArrowStream
import Binnacle
import PosixCalls

/// An Arrow stream in a mapped file: its schema, and its record batches by their offsets.
///
/// Each stream of samples iterates over the batches by itself, so that no list of them is kept; the last parsed ones are cached
/// for the other streams.
final class ArrowFile {
    /// The item at an offset of the file.
    enum Finding {
        case batch(ArrowBatch, next: Int)
        /// A message without samples: a dictionary batch, or a batch of zero bytes.
        case other(next: Int)
        /// The end of the stream, or of the file.
        case end
        /// The file cannot be read beyond this offset.
        case fault(TraceError)
    }

    let file: MappedFile
    let schema: SampleSchema
    let firstMessage: Int
    /// The number of threads that read the file's blocks, including the reader's.
    let threadCount: Int
    /// Blocks with fewer bytes are read in less time than a thread takes to wake up.
    let chunkBytes: Int
    /// The other threads, from the first use on.
    private(set) lazy var readAhead = threadCount > 1 ? ReadAhead<ArrowBlock>(threadCount: threadCount) : nil
    private let decoding: ArrowScanDecoding?
    /// As ``InputFile/hasUnpackedBatches``.
    private let isUnpacked: Bool
    /// The sensor numbers in the file; `nil` until they are known.
    private var sensors: SensorSet?

    /// The offset of an incomplete last message.
    private(set) var tornAt: Int?
    private var isTornTold = false
    /// The batches that are zero bytes: their offsets, and the number of their rows.
    private var unwritten: [Int: Int] = [:]
    private var openReaders = 0
    private var hasSample = false
    private var remembered: [(offset: Int, finding: Finding)?] = Array(repeating: nil, count: 64)

    var path: String { file.path }
    var bytes: UnsafeRawBufferPointer { file.bytes }

    /// Reads the schema of an Arrow stream; with a `makeDecoder` raw scans are decoded.
    init(
        _ file: MappedFile, isUnpacked: Bool = false, makeDecoder: ScanDecoderMaker?, hints: TraceHints,
        chunking: Chunking
    ) throws(TraceError) {
        self.file = file
        threadCount = file.bytes.count < chunking.fewestBytes ? 1 : chunking.threadCount
        chunkBytes = chunking.chunkBytes
        self.isUnpacked = isUnpacked
        (schema, firstMessage) = try mapError({ TraceError(.data, path: file.path, $0.message) }) {
            () throws(ArrowFault) in try Self.schema(file.bytes, needsScans: makeDecoder != nil)
        }
        let metadata = schema.all.metadata
        decoding = makeDecoder.map { ArrowScanDecoding($0, metadata: metadata, hints: hints) }
    }

    private static func schema(
        _ bytes: UnsafeRawBufferPointer, needsScans: Bool
    ) throws(ArrowFault) -> (SampleSchema, Int) {
        guard case .message(let message) = try ArrowMessage.find(in: bytes, at: 0) else {
            throw ArrowFault("ends within its schema: nothing was recorded")
        }
        guard message.header == ArrowMessage.Header.schema, let table = try message.table.table(2) else {
            throw ArrowFault("does not begin with a schema")
        }
        let schema = try SampleSchema(ArrowSchema(table, version: message.version()), needsScans: needsScans)
        return (schema, message.body.upperBound)
    }

    func find(at offset: Int) -> Finding {
        // Many files have their messages at multiples of 64.
        let place = (offset >> 3 ^ offset >> 9) & (remembered.count - 1)
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
            guard bytes[next...].allSatisfy({ $0 == 0 }) else {
                throw ArrowFault(
                    "\(bytes.count - next) bytes behind the end of the stream: were files put together? convert takes several"
                )
            }
            if next < bytes.count { tornAt = next }
            return .end
        case .message(let message):
            switch message.header {
            case ArrowMessage.Header.batch:
                guard
                    let batch = try ArrowBatch(
                        message, schema, in: bytes, isUnpacked: isUnpacked, decoding: decoding)
                else {
                    tornAt = offset
                    return .end
                }
                if let sensors, let other = batch.present.numbers.first(where: { !sensors.contains($0) }) {
                    throw ArrowFault(
                        "samples of sensor \(other), which the schema does not describe: the file is damaged, or was put "
                            + "together from several; convert takes several")
                }
                if batch.endsInZeroBytes(bytes) {
                    unwritten[offset] = batch.rowCount
                    return .other(next: message.body.upperBound)
                }
                return .batch(batch, next: message.body.upperBound)
            case ArrowMessage.Header.schema:
                throw ArrowFault("a second schema: were files put together? convert takes several")
            case ArrowMessage.Header.dictionary where !schema.all.dictionaries.isEmpty:
                try requireDictionary(message)
                guard message.body.upperBound <= bytes.count else {
                    tornAt = offset
                    return .end
                }
                return .other(next: message.body.upperBound)
            default:
                // Skipping it would lose samples without a report.
                throw ArrowFault("a message of type \(message.header), which this file cannot have: it is damaged")
            }
        }
    }

    /// Throws ``ArrowFault`` when a message is not a dictionary of the schema: it may be a damaged record batch, whose samples
    /// would be lost without a report.
    private func requireDictionary(_ message: ArrowMessage) throws(ArrowFault) {
        guard let table = try message.table.table(2) else { throw .damaged }
        let number = try table.integer(0, default: Int64(0))
        guard schema.all.dictionaries.contains(number), let values = try table.table(1) else {
            throw ArrowFault("a dictionary \(number), which the schema does not have: the file is damaged")
        }
        let nodes = try values.vector(1, stride: 16)
        let rows = try values.integer(0, default: Int64(0))
        guard nodes.count > 0, rows >= 0, try nodes.integer(Int64.self, of: 0) == rows else { throw .damaged }
    }

    /// Calls `body` with each batch and the offset after it until it returns `false`; returns the fault that ended the iteration.
    private func forEachBatch(_ body: (ArrowBatch, _ next: Int) -> Bool) -> TraceError? {
        var offset = firstMessage
        while true {
            switch find(at: offset) {
            case .batch(let batch, let next):
                guard body(batch, next) else { return nil }
                offset = next
            case .other(let next): offset = next
            case .end: return nil
            case .fault(let error): return error
            }
        }
    }

    func firstBatch() throws(TraceError) -> ArrowBatch? {
        var first: ArrowBatch?
        let fault = forEachBatch { batch, _ in
            first = batch
            return false
        }
        if let fault { throw fault }
        return first
    }

    /// The first vectors of a sensor, and the median distance of their stamps, in seconds.
    func firstVectors(of sensor: UInt8, most count: Int) -> (values: VectorStatistics, stepSeconds: Double?) {
        var axes: [[Double]] = [[], [], []]
        var times: [Int64] = []
        _ = forEachBatch { batch, _ in
            for row in 0..<batch.rowCount where bytes[batch.sensors + row] == sensor && axes[0].count < count {
                times.append(bytes.loadUnaligned(fromByteOffset: batch.times + 8 * row, as: Int64.self))
                for (axis, place) in [batch.x, batch.y, batch.z].enumerated() {
                    axes[axis].append(Double(bytes.loadUnaligned(fromByteOffset: place + 4 * row, as: Float.self)))
                }
            }
            return axes[0].count < count
        }
        let steps = zip(times, times.dropFirst()).map { Units.seconds(from: $0, to: $1) }.sorted()
        return (VectorStatistics(axes[0], axes[1], axes[2]), steps.count > 9 ? steps[steps.count / 2] : nil)
    }

    /// From now on a sample of any other sensor is a fault, because no reader would deliver it.
    func expect(only numbers: [UInt8]) {
        sensors = SensorSet(numbers)
        // The batches parsed before were not checked against these numbers.
        remembered = remembered.map { _ in nil }
    }

    /// All sensor numbers in the readable part of the file.
    func presentSensors() -> SensorSet {
        var present = SensorSet()
        _ = forEachBatch { batch, next in
            present.formUnion(batch.present)
            file.release(upTo: next)
            return true
        }
        return present
    }

    /// The batches that were skipped, in their order; none after the first call.
    func removeUnwritten() -> [(offset: Int, rowCount: Int)] {
        defer { unwritten = [:] }
        return unwritten.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The offset of an incomplete last message; `nil` after the first call.
    func removeTornMessage() -> Int? {
        guard let tornAt, !isTornTold else { return nil }
        isTornTold = true
        return tornAt
    }

    func add() { openReaders += 1 }

    func didRead() { hasSample = true }

    /// Unregisters a reader at its end; throws ``TraceError`` when it is the last one and no reader had a sample.
    func remove() throws(TraceError) {
        openReaders -= 1
        guard openReaders == 0, !hasSample else { return }
        throw TraceError(.data, path: path, "has a schema and no usable sample")
    }
}
