/// The messages of some topics of an MCAP file, in the file's order: each with its whole record, as the bytes of a row.
final class MCAPMessages: RowInput {
    private(set) var consumed: Int64 = 0
    /// The number of messages so far.
    private(set) var lineNumber = 0
    var path: String { file.file.path }
    var size: Int64? { Int64(file.file.bytes.count) }
    var hasShrunk: Bool { file.file.hasShrunk }
    var isLineReady: Bool { true }

    private let file: MCAPFile
    private let ids: [UInt16]
    /// Whether an end that was not written is a row; one reader of a file tells it.
    private let tellsTorn: Bool
    /// The record that is read, of the file and not of a chunk, and the one behind it.
    private var (place, offset) = (0, MCAPRecord.magic.count)
    private var chunk: (records: MCAPChunk, offset: Int)?
    private var last: LineReader.Line?
    private var isPutBack = false
    private var isAtEnd = false

    init(_ file: MCAPFile, of ids: [UInt16], tellsTorn: Bool = false) {
        self.file = file
        self.ids = ids
        self.tellsTorn = tellsTorn
    }

    func putBack() {
        isPutBack = true
        lineNumber -= 1
    }

    func next() throws(TraceError) -> LineReader.Line? {
        if isPutBack {
            isPutBack = false
            lineNumber += 1
            return last
        }
        while !isAtEnd {
            // Not for each message of a chunk, which is short.
            guard chunk != nil || !file.isCancelled() else { return nil }
            let start = chunk?.offset ?? offset
            let found = MCAPFinding(in: chunk?.records.bytes ?? file.file.bytes, at: start)
            guard let record = found, record.opcode != 0 else {
                if try endsChunk(at: start) { continue }
                return try tornLine(at: start)
            }
            if chunk == nil {
                file.file.release(upTo: start)
                (place, offset) = (start, start + record.bytes.count)
                consumed = Int64(offset)
            } else {
                chunk?.offset += record.bytes.count
            }
            switch record.kind {
            case .message:
                guard let message = MCAPMessage(record.bytes) else {
                    throw file.damage("a message without a head", at: place)
                }
                guard ids.contains(message.topic) else {
                    try file.requireDescription(of: message.topic, at: place)
                    continue
                }
                lineNumber += 1
                last = LineReader.Line(
                    bytes: record.bytes.bindMemory(to: UInt8.self), number: lineNumber, isTerminated: true)
                return last
            case .chunk where chunk == nil:
                chunk = (try file.chunk(record, at: place), 0)
            case .chunk: throw file.damage("a chunk within a chunk", at: place)
            case .schema, .channel: try file.learn(record, at: place)
            case .footer where chunk == nil: try requireEnd()
            default: break
            }
        }
        return nil
    }

    /// Leaves a chunk that was read to its end.
    private func endsChunk(at start: Int) throws(TraceError) -> Bool {
        guard let records = chunk?.records else { return false }
        guard start == records.bytes.count else {
            throw file.damage("its chunk ends within a record", at: place)
        }
        chunk = nil
        return true
    }

    private func requireEnd() throws(TraceError) {
        // Without the mark the end comes as one that was not written.
        guard file.isComplete || offset < file.file.bytes.count - MCAPRecord.magic.count else { return }
        isAtEnd = true
        consumed = size ?? 0
        let rest = file.file.bytes.count - offset - MCAPRecord.magic.count
        guard rest <= 0 else {
            throw file.damage(
                "\(rest) bytes follow the end: were files put together? convert takes several", at: offset)
        }
    }

    /// The end of a file that was not finished: an unterminated row, also where only the mark of the end is missing.
    private func tornLine(at start: Int) throws(TraceError) -> LineReader.Line? {
        isAtEnd = true
        consumed = size ?? 0
        guard !file.isComplete else {
            guard start < file.file.bytes.count else { return nil }
            throw file.damage("it is no record, or longer than the file", at: start)
        }
        guard tellsTorn else { return nil }
        lineNumber += 1
        last = LineReader.Line(
            bytes: UnsafeRawBufferPointer(rebasing: file.file.bytes[..<1]).bindMemory(to: UInt8.self),
            number: lineNumber, isTerminated: false)
        return last
    }
}
