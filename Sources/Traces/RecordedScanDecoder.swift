package import Binnacle

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
