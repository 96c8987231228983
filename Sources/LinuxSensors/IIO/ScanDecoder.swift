package import Kernels

/// Decodes scans: raw bytes to stamps and converted axes.
package struct ScanDecoder: Sendable {
    /// One stream's channels in the scan.
    package struct Axes: Sendable {
        let x: ScanLayout.Place
        let y: ScanLayout.Place
        let z: ScanLayout.Place
        let conversion: ScanConversion

        package init(x: ScanLayout.Place, y: ScanLayout.Place, z: ScanLayout.Place, conversion: ScanConversion) {
            self.x = x
            self.y = y
            self.z = z
            self.conversion = conversion
        }
    }

    package let scanByteCount: Int
    /// The streams in the scan, in the order of the device's streams.
    let axes: [Axes]
    /// Where the stamp stands, without the channel's name, which would be copied at each look; `nil` without one.
    private let timestamp: (type: ScanType, offset: Int)?
    /// Each stream's layout for the kernels; `nil` when the layout of a stream or of the stamp is not supported.
    private let formats: [ScanFormat]?
    /// The conversion of each stream; not part of ``axes``, which have names that would be copied.
    private let conversions: [ScanConversion]

    /// Prepares the decoding of streams in scans of enabled channels.
    package init(layout: ScanLayout, axes: [Axes]) {
        scanByteCount = layout.byteCount
        self.axes = axes
        let timestamp = layout.place(of: "in_timestamp")
        self.timestamp = timestamp.map { ($0.channel.type, $0.offset) }
        conversions = axes.map(\.conversion)
        let formats = axes.compactMap { ScanFormat($0, timestamp: timestamp, scanByteCount: layout.byteCount) }
        self.formats = formats.count == axes.count ? formats : nil
    }

    /// Whether the scans have stamps.
    package var hasTimestamp: Bool { timestamp != nil }

    /// A scan's stamp in nanoseconds; `nil` without one.
    package func stamp(of scan: UnsafeRawPointer) -> Int64? {
        timestamp.map { $0.type.value(at: scan + $0.offset) }
    }

    /// One stream's sample in m/s², µT or rad/s.
    package func sample(_ stream: Int, of scan: UnsafeRawPointer) -> (x: Float, y: Float, z: Float) {
        let axes = axes[stream]
        return axes.conversion.apply(
            x: axes.x.channel.type.number(at: scan + axes.x.offset),
            y: axes.y.channel.type.number(at: scan + axes.y.offset),
            z: axes.z.channel.type.number(at: scan + axes.z.offset))
    }

    /// Whether blocks of scans can be decoded at once; otherwise each scan is decoded singly.
    package var takesBlocks: Bool { formats != nil }

    /// Decodes one stream's samples of a block of scans, and the stamps, 0 if the scans have none.
    ///
    /// - Precondition: ``takesBlocks``.
    package func decode(
        _ stream: Int, of scans: UnsafeRawPointer, count: Int, times: UnsafeMutablePointer<Int64>?,
        x: UnsafeMutablePointer<Float>, y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>
    ) {
        guard let formats else { preconditionFailure("this layout is decoded scan by scan") }
        decodeScans(
            scans, count: count, format: formats[stream], conversion: conversions[stream], times: times, x: x, y: y,
            z: z)
    }
}

extension ScanFormat {
    /// The layout of one stream's channels; `nil` when the kernels do not support it.
    fileprivate init?(_ axes: ScanDecoder.Axes, timestamp: ScanLayout.Place?, scanByteCount: Int) {
        let type = axes.x.channel.type
        guard type == axes.y.channel.type, type == axes.z.channel.type, type.isSigned, type.repeatCount == 1,
            type.bits + type.shift == 8 * type.storageBytes
        else { return nil }
        let element: Element
        switch (type.storageBytes, type.isBigEndian) {
        case (2, false): element = .int16LittleEndian
        case (2, true): element = .int16BigEndian
        case (4, false): element = .int32LittleEndian
        default: return nil
        }
        if let stamp = timestamp?.channel.type {
            guard stamp.bits == 64, !stamp.isBigEndian, stamp.repeatCount == 1 else { return nil }
        }
        self.init(
            stride: scanByteCount, element: element, shift: type.shift,
            axisOffsets: (axes.x.offset, axes.y.offset, axes.z.offset), timestampOffset: timestamp?.offset)
    }
}
