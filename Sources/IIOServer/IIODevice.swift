package import Binnacle
import PlainText

/// One moment of a device: the stamp, and its channels' raw values.
package struct IIOScan: Equatable, Sendable {
    /// In nanoseconds, as the daemon or the recording has it.
    package var timeNanoseconds: Int64
    /// x, y and z of a sensor, whose fourth is not used; x, y, z and w of a quaternion.
    package var values: SIMD4<Int32>

    package init(timeNanoseconds: Int64, values: SIMD4<Int32>) {
        (self.timeNanoseconds, self.values) = (timeNanoseconds, values)
    }
}

/// A stream of samples, or an attitude, as a device of IIO.
///
/// The values are those of the daemon: in the device's frame and with its calibration. Their unit is IIO's (Documentation/ABI/testing/
/// sysfs-bus-iio: m/s², rad/s, Gauss), as whole numbers of a decimal scale, because IIO has no format for others.
package struct IIODevice: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case samples(SampleKind)
        case attitude
    }

    /// The sensor, or the detector of attitudes.
    package let owner: String
    package let content: Content
    /// Whether clients see the device; one that may come later keeps its place, because clients know devices by their numbers.
    package let isPresent: Bool

    package init(_ owner: String, _ content: Content, isPresent: Bool = true) {
        (self.owner, self.content, self.isPresent) = (owner, content, isPresent)
    }

    /// The raw value of an axis that has no number; none that has is as low.
    package static let noNumber = Int32.min

    /// IIO's word for the kind, the text of the scale, and the raw steps in one unit of the samples: m/s², rad/s, µT (100 to a Gauss).
    ///
    /// The ranges are ±2147 m/s² (219 g), ±214 rad/s and ±214 Gauss, in steps far below the noise of any chip; a quaternion's steps
    /// turn by 0.004°.
    private var row: (type: String, scale: String, steps: Double) {
        switch content {
        case .samples(.accelerometer): ("accel", "0.000001", 1e6)
        case .samples(.gyroscope): ("anglvel", "0.0000001", 1e7)
        case .samples(.magnetometer): ("magn", "0.0000001", 1e5)
        case .attitude: ("rot", "0.00003125", 32_000)
        }
    }

    package var type: String { row.type }
    package var scale: String { row.scale }

    /// As clients name the device.
    package var name: String { "\(owner.printable)-\(type)" }

    /// The nearest raw value; the greatest or least for what lies beyond.
    private func raw(_ value: Double) -> Int32 {
        guard value.isFinite else { return Self.noNumber }
        return Int32(max(-2_147_483_647, min(2_147_483_647, (value * row.steps).rounded())))
    }

    package func scan(_ sample: Sample) -> IIOScan {
        let axes = SIMD4(raw(Double(sample.x)), raw(Double(sample.y)), raw(Double(sample.z)), 0)
        return IIOScan(timeNanoseconds: sample.timeNanoseconds, values: axes)
    }

    /// A scan of an attitude at a time on CLOCK_MONOTONIC.
    package func scan(_ time: Int64, x: Double, y: Double, z: Double, w: Double) -> IIOScan {
        IIOScan(timeNanoseconds: time, values: SIMD4(raw(x), raw(y), raw(z), raw(w)))
    }

    // MARK: - Channels

    package struct Channel: Equatable, Sendable {
        package let id: String
        /// The channel's values, as places in those of a scan; none is the stamp.
        package let values: Range<Int>
        /// Its size and alignment in a scan, in bytes.
        ///
        /// None is greater than the stamp: libiio 0.24 aligns a channel with several values in two ways, and later releases round the
        /// size of a scan up to its largest channel, so that a quaternion of 16 bytes beside a stamp is read wrongly by one of them.
        package var size: Int { values.count == 1 ? 4 : 8 }
        /// Endianness, sign, bits, repetition and shift, as libiio reads them.
        package var format: String {
            values.isEmpty ? "le:S64/64>>0" : values.count == 1 ? "le:S32/32>>0" : "le:S16/16X4>>0"
        }
    }

    /// In the order of a scan.
    package var channels: [Channel] {
        let stamp = Channel(id: "timestamp", values: 0..<0)
        guard content != .attitude else { return [Channel(id: "rot_quaternion", values: 0..<4), stamp] }
        return ["x", "y", "z"].enumerated().map { Channel(id: "\(type)_\($1)", values: $0..<$0 + 1) } + [stamp]
    }

    package var attributes: [String] {
        content == .attitude ? ["frame", "reference", "sampling_frequency"] : ["sampling_frequency"]
    }

    /// The channels that a mask chooses, each with its place in a scan, and the size of a scan in bytes.
    package func layout(_ mask: UInt32) throws(IIOFailure) -> (places: [(Channel, Int)], size: Int) {
        let channels = channels
        guard mask != 0, mask >> UInt32(channels.count) == 0 else { throw .malformed }
        var (places, size): ([(Channel, Int)], Int) = ([], 0)
        for (index, channel) in channels.enumerated() where mask >> UInt32(index) & 1 == 1 {
            size = (size + channel.size - 1) / channel.size * channel.size
            places.append((channel, size))
            size += channel.size
        }
        let largest = places.map(\.0.size).max() ?? 1
        return (places, (size + largest - 1) / largest * largest)
    }
}
