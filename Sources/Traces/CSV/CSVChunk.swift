import Binnacle
import Glibc
import PosixCalls

/// A section of a CSV file as whole lines, with its plain rows decoded as far as that is possible without the rows before them.
///
/// A line belongs to the section in which it begins. Rows that are not plain, and everything that depends on earlier rows, are
/// left to ``RowReader``, which finds the lines in the text.
///
/// One thread has a chunk at a time, see ``ReadAheadChunk``, so a chunk may be shared.
final class CSVChunk: ReadAheadChunk, @unchecked Sendable {
    /// A run of plain rows.
    private struct Part {
        /// The first byte, in ``memory``.
        let start: Int
        let byteCount: Int
        let rowCount: Int
        /// The stamps of the first and of the last row, in nanoseconds.
        let firstTime: Int64
        let lastTime: Int64
    }

    /// The bytes of the section, and the padding of ``LineReader``; allocated once.
    let memory: UnsafeMutablePointer<UInt8>
    /// The whole lines, as a range of ``memory``.
    private(set) var text = 0..<0
    /// The offset of the text in the file; `nil` when no line begins in the section.
    private(set) var fileOffset: Int64?
    /// Whether the section could be read and its last line is terminated.
    private(set) var isUsable = false

    private let file: InputFile
    /// The section of the file, and whether a line begins with it.
    private var stretch: Range<Int64> = 0..<0
    private var isAtLine = false
    private let capacity: Int
    private let decoder: CSVDecoder
    /// The samples of all parts, for each stream.
    private let batches: [SampleBatch]
    private var parts: [Part] = []
    /// For each part the number of samples up to its end, stream by stream.
    private var sampleEnds: [Int] = []

    private var part = 0
    /// Whether some of its samples were consumed.
    private var isPartBegun = false
    /// For each stream the index of the next sample.
    private var next: [Int]

    /// The maximum number of lines skipped because they are not plain; the reader decodes what follows.
    private static let mostParts = 64
    /// The number of bytes read at a time in search of the end of the last line.
    private static let pieceSize = 4096

    init(_ head: CSVHead, size: Int, file: InputFile) {
        self.file = file
        capacity = 1 + size + LineReader.longestLine
        memory = .allocate(capacity: capacity + LineReader.padding)
        decoder = CSVDecoder(head, isLineByLine: false)
        // A row has a separator for each column, and a sample at least three digits. Unused pages take no memory.
        let most = capacity / (decoder.columnCount + 3) + 1
        batches = decoder.contents.map { _ in SampleBatch(capacity: most) }
        next = batches.map { _ in 0 }
        parts.reserveCapacity(Self.mostParts)
        sampleEnds.reserveCapacity(Self.mostParts * batches.count)
    }

    deinit { memory.deallocate() }

    // MARK: - For the thread that reads the chunk

    /// Reads the lines that begin in the section of the file, and decodes their plain rows.
    func read() {
        isUsable = false
        fileOffset = nil
        text = 0..<0
        parts.removeAll(keepingCapacity: true)
        sampleEnds.removeAll(keepingCapacity: true)
        for batch in batches { batch.removeAll() }
        part = 0
        isPartBegun = false
        // The byte before the section shows whether a line begins with the section.
        let offset = stretch.lowerBound - (isAtLine ? 0 : 1)
        let count = Int(stretch.upperBound - offset)
        guard load(offset, count, at: 0) == count else { return }
        var start = 0
        if !isAtLine {
            guard let end = lineEnd(0, count - 1) else {
                isUsable = true
                return
            }
            start = end + 1
        }
        guard let end = findEnd(offset, count) else { return }
        // The padding begins with a line end.
        memory[end] = CSVDialect.newline
        text = start..<end
        fileOffset = offset + Int64(start)
        isUsable = true
        readRows()
    }

    /// Finds the end of the last line; `nil` when it is too long, or the file ends first.
    private func findEnd(_ offset: Int64, _ count: Int) -> Int? {
        var loaded = count
        var searched = count - 1
        while true {
            if let end = lineEnd(searched, loaded) { return end + 1 }
            searched = loaded
            let added = load(offset + Int64(loaded), min(Self.pieceSize, capacity - loaded), at: loaded)
            guard added > 0 else { return nil }
            loaded += added
        }
    }

    private func load(_ offset: Int64, _ count: Int, at place: Int) -> Int {
        var loaded = 0
        while loaded < count {
            let result = try? systemCall("pread") {
                pread(file.descriptor, memory + place + loaded, count - loaded, off_t(offset) + off_t(loaded))
            }
            guard let result, result > 0 else { break }
            loaded += result
        }
        return loaded
    }

    private func lineEnd(_ start: Int, _ end: Int) -> Int? {
        memchr(memory + start, Int32(CSVDialect.newline), end - start).map {
            $0.assumingMemoryBound(to: UInt8.self) - memory
        }
    }

    private func readRows() {
        guard let plainRows = decoder.plainRows else { return }
        var place = text.lowerBound
        for _ in 0..<Self.mostParts {
            guard place < text.upperBound, let firstEnd = lineEnd(place, text.upperBound) else { return }
            // The first row of a part is accepted after any stamp; the reader compares it with the rows before it.
            if let time = time(ofLine: place..<firstEnd), time > .min {
                let rest = UnsafeBufferPointer(start: memory + place, count: text.upperBound - place)
                let rows = plainRows.read(
                    rest, after: time - 1, longestStep: RowRules.jumpNanoseconds, into: batches)
                if rows.rowCount > 0 {
                    parts.append(
                        Part(
                            start: place, byteCount: rows.byteCount, rowCount: rows.rowCount, firstTime: time,
                            lastTime: rows.lastTimeNanoseconds))
                    for batch in batches { sampleEnds.append(batch.count) }
                    place += rows.byteCount
                }
            }
            // A row that is not plain.
            guard place < text.upperBound, let end = lineEnd(place, text.upperBound) else { return }
            place = end + 1
        }
    }

    private func time(ofLine line: Range<Int>) -> Int64? {
        guard line.count <= LineReader.longestLine else { return nil }
        let isReturned = !line.isEmpty && memory[line.upperBound - 1] == UInt8(ascii: "\r")
        return decoder.timeNanoseconds(
            of: UnsafeBufferPointer(start: memory + line.lowerBound, count: line.count - (isReturned ? 1 : 0)))
    }

    // MARK: - For the reader

    /// Assigns a section of the file; `isAtLine` if a line begins with it.
    func assign(_ stretch: Range<Int64>, isAtLine: Bool) {
        self.stretch = stretch
        self.isAtLine = isAtLine
    }

    /// Appends decoded rows to a window without a full batch, until one of its batches is full or a part ends.
    ///
    /// `place` is the reader's position in ``memory`` and stays at the start of a part until the whole part is consumed. Returns
    /// the rows and bytes of a part that ended; `nil` when the reader has to decode the next row.
    func appendRows(at place: Int, after time: Int64?, into window: [SampleBatch]) -> PlainRows? {
        if !isPartBegun {
            while part < parts.count, parts[part].start < place { part += 1 }
            guard part < parts.count, parts[part].start == place, follows(time) else { return nil }
            for stream in next.indices { next[stream] = part == 0 ? 0 : sampleEnd(part - 1, stream) }
            isPartBegun = true
        }
        let part = parts[part]
        // The window ends with the row that fills a batch.
        var last = part.lastTime
        for stream in next.indices {
            let fullCount = window[stream].capacity - window[stream].count
            guard sampleEnd(self.part, stream) - next[stream] >= fullCount else { continue }
            last = min(last, batches[stream].columns.times[next[stream] + fullCount - 1])
        }
        for stream in next.indices {
            var end = sampleEnd(self.part, stream)
            if last < part.lastTime {
                let times = batches[stream].columns.times
                end = (next[stream]..<end).partitionPoint { times[$0] <= last }
            }
            window[stream].append(batches[stream], range: next[stream]..<end)
            next[stream] = end
        }
        guard last == part.lastTime else { return PlainRows(lastTimeNanoseconds: last) }
        isPartBegun = false
        self.part += 1
        return PlainRows(rowCount: part.rowCount, byteCount: part.byteCount, lastTimeNanoseconds: last)
    }

    private func sampleEnd(_ part: Int, _ stream: Int) -> Int { sampleEnds[part * batches.count + stream] }

    /// Whether the part's first row is plain after this stamp.
    private func follows(_ time: Int64?) -> Bool {
        guard let time else { return true }
        let (step, isTooLong) = parts[part].firstTime.subtractingReportingOverflow(time)
        return !isTooLong && step > 0 && step <= RowRules.jumpNanoseconds
    }
}
