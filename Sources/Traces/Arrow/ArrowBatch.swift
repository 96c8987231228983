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

    /// Whether the last two rows are zero, stamps and all, as in pages that a power failure kept from the disk.
    ///
    /// The columns follow each other, so with the last stamps all axes are lost.
    func endsInZeroBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rowCount > 1, bytes[sensors + rowCount - 1] == bytes[sensors + rowCount - 2] else { return false }
        let isZero = [x, y, z].allSatisfy { bytes[$0 + 4 * rowCount - 8..<$0 + 4 * rowCount].allSatisfy { $0 == 0 } }
        return isZero && bytes[times + 8 * rowCount - 16..<times + 8 * rowCount].allSatisfy { $0 == 0 }
    }

    /// More than any writer leaves after its last buffer.
    private static let mostPadding = 4096
}
