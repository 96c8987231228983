import ArrowStream
package import Binnacle
import PlainText

/// The raw scans of a record batch's rows, and their decoder.
///
/// They lie in the mapped file, whose contents may change at any time; every scan's location is checked each time.
struct ArrowScans {
    let decoder: any RecordedScanDecoder
    private let base: UnsafeRawPointer
    /// The position of the offsets, one more than there are rows.
    private let offsets: Int
    /// The bytes to which the offsets refer.
    private let values: Range<Int>

    /// Locates the scans of a batch within the file; `nil` when no row has one.
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

    func scan(_ row: Int) -> UnsafeRawPointer? {
        guard let range = try? Self.range(of: row, base + offsets, values.count), range.count == decoder.scanByteCount
        else { return nil }
        return base + values.lowerBound + range.lowerBound
    }
}

final class ArrowScanDecoding {
    private let make: ScanDecoderMaker
    private let metadata: [String: String]
    private let hints: TraceHints
    /// The last layout and its decoder: batches usually have the same layout.
    private var last: (layout: String, decoder: any RecordedScanDecoder)?

    init(_ make: @escaping ScanDecoderMaker, metadata: [String: String], hints: TraceHints) {
        self.make = make
        self.metadata = metadata
        self.hints = hints
    }

    func decoder(_ layout: String?) throws(ArrowFault) -> any RecordedScanDecoder {
        guard let layout else {
            throw ArrowFault(
                "has scans and does not say how they are laid out (\(ArrowKeys.scan)), as when another tool has written "
                    + "the file again: use the recording itself, or leave out --decode-scans")
        }
        if let last, last.layout == layout { return last.decoder }
        guard let decoder = make(layout) else {
            throw ArrowFault(
                "the layout of its scans (\(ArrowKeys.scan)) cannot be read: '\(layout.prefix(200).printable)'")
        }
        last = (layout, decoder)
        return decoder
    }

    func kind(_ number: UInt8) throws(ArrowFault) -> SampleKind {
        try ArrowSensor(number, metadata: metadata, hints: hints).content.kind
    }
}

/// Decodes the raw scans of a recording.
package protocol RecordedScanDecoder {
    /// The size of a scan in bytes, at least 1.
    var scanByteCount: Int { get }
    var kinds: [SampleKind] { get }

    /// Decodes `count` contiguous scans, which need not be aligned, into the axes of one kind, in m/s² or µT.
    func decode(
        _ kind: SampleKind, of scans: UnsafeRawPointer, count: Int, x: UnsafeMutablePointer<Float>,
        y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>)
}

/// Makes a decoder from a description of the scans' layout; `nil` when it cannot be read.
package typealias ScanDecoderMaker = (_ layout: String) -> (any RecordedScanDecoder)?
