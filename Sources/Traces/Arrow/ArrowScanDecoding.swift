import Binnacle
import PlainText

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
