import Binnacle
import Kernels

/// A block of rows of one stream.
///
/// The stamps are copied and checked in one step, so that later searches use the checked values even if the file changes. The axes
/// stay in the mapping, unless they have to be scaled, are not aligned, or share their batch with other sensors. That memory, and
/// the copies, are confined to this class and to the batches that borrow from it until the next block is loaded. ``ArrowBatch``
/// checked the locations in the file, and every row index lies in the block.
///
/// One thread has a block at a time, see ``ReadAheadChunk``, so a block may be shared: the mapping never changes its place, and a
/// block with scans, whose decoder is not shared, is read by the reader.
final class ArrowBlock: ReadAheadChunk, @unchecked Sendable {
    private let file: MappedFile
    private let sensor: ArrowSensor
    private var batch: ArrowBatch?
    private var start = 0
    /// The first row of the batch that is not in the block.
    private(set) var endInBatch = 0

    private(set) var count = 0
    /// The end of the rows without flaws, as far as they were checked.
    private(set) var clean = 0
    private(set) var x: UnsafePointer<Float>
    private(set) var y: UnsafePointer<Float>
    private(set) var z: UnsafePointer<Float>
    /// The number of rows in all earlier batches.
    var rowsBefore = 0

    private var capacity = 1
    private(set) var times: UnsafeMutablePointer<Int64>
    /// The copied axes: x, y and z in succession, `copyCapacity` values each.
    private var copies: UnsafeMutablePointer<Float>
    /// In a batch with several sensors the rows of the batch, from 0.
    private var numbers: UnsafeMutablePointer<Int>?
    private var copyCapacity = 1

    private let mostRows: Int
    private static let pieceCount = 1024
    /// The bytes of a row: its stamp and its axes.
    private static let rowBytes = 20

    init(_ file: MappedFile, _ sensor: ArrowSensor, mostRows: Int) {
        self.file = file
        self.sensor = sensor
        self.mostRows = mostRows
        times = .allocate(capacity: capacity)
        copies = .allocate(capacity: 3 * copyCapacity)
        (x, y, z) = (UnsafePointer(copies), UnsafePointer(copies), UnsafePointer(copies))
    }

    deinit {
        times.deallocate()
        copies.deallocate()
        numbers?.deallocate()
    }

    // MARK: - For the reader

    var columns: SampleColumns { SampleColumns(count: count, times: UnsafePointer(times), x: x, y: y, z: z) }

    /// A row's number in the file, from 1.
    func number(_ row: Int) -> Int {
        let isMixed = (batch?.present.count ?? 0) > 1
        return rowsBefore + 1 + (isMixed ? numbers?[row] ?? 0 : start + row)
    }

    func assign(_ batch: ArrowBatch, from row: Int) {
        self.batch = batch
        start = row
        endInBatch = row + min(mostRows, batch.rowCount - row)
    }

    func isAssigned(_ batch: ArrowBatch, from row: Int) -> Bool {
        start == row && self.batch?.times == batch.times && self.batch?.rowCount == batch.rowCount
    }

    /// Whether the assigned rows have fewer bytes.
    func isShort(_ bytes: Int) -> Bool { Self.rowBytes * (endInBatch - start) < bytes }

    func removeAll() { (count, clean) = (0, 0) }

    // MARK: - For the thread that reads the block

    func read() {
        removeAll()
        guard let batch else { return }
        reserve(endInBatch - start)
        if batch.present.count > 1 { copyMixed(batch) } else { load(batch) }
    }

    /// The end of the rows without flaws from one on; their stamps are the copied ones.
    func cleanEnd(from start: Int) -> Int {
        var end = start
        while end < count {
            let next = min(count, end + Self.pieceCount)
            guard isClean(end..<next, stamps: times + end, isFirst: end == start) else { return end }
            end = next
        }
        return end
    }

    /// Copies the stamps of rows and returns whether no row has a flaw; the first has no predecessor if `isFirst`.
    private func isClean(_ rows: Range<Int>, stamps: UnsafeRawPointer, isFirst: Bool) -> Bool {
        copyChecking(
            stamps, to: times + rows.lowerBound, x: x + rows.lowerBound, y: y + rows.lowerBound,
            z: z + rows.lowerBound, count: rows.count, limit: TraceRow.largest, follows: !isFirst)
    }

    private func reserve(_ rowCount: Int) {
        guard rowCount > capacity else { return }
        capacity = min(mostRows, max(rowCount, 2 * capacity))
        times.deallocate()
        times = .allocate(capacity: capacity)
        numbers?.deallocate()
        numbers = nil
    }

    private func reserveCopies() {
        guard copyCapacity < capacity else { return }
        copyCapacity = capacity
        copies.deallocate()
        copies = .allocate(capacity: 3 * copyCapacity)
    }

    /// Loads rows from a batch that has only this sensor.
    private func load(_ batch: ArrowBatch) {
        guard let first = file.bytes.baseAddress else { return }
        count = endInBatch - start
        let axes = [batch.x, batch.y, batch.z].map { $0 + 4 * start }
        if sensor.factor == 1, batch.scans == nil, let x = aligned(batch.x + 4 * start),
            let y = aligned(batch.y + 4 * start),
            let z = aligned(batch.z + 4 * start)
        {
            (self.x, self.y, self.z) = (x, y, z)
        } else {
            reserveCopies()
            for (axis, place) in axes.enumerated() {
                let target = copies + axis * copyCapacity
                for row in 0..<count {
                    target[row] = scaled(first.loadUnaligned(fromByteOffset: place + 4 * row, as: Float.self))
                }
            }
            if let scans = batch.scans { decode(scans, start..<start + count, to: 0) }
            pointToCopies()
        }
        let stamps = first + batch.times + 8 * start
        var isGood = true
        var row = 0
        while row < count {
            let end = min(count, row + Self.pieceCount)
            // Copied even after a flaw: the row reader needs the stamps.
            isGood = isClean(row..<end, stamps: stamps + 8 * row, isFirst: row == 0) && isGood
            if isGood { clean = end }
            row = end
        }
    }

    /// Loads rows from a batch with several sensors.
    private func copyMixed(_ batch: ArrowBatch) {
        let bytes = file.bytes
        reserveCopies()
        let numbers = self.numbers ?? .allocate(capacity: capacity)
        self.numbers = numbers
        endInBatch = start
        while endInBatch < batch.rowCount, count < mostRows {
            let row = endInBatch
            endInBatch += 1
            guard bytes[batch.sensors + row] == sensor.number else { continue }
            times[count] = bytes.loadUnaligned(fromByteOffset: batch.times + 8 * row, as: Int64.self)
            for (axis, place) in [batch.x, batch.y, batch.z].enumerated() {
                copies[axis * copyCapacity + count] = scaled(
                    bytes.loadUnaligned(fromByteOffset: place + 4 * row, as: Float.self))
            }
            if let scans = batch.scans { decode(scans, row..<row + 1, to: count) }
            numbers[count] = row
            count += 1
        }
        pointToCopies()
        clean = cleanEnd(from: 0)
    }

    /// Replaces the copied axes from `place` by those decoded from the scans; rows without a scan keep theirs.
    private func decode(_ scans: ArrowScans, _ rows: Range<Int>, to place: Int) {
        var row = rows.lowerBound
        while row < rows.upperBound {
            guard let first = scans.scan(row) else {
                row += 1
                continue
            }
            // Decode contiguous scans together.
            var count = 1
            while row + count < rows.upperBound, scans.scan(row + count) == first + count * scans.decoder.scanByteCount
            {
                count += 1
            }
            let target = copies + place + row - rows.lowerBound
            scans.decoder.decode(
                sensor.content.kind, of: first, count: count, x: target, y: target + copyCapacity,
                z: target + 2 * copyCapacity)
            row += count
        }
    }

    private func pointToCopies() {
        x = UnsafePointer(copies)
        y = UnsafePointer(copies + copyCapacity)
        z = UnsafePointer(copies + 2 * copyCapacity)
    }

    /// A column in the mapping; `nil` when it is not aligned.
    private func aligned(_ place: Int) -> UnsafePointer<Float>? {
        guard place % MemoryLayout<Float>.alignment == 0, let base = file.bytes.baseAddress else { return nil }
        // The mapping is read-only, and nothing else is bound to this memory.
        return (base + place).assumingMemoryBound(to: Float.self)
    }

    private func scaled(_ value: Float) -> Float {
        sensor.factor == 1 ? value : Float(Double(value) * sensor.factor)
    }
}
