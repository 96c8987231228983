import Binnacle
import Kernels

/// The rows of one stream of samples in file order, a block at a time.
///
/// The stamps of a block are copied and checked in one step, so that later searches use the checked values even if the file
/// changes. The axes stay in the mapping, unless they have to be scaled, are not aligned, or share their batch with other
/// sensors. That memory, and the copies, are confined to this class and to the batches that borrow from it until the next block
/// is loaded. ``ArrowBatch`` checked the locations in the file, and every row index lies in the block.
final class ArrowRows {
    private let sensor: ArrowSensor
    private let source: ArrowFile

    private(set) var offset: Int
    /// The number of rows in all earlier batches.
    private var rowsBefore = 0
    private var batch: ArrowBatch?
    /// The first row of the batch that is not in the block.
    private var rowInBatch = 0

    private(set) var count = 0
    /// The first row not consumed.
    private(set) var position = 0
    /// The end of the rows known to be without flaws within their stream.
    private(set) var clean = 0
    private var x: UnsafePointer<Float>
    private var y: UnsafePointer<Float>
    private var z: UnsafePointer<Float>
    /// The number of the block's first row in the file, from 1; in a mixed batch ``numbers`` has those of all rows.
    private var firstNumber = 0
    private var isMixed = false

    private var capacity = 1
    private var times: UnsafeMutablePointer<Int64>
    /// The copied axes: x, y and z in succession, `copyCapacity` values each.
    private var copies: UnsafeMutablePointer<Float>
    private var numbers: UnsafeMutablePointer<Int>?
    private var copyCapacity = 1

    private let mostRows: Int
    /// The maximum number of rows in the blocks of all streams of a file: their stamps take 2 MB.
    private static let mostRowsOfAll = 262_144
    private static let usualRows = 65_536
    private static let fewestRows = 1024
    private static let pieceCount = 1024

    init(_ source: ArrowFile, sensor: ArrowSensor, of streamCount: Int) {
        self.source = source
        mostRows = min(Self.usualRows, max(Self.fewestRows, Self.mostRowsOfAll / streamCount))
        self.sensor = sensor
        offset = source.firstMessage
        times = .allocate(capacity: capacity)
        copies = .allocate(capacity: 3 * copyCapacity)
        (x, y, z) = (UnsafePointer(copies), UnsafePointer(copies), UnsafePointer(copies))
    }

    deinit {
        times.deallocate()
        copies.deallocate()
        numbers?.deallocate()
    }

    // MARK: - Rows

    var isDrained: Bool { position == count }

    func time(_ row: Int) -> Int64 { times[row] }

    /// A row's number in the file, from 1.
    func number(_ row: Int) -> Int {
        if isMixed, let numbers { return numbers[row] }
        return firstNumber + row
    }

    /// A row's sample, in m/s² or µT.
    func sample(_ row: Int) -> (x: Float, y: Float, z: Float) { (x[row], y[row], z[row]) }

    func columns(_ range: Range<Int>) -> SampleColumns {
        SampleColumns(count: count, times: UnsafePointer(times), x: x, y: y, z: z).slice(range)
    }

    /// Consumes the rows before `row`.
    func skip(upTo row: Int) {
        position = row
    }

    /// Checks the remaining rows again after the rows with flaws were consumed.
    func checkAgain() {
        if clean <= position { clean = cleanEnd(from: position) }
    }

    private func cleanEnd(from start: Int) -> Int {
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
        (count, position, clean) = (0, 0, 0)
        while hasMore(in: group), let batch {
            reserve(min(mostRows, batch.rowCount - rowInBatch))
            isMixed = batch.present.count > 1
            if isMixed { copyMixed(batch) } else { load(batch) }
            guard count > 0 else { continue }
            return true
        }
        return false
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
        guard let first = source.bytes.baseAddress else { return }
        let start = rowInBatch
        count = min(capacity, mostRows, batch.rowCount - start)
        firstNumber = rowsBefore + start + 1
        rowInBatch += count
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
        let bytes = source.bytes
        reserveCopies()
        let numbers = self.numbers ?? .allocate(capacity: capacity)
        self.numbers = numbers
        while rowInBatch < batch.rowCount, count < capacity {
            let row = rowInBatch
            rowInBatch += 1
            guard bytes[batch.sensors + row] == sensor.number else { continue }
            times[count] = bytes.loadUnaligned(fromByteOffset: batch.times + 8 * row, as: Int64.self)
            for (axis, place) in [batch.x, batch.y, batch.z].enumerated() {
                copies[axis * copyCapacity + count] = scaled(
                    bytes.loadUnaligned(fromByteOffset: place + 4 * row, as: Float.self))
            }
            if let scans = batch.scans { decode(scans, row..<row + 1, to: count) }
            numbers[count] = rowsBefore + row + 1
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
        guard place % MemoryLayout<Float>.alignment == 0, let base = source.bytes.baseAddress else { return nil }
        // The mapping is read-only, and nothing else is bound to this memory.
        return (base + place).assumingMemoryBound(to: Float.self)
    }

    private func scaled(_ value: Float) -> Float {
        sensor.factor == 1 ? value : Float(Double(value) * sensor.factor)
    }
}
