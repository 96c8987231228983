import Binnacle
import LinuxSensors
import Traces

/// Decodes recorded scans with the decoder of devices, so that its faults can be reproduced.
struct RecordedScans: RecordedScanDecoder {
    let kinds: [SampleKind]
    private let decoder: ScanDecoder

    /// Parses the layout in a recording; `nil` if it is malformed.
    init?(_ layout: String) {
        guard let description = ScanDescription(layout) else { return nil }
        kinds = description.streams.map(\.kind)
        decoder = description.decoder
    }

    var scanByteCount: Int { decoder.scanByteCount }

    func decode(
        _ kind: SampleKind, of scans: UnsafeRawPointer, count: Int, x: UnsafeMutablePointer<Float>,
        y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>
    ) {
        guard let stream = kinds.firstIndex(of: kind) else { preconditionFailure("no \(kind) in these scans") }
        guard !decoder.takesBlocks else {
            return decoder.decode(stream, of: scans, count: count, times: nil, x: x, y: y, z: z)
        }
        for index in 0..<count {
            (x[index], y[index], z[index]) = decoder.sample(stream, of: scans + index * scanByteCount)
        }
    }
}
