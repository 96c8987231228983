import Binnacle

/// The raw scans behind the rows of a record batch, and what decodes them.
///
/// They lie in the mapped file, whose contents may change at any time; so every scan's place is checked each time it is
/// asked for.
struct ArrowScans {
    let decoder: any RecordedScanDecoder
    private let base: UnsafeRawPointer
    /// Where the offsets of the rows begin; there is one more than rows.
    private let offsets: Int
    /// Where the offsets count from, and up to where scans may lie.
    private let values: Range<Int>

    /// Finds the scans of a batch; `nil` when no row has one.
    ///
    /// - Parameters:
    ///   - place: Where the column lies: room for an offset more than there are rows, and the bytes they count in.
    ///   - batch: The batch, which lies within the file.
    ///   - layout: How its scans are laid out, as the message says; `nil` when it does not.
    ///   - bytes: The whole file.
    ///   - decoding: Knows what the layout means, and what the sensors measure.
    /// - Throws: ``ArrowFault`` when a row has a scan that cannot be decoded.
    init?(
        at place: (offsets: Int, values: Range<Int>), of batch: ArrowBatch, layout: String?,
        in bytes: UnsafeRawBufferPointer, _ decoding: ArrowScanDecoding
    ) throws(ArrowFault) {
        guard let base = bytes.baseAddress else { return nil }
        var decoder: (any RecordedScanDecoder)?
        var scanned = SensorSet()
        for row in 0..<batch.rowCount {
            let range = try Self.range(of: row, base + place.offsets, place.values.count)
            guard !range.isEmpty else { continue }
            if decoder == nil { decoder = try decoding.decoder(layout) }
            guard let size = decoder?.scanByteCount, range.count == size else {
                throw ArrowFault(
                    "row \(row + 1) of its batch has a scan of \(range.count) bytes, and the layout says "
                        + "\(decoder?.scanByteCount ?? 0): the file is damaged")
            }
            scanned.insert(bytes[batch.sensors + row])
        }
        guard let decoder else { return nil }
        for number in scanned.numbers {
            let kind = try decoding.kind(number)
            guard decoder.kinds.contains(kind) else {
                throw ArrowFault(
                    "sensor \(number) is of kind \(kind.rawValue), of which the scans' layout says nothing")
            }
        }
        self.decoder = decoder
        self.base = base
        (offsets, values) = place
    }

    /// Where a row's scan lies among the values.
    private static func range(
        of row: Int, _ offsets: UnsafeRawPointer, _ limit: Int
    ) throws(ArrowFault) -> Range<Int> {
        let start = Int(Int32(littleEndian: offsets.loadUnaligned(fromByteOffset: 4 * row, as: Int32.self)))
        let end = Int(Int32(littleEndian: offsets.loadUnaligned(fromByteOffset: 4 * row + 4, as: Int32.self)))
        guard start >= 0, start <= end, end <= limit else {
            throw ArrowFault("row \(row + 1) of its batch has a scan that lies nowhere: the file is damaged")
        }
        return start..<end
    }

    /// A row's scan; `nil` when it has none.
    func scan(_ row: Int) -> UnsafeRawPointer? {
        guard let range = try? Self.range(of: row, base + offsets, values.count), range.count == decoder.scanByteCount
        else { return nil }
        return base + values.lowerBound + range.lowerBound
    }
}
