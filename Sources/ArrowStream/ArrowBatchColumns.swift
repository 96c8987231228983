/// The nodes and buffers of a record batch.
package struct ArrowBatchColumns {
    package let rowCount: Int
    package let nodes: FlatVector
    package let buffers: FlatVector
    package let views: FlatVector
    package let body: Range<Int>

    /// Reads the nodes and buffers of a `RecordBatch` of `rowCount` rows, whose buffers are in `body`.
    package init(_ table: FlatTable, rowCount: Int, body: Range<Int>) throws(ArrowFault) {
        self.rowCount = rowCount
        nodes = try table.vector(1, stride: 16)
        buffers = try table.vector(2, stride: 16)
        views = try table.vector(4, stride: 8)
        self.body = body
    }

    /// Where the values of a column begin in the file; throws ``ArrowFault`` when some are missing or null.
    package func values(of column: ArrowSchema.Column, width: Int) throws(ArrowFault) -> Int {
        let place = try buffer(firstBuffer(of: column))
        let (needed, overflow) = rowCount.multipliedReportingOverflow(by: width)
        guard !overflow, place.count >= needed else { throw .damaged }
        return place.lowerBound
    }

    /// Where the offsets of a binary column begin, one more than there are rows, and the bytes to which they refer.
    package func binary(of column: ArrowSchema.Column) throws(ArrowFault) -> (offsets: Int, values: Range<Int>) {
        let first = try firstBuffer(of: column)
        let offsets = try buffer(first)
        // Without rows the offsets may be missing.
        guard rowCount == 0 || offsets.count / 4 > rowCount else { throw .damaged }
        return (offsets.lowerBound, try buffer(first + 1))
    }

    /// The index of a column's first buffer after its validity.
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

    /// The end of the last buffer.
    package func end() throws(ArrowFault) -> Int {
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
}
