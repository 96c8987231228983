import ArrowStream

/// The location of a record batch's columns; every location has been checked against the file's size.
struct ArrowBatch {
    let rowCount: Int
    let present: SensorSet
    /// The group of batches it belongs to; `nil` when it has none.
    let group: Int64?
    let sensors: Int
    let times: Int
    let x: Int
    let y: Int
    let z: Int
    /// The raw scans of the rows, if they are needed and present.
    private(set) var scans: ArrowScans?

    private static let compressions = ["lz4", "zstd"]

    /// Locates the columns in a record batch message of the file; `nil` when the file ends within the batch.
    init?(
        _ message: ArrowMessage, _ schema: SampleSchema, in bytes: UnsafeRawBufferPointer,
        isUnpacked: Bool, decoding: ArrowScanDecoding?
    ) throws(ArrowFault) {
        guard let table = try message.table.table(2) else { throw .damaged }
        let rows = try table.integer(0, default: Int64(0))
        guard rows >= 0 else { throw .damaged }
        if let compression = try table.table(3) {
            let codec = Int(try compression.integer(0, default: UInt8(0)))
            guard isUnpacked, codec == 1 else {
                let name = Self.compressions.indices.contains(codec) ? Self.compressions[codec] : "an unknown codec"
                throw ArrowFault("its columns are compressed (\(name)): write it again with compression=None or zstd")
            }
        }
        let columns = try ArrowBatchColumns(table, rowCount: Int(rows), body: message.body)
        guard columns.nodes.count == schema.all.nodeCount, columns.views.count >= schema.all.viewCount else {
            throw .damaged
        }
        rowCount = Int(rows)
        sensors = try columns.values(of: schema.sensor, width: 1)
        times = try columns.values(of: schema.time, width: 8)
        x = try columns.values(of: schema.axes[0], width: 4)
        y = try columns.values(of: schema.axes[1], width: 4)
        z = try columns.values(of: schema.axes[2], width: 4)
        var scanPlace: (offsets: Int, values: Range<Int>)?
        if let scan = schema.scan { scanPlace = try columns.binary(of: scan) }
        guard message.body.upperBound <= bytes.count else {
            // A length that no buffer needs is damage; a killed writer leaves a correct length.
            guard message.body.upperBound - (try columns.end()) <= Self.mostPadding else { throw .damaged }
            return nil
        }
        group = try message.value(of: ArrowKeys.group).flatMap { Int64($0) }
        present = SensorSet(UnsafeRawBufferPointer(rebasing: bytes[sensors..<sensors + rowCount]))
        guard let scanPlace, let decoding else { return }
        let layout = try message.value(of: ArrowKeys.scan)
        scans = try ArrowScans(at: scanPlace, of: self, layout: layout, in: bytes, decoding)
    }

    /// More than any writer leaves after its last buffer.
    private static let mostPadding = 4096
<<<<<<! HEAD
=======

    private static func value(of key: String, _ message: ArrowMessage) throws(ArrowFault) -> String? {
        // Messages usually have one pair, for which a dictionary would be wasteful.
        let pairs = try message.table.tables(4)
        for index in 0..<pairs.count {
            let pair = try pairs.table(index)
            guard try pair.string(0, limit: 1 << 20) == key else { continue }
            return try pair.string(1, limit: 1 << 20)
        }
        return nil
    }
}

struct ArrowBatchColumns {
    let rowCount: Int
    let nodes: FlatVector
    let buffers: FlatVector
    let views: FlatVector
    let body: Range<Int>

    /// The offset of a column's values in the file; throws ``ArrowFault`` when some are missing or null.
    func values(of column: ArrowSchema.Column, width: Int) throws(ArrowFault) -> Int {
        let place = try buffer(firstBuffer(of: column))
        let (needed, overflow) = rowCount.multipliedReportingOverflow(by: width)
        guard !overflow, place.count >= needed else { throw .damaged }
        return place.lowerBound
    }

    /// The positions of a binary column's offsets, one more than there are rows, and of the bytes to which they refer.
    func binary(of column: ArrowSchema.Column) throws(ArrowFault) -> (offsets: Int, values: Range<Int>) {
        let first = try firstBuffer(of: column)
        let offsets = try buffer(first)
        // Without rows the offsets may be missing.
        guard rowCount == 0 || offsets.count / 4 > rowCount else { throw .damaged }
        return (offsets.lowerBound, try buffer(first + 1))
    }

    private func firstBuffer(of column: ArrowSchema.Column) throws(ArrowFault) -> Int {
        guard try nodes.integer(Int64.self, of: column.node) == Int64(rowCount) else { throw .damaged }
        let nulls = try nodes.integer(Int64.self, of: column.node, at: 8)
        guard nulls == 0 else {
            guard nulls > 0, nulls <= Int64(rowCount) else { throw .damaged }
            throw ArrowFault("column '\(column.name)' has nulls: fill them, or drop their rows")
        }
        var index = column.buffer + 1
        for view in 0..<column.viewsBefore {
            let count = try views.integer(Int64.self, of: view)
            guard count >= 0, count <= Int64(buffers.count) else { throw .damaged }
            index += Int(count)
        }
        return index
    }

    func end() throws(ArrowFault) -> Int {
        var end = body.lowerBound
        for index in 0..<buffers.count { end = max(end, try buffer(index).upperBound) }
        return end
    }

    private func buffer(_ index: Int) throws(ArrowFault) -> Range<Int> {
        let offset = try buffers.integer(Int64.self, of: index)
        let length = try buffers.integer(Int64.self, of: index, at: 8)
        guard offset >= 0, length >= 0, offset <= Int64(body.count), length <= Int64(body.count) - offset else {
            throw .damaged
        }
        return body.lowerBound + Int(offset)..<body.lowerBound + Int(offset + length)
    }
>>>>>>> 0906fd0 (Traces: comments in plain technical English, without restatements of signatures)
}
