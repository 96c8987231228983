import Binnacle

/// Encodes the messages of an Arrow stream of samples.
///
/// Every message, and every buffer in it, takes a multiple of 64 bytes. The columns are therefore aligned to 64 bytes,
/// in the
/// file and where it is mapped.
///
/// Source: Arrow, format/Message.fbs, format/Schema.fbs, and "Arrow Columnar Format".
final class ArrowEncoder {
    private var flat = FlatWriter()
    private var message: [UInt8] = []

    private static let alignment = 64
    /// The offset of the metadata, after the continuation mark and the length.
    private static let prefixCount = 8
    private static let version5 = FlatWriter.Field.short(4)
    /// The numbers of types in Schema.fbs.
    private enum TypeNumber {
        static let int = FlatWriter.Field.byte(2)
        static let floatingPoint = FlatWriter.Field.byte(3)
        static let binary = FlatWriter.Field.byte(4)
    }
    private static let single = FlatWriter.Field.short(1)

    /// The end-of-stream marker.
    var end: [UInt8] { [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] }

    /// Encodes the schema, with the description of the sensors in its metadata.
    func schema(_ columns: TraceColumns, _ details: RecordingDetails) -> [UInt8] {
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
                (ArrowKeys.sensor(number, .unit), content.kind.arrowUnit),
                (ArrowKeys.sensor(number, .scale), "1"),
            ]
        }
        let references = beginMessage(ArrowMessage.Header.schema, bodyLength: 0, hasMetadata: false)
        let schema = flat.table([.short(0), .reference, .reference, .none], for: references[0])
        let fields = flat.vector(of: details.keepsScans ? 6 : 5, for: schema[0])
        addField("sensor", TypeNumber.int, [.int(8), .byte(0)], for: fields[0])
        addField("t", TypeNumber.int, [.int(64), .byte(1)], for: fields[1])
        for (axis, name) in ["x", "y", "z"].enumerated() {
            addField(name, TypeNumber.floatingPoint, [Self.single], for: fields[2 + axis])
        }
        if details.keepsScans { addField("scan", TypeNumber.binary, [], for: fields[5]) }
        addMetadata(pairs, for: schema[1])
        endMetadata()
        return message
    }

    /// Encodes a record batch of one sensor; `scans` has one for each sample or none, and is `nil` without such a
    /// column.
    func batch(_ columns: SampleColumns, sensor: UInt8, scans: ScanColumn?, group: Int64) -> [UInt8] {
        let widths = [1, 8, 4, 4, 4]
        var buffers: [(Int64, Int64)] = []
        var length = 0
        func addBuffer(_ byteCount: Int) {
            buffers.append((Int64(length), Int64(byteCount)))
            length += Self.roundUp(byteCount)
        }
        for width in widths {
            // No value is null, so the validity buffer is empty.
            addBuffer(0)
            addBuffer(width * columns.count)
        }
        if let scans {
            addBuffer(0)
            addBuffer(4 * (columns.count + 1))
            addBuffer(scans.bytes.count)
        }
        let references = beginMessage(ArrowMessage.Header.batch, bodyLength: length, hasMetadata: true)
        let batch = flat.table(
            [.long(Int64(columns.count)), .reference, .reference, .none, .none], for: references[0])
        let fieldCount = widths.count + (scans == nil ? 0 : 1)
        flat.vector(Array(repeating: (Int64(columns.count), 0), count: fieldCount), for: batch[0])
        flat.vector(buffers, for: batch[1])
        var pairs = [(ArrowKeys.group, "\(group)")]
        if let scans, !scans.isEmpty { pairs.append((ArrowKeys.scan, scans.layout)) }
        addMetadata(pairs, for: references[1])
        endMetadata()
        message.reserveCapacity(message.count + length)
        message.append(contentsOf: repeatElement(sensor, count: columns.count))
        pad()
        add(UnsafeRawBufferPointer(UnsafeBufferPointer(start: columns.times, count: columns.count)))
        for axis in [columns.x, columns.y, columns.z] {
            add(UnsafeRawBufferPointer(UnsafeBufferPointer(start: axis, count: columns.count)))
        }
        if let scans { add(scans, rowCount: columns.count) }
        return message
    }

    // MARK: - Metadata

    /// Writes the message table, and returns the references to its header and, if it has any, to its metadata.
    private func beginMessage(_ header: UInt8, bodyLength: Int, hasMetadata: Bool) -> [FlatWriter.Reference] {
        let root = flat.begin()
        return flat.table(
            [
                Self.version5, .byte(header), .reference, .long(Int64(bodyLength)),
                hasMetadata ? .reference : .none,
            ], for: root)
    }

    private func addField(
        _ name: String, _ type: FlatWriter.Field, _ details: [FlatWriter.Field], for reference: FlatWriter.Reference
    ) {
        // name, nullable, type, the type's table, dictionary, children, metadata
        let references = flat.table(
            [.reference, .byte(0), type, .reference, .none, .reference, .none], for: reference)
        flat.string(name, for: references[0])
        _ = flat.table(details, for: references[1])
        _ = flat.vector(of: 0, for: references[2])
    }

    private func addMetadata(_ pairs: [(String, String)], for reference: FlatWriter.Reference) {
        let references = flat.vector(of: pairs.count, for: reference)
        for ((key, value), reference) in zip(pairs, references) {
            let pair = flat.table([.reference, .reference], for: reference)
            flat.string(key, for: pair[0])
            flat.string(value, for: pair[1])
        }
    }

    /// Starts the message with the metadata, padded so that the body is aligned.
    private func endMetadata() {
        let length = Self.roundUp(Self.prefixCount + flat.bytes.count) - Self.prefixCount
        message.removeAll(keepingCapacity: true)
        for number in [ArrowMessage.continuation, UInt32(length)] {
            withUnsafeBytes(of: number.littleEndian) { message.append(contentsOf: $0) }
        }
        message.append(contentsOf: flat.bytes)
        pad()
    }

    // MARK: - Body

    private func add(_ column: UnsafeRawBufferPointer) {
        message.append(contentsOf: column)
        pad()
    }

    /// Adds the offsets of the rows' scans, then the scans.
    private func add(_ scans: ScanColumn, rowCount: Int) {
        precondition(scans.isEmpty || scans.count == rowCount, "as many scans as samples, or none")
        for row in 0...rowCount {
            withUnsafeBytes(of: Int32(row * scans.scanByteCount).littleEndian) { message.append(contentsOf: $0) }
        }
        pad()
        scans.bytes.withUnsafeBytes { add($0) }
    }

    private func pad() {
        message.append(contentsOf: repeatElement(0, count: Self.roundUp(message.count) - message.count))
    }

    private static func roundUp(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }
}
