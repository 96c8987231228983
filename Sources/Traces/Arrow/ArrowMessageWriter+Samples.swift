import ArrowStream
import Binnacle

/// Encodes the messages of an Arrow stream of samples.
extension ArrowMessageWriter {
    /// Encodes the schema, with the description of the sensors in its metadata.
    mutating func schema(_ columns: TraceColumns, _ details: RecordingDetails) -> [UInt8] {
        var pairs = [(ArrowKeys.version, ArrowKeys.currentVersion)]
        if let clock = details.clock { pairs.append((ArrowKeys.clock, clock)) }
        if let ahead = details.wallAheadNanoseconds { pairs.append((ArrowKeys.wallAhead, String(ahead))) }
        if let boot = details.boot { pairs.append((ArrowKeys.boot, boot)) }
        for (place, device) in zip(columns.places, details.devices) {
            if let device { pairs.append((ArrowKeys.sensor(place, .device), device)) }
        }
        for (number, content) in columns.contents.enumerated() {
            pairs += [
                (ArrowKeys.sensor(number, .name), content.sensor),
                (ArrowKeys.sensor(number, .kind), content.kind.rawValue),
                (ArrowKeys.sensor(number, .unit), Quantity.of(content.kind).usual.option),
                (ArrowKeys.sensor(number, .scale), "1"),
            ]
        }
        var fields: [Field] = [
            .init(name: "sensor", type: .uint8), .init(name: "t", type: .int64), .init(name: "x", type: .float32),
            .init(name: "y", type: .float32), .init(name: "z", type: .float32),
        ]
        if details.keepsScans { fields.append(.init(name: "scan", type: .binary)) }
        return schema(fields, metadata: pairs)
    }

    /// Encodes a record batch of one sensor; `scans` has a scan for each sample or none at all, and is `nil` without that column.
    mutating func batch(_ columns: SampleColumns, sensor: UInt8, scans: ScanColumn?, group: Int64) -> [UInt8] {
        let widths = [1, 8, 4, 4, 4]
        // There are no null values, so the validity buffers are empty.
        var buffers = widths.flatMap { [0, $0 * columns.count] }
        if let scans { buffers += [0, 4 * (columns.count + 1), scans.bytes.count] }
        let fieldCount = widths.count + (scans == nil ? 0 : 1)
        var pairs = [(ArrowKeys.group, "\(group)")]
        if let scans, !scans.isEmpty { pairs.append((ArrowKeys.scan, scans.layout)) }
        beginBatch(
            rowCount: columns.count, nodes: Array(repeating: (Int64(columns.count), 0), count: fieldCount),
            bufferCounts: buffers, metadata: pairs)
        addBuffer(of: sensor, count: columns.count)
        addBuffer(UnsafeRawBufferPointer(UnsafeBufferPointer(start: columns.times, count: columns.count)))
        for axis in [columns.x, columns.y, columns.z] {
            addBuffer(UnsafeRawBufferPointer(UnsafeBufferPointer(start: axis, count: columns.count)))
        }
        if let scans { add(scans, rowCount: columns.count) }
        return bytes
    }

    private mutating func add(_ scans: ScanColumn, rowCount: Int) {
        precondition(scans.isEmpty || scans.count == rowCount, "as many scans as samples, or none")
        addBuffer((0...rowCount).map { Int32($0 * scans.scanByteCount) })
        scans.bytes.withUnsafeBytes { addBuffer($0) }
    }
}
