package import Binnacle
import PlainText

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

/// What is needed to decode the scans of a file.
final class ArrowScanDecoding {
    private let make: ScanDecoderMaker
    private let metadata: [String: String]
    private let assumedKind: SampleKind?
    /// The last layout and its decoder: batches have mostly one.
    private var last: (layout: String, decoder: any RecordedScanDecoder)?

    /// - Parameters:
    ///   - make: Makes decoders.
    ///   - metadata: That of the schema.
    ///   - assumedKind: What sensors measure of which it says nothing.
    init(_ make: @escaping ScanDecoderMaker, metadata: [String: String], assumedKind: SampleKind?) {
        self.make = make
        self.metadata = metadata
        self.assumedKind = assumedKind
    }

    /// The decoder of a layout.
    func decoder(_ layout: String?) throws(ArrowFault) -> any RecordedScanDecoder {
        guard let layout else {
            throw ArrowFault(
                "has scans and does not say how they are laid out (\(ArrowKeys.scan)), as when another tool has written "
                    + "the file anew: use the recording itself, or leave out --decode-scans")
        }
        if let last, last.layout == layout { return last.decoder }
        guard let decoder = make(layout) else {
            throw ArrowFault(
                "the layout of its scans (\(ArrowKeys.scan)) cannot be read: '\(layout.prefix(200).printable)'")
        }
        last = (layout, decoder)
        return decoder
    }

    /// What a sensor measures.
    func kind(_ number: UInt8) throws(ArrowFault) -> SampleKind {
        try ArrowSensor(number, metadata: metadata, assumedKind: assumedKind).content.kind
    }
}

/// Decodes the raw scans of a recording; made by whoever knows what a device's scans mean.
package protocol RecordedScanDecoder {
    /// The bytes of one scan, at least 1.
    var scanByteCount: Int { get }
    /// What the scans measure.
    var kinds: [SampleKind] { get }

    /// Decodes the samples of one kind.
    ///
    /// - Parameters:
    ///   - kind: One of ``kinds``.
    ///   - scans: The first scan's first byte; need not be aligned.
    ///   - count: The number of scans, which lie one behind the other.
    ///   - x: Receives `count` values of the first axis, in m/s² or µT.
    ///   - y: Receives the second axis.
    ///   - z: Receives the third axis.
    func decode(
        _ kind: SampleKind, of scans: UnsafeRawPointer, count: Int, x: UnsafeMutablePointer<Float>,
        y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>)
}

/// Makes a decoder from the text that says how scans are laid out; `nil` when the text cannot be read.
package typealias ScanDecoderMaker = (_ layout: String) -> (any RecordedScanDecoder)?
