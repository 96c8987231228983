import Binnacle

/// The rows of one stream of samples in file order, a block at a time.
///
/// Blocks may be read ahead by other threads. Which block comes next is decided by ``hasMore(in:)`` and ``load(in:)`` alone: a
/// block that was read ahead is only used if it is that one.
final class ArrowRows {
    private let sensor: ArrowSensor
    private let source: ArrowFile

    private(set) var offset: Int
    /// The number of rows in all earlier batches.
    private var rowsBefore = 0
    private var batch: ArrowBatch?
    private var batchOffset = 0
    /// The first row of the batch that is not in the block.
    private var rowInBatch = 0

    /// Owns the memory of ``columns(_:)``.
    private(set) var block: ArrowBlock
    /// The first row not consumed.
    private(set) var position = 0
    /// The end of the rows known to be without flaws within their stream.
    private(set) var clean = 0

    /// The blocks that are read ahead, in file order, and those whose rows are consumed.
    private var ahead: [ArrowBlock] = []
    private var unused: [ArrowBlock] = []
    /// The next row to read ahead, in the batch at an offset; `nil` when there is none.
    private var next: (offset: Int, row: Int)?

    private let mostRows: Int
    /// The maximum number of rows in the blocks of all streams of a file: their stamps take 2 MB.
    private static let mostRowsOfAll = 262_144
    private static let usualRows = 65_536
    private static let fewestRows = 1024
    /// The number of batches examined for a block to read ahead: a stream may have none in the rest of the file.
    private static let mostBatchesAhead = 64

    init(_ source: ArrowFile, sensor: ArrowSensor, of streamCount: Int) {
        self.source = source
        mostRows = min(Self.usualRows, max(Self.fewestRows, Self.mostRowsOfAll / streamCount))
        self.sensor = sensor
        offset = source.firstMessage
        block = ArrowBlock(source.file, sensor, mostRows: mostRows)
        guard source.threadCount > 1 else { return }
        // One stream has as many as there are threads, and one more.
        for _ in 0...source.threadCount / streamCount {
            unused.append(ArrowBlock(source.file, sensor, mostRows: mostRows))
        }
    }

    // MARK: - Rows

    var count: Int { block.count }

    var isDrained: Bool { position == block.count }

    func time(_ row: Int) -> Int64 { block.times[row] }

    func number(_ row: Int) -> Int { block.number(row) }

    /// A row's sample, in m/s² or µT.
    func sample(_ row: Int) -> (x: Float, y: Float, z: Float) { (block.x[row], block.y[row], block.z[row]) }

    func columns(_ range: Range<Int>) -> SampleColumns { block.columns.slice(range) }

    /// Consumes the rows before `row`.
    func skip(upTo row: Int) {
        position = row
    }

    /// Checks the remaining rows again after the rows with flaws were consumed.
    func checkAgain() {
        if clean <= position { clean = block.cleanEnd(from: position) }
    }

    // MARK: - Blocks

    /// Whether rows of a group, where `nil` means a file without groups, follow the block.
    func hasMore(in group: Int64?) -> Bool {
        while true {
            if let batch {
                if rowInBatch < batch.rowCount { return true }
                rowsBefore += batch.rowCount
                self.batch = nil
            }
            switch source.find(at: offset) {
            case .end, .fault: return false
            case .other(let next): offset = next
            case .batch(let next, let end):
                if let group, let other = next.group, other != group { return false }
                batchOffset = offset
                offset = end
                if next.present.contains(sensor.number) {
                    batch = next
                    rowInBatch = 0
                } else {
                    rowsBefore += next.rowCount
                }
            }
        }
    }

    /// Loads the next block of a group, where `nil` means a file without groups, and returns whether there was one.
    func load(in group: Int64?) -> Bool {
        (position, clean) = (0, 0)
        block.removeAll()
        while hasMore(in: group), let batch {
            block.assign(batch, from: rowInBatch)
            // Looking for the blocks after short ones takes as long as reading those.
            let isShort = block.isShort(source.chunkBytes)
            if ahead.isEmpty, !isShort {
                next = (batchOffset, rowInBatch)
                readAhead()
            }
            if let first = ahead.first, first.isAssigned(batch, from: rowInBatch) {
                source.readAhead?.take(first)
                unused.append(block)
                block = ahead.removeFirst()
                if !isShort { readAhead() }
            } else {
                block.read()
            }
            block.rowsBefore = rowsBefore
            rowInBatch = block.endInBatch
            clean = block.clean
            guard count > 0 else { continue }
            return true
        }
        return false
    }

    /// Gives the next blocks of the file to the threads.
    ///
    /// Ends at the first batch with several sensors, whose blocks end where their rows are found, or with scans, whose decoder is
    /// the reader's.
    private func readAhead() {
        for _ in 0..<Self.mostBatchesAhead {
            guard let place = next, let free = unused.last else { return }
            switch source.find(at: place.offset) {
            case .end, .fault: next = nil
            case .other(let end): next = (end, 0)
            case .batch(let batch, let end):
                guard batch.present.contains(sensor.number), place.row < batch.rowCount else {
                    next = (end, 0)
                    continue
                }
                guard batch.present.count == 1, batch.scans == nil else { return next = nil }
                unused.removeLast()
                free.assign(batch, from: place.row)
                ahead.append(free)
                next?.row = free.endInBatch
                source.readAhead?.offer(free, isShort: free.isShort(source.chunkBytes))
            }
        }
    }
}
