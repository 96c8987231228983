/// Takes the samples out of scans: raw bytes in, stamps and converted axes out.
package struct ScanDecoder: Sendable {
    /// One stream's channels in the scan.
    package struct Axes: Sendable {
        let x: ScanLayout.Place
        let y: ScanLayout.Place
        let z: ScanLayout.Place
        let conversion: AxisConversion

        package init(x: ScanLayout.Place, y: ScanLayout.Place, z: ScanLayout.Place, conversion: AxisConversion) {
            self.x = x
            self.y = y
            self.z = z
            self.conversion = conversion
        }
    }

    /// The bytes of one scan.
    package let scanByteCount: Int
    /// The streams in the scan, in the order in which the device's streams are numbered.
    let axes: [Axes]
    private let timestamp: ScanLayout.Place?

    /// - Parameters:
    ///   - layout: The enabled channels.
    ///   - axes: The streams.
    package init(layout: ScanLayout, axes: [Axes]) {
        scanByteCount = layout.byteCount
        self.axes = axes
        timestamp = layout.place(of: "in_timestamp")
    }

    /// Whether the scans carry stamps.
    package var hasTimestamp: Bool { timestamp != nil }

    /// A scan's stamp in nanoseconds; `nil` when it carries none.
    package func stamp(of scan: UnsafeRawPointer) -> Int64? {
        timestamp.map { $0.channel.type.value(at: scan + $0.offset) }
    }

    /// One stream's sample in m/s² or µT.
    package func sample(_ stream: Int, of scan: UnsafeRawPointer) -> (x: Float, y: Float, z: Float) {
        let axes = axes[stream]
        return axes.conversion.apply(
            x: axes.x.channel.type.number(at: scan + axes.x.offset),
            y: axes.y.channel.type.number(at: scan + axes.y.offset),
            z: axes.z.channel.type.number(at: scan + axes.z.offset))
    }
}
