/// The place of each enabled channel in a scan.
///
/// Channels are in the order of their indices. Each is aligned to its own size, including repeats, and the scan is padded to the
/// size of its largest channel.
package struct ScanLayout: Sendable, Equatable {
    package struct Channel: Sendable, Equatable {
        /// The channel's name, such as `in_accel_x`.
        package let name: String
        /// The kernel's `_index`, which orders the channels; gaps are allowed.
        package let index: Int
        package let type: ScanType

        package init(name: String, index: Int, type: ScanType) {
            self.name = name
            self.index = index
            self.type = type
        }
    }

    package struct Place: Sendable, Equatable {
        package let channel: Channel
        /// The offset of its first byte in the scan.
        package let offset: Int
    }

    /// The channels with their places, in the order of the scan.
    package let places: [Place]
    /// The size of one scan, including final padding.
    package let byteCount: Int

    /// Computes the places of the enabled channels, given in any order.
    package init(_ channels: [Channel]) {
        var places: [Place] = []
        var end = 0
        var largest = 1
        for channel in channels.sorted(by: { $0.index < $1.index }) {
            let size = channel.type.byteCount
            let offset = Self.roundUp(end, to: size)
            places.append(Place(channel: channel, offset: offset))
            end = offset + size
            largest = max(largest, size)
        }
        self.places = places
        byteCount = Self.roundUp(end, to: largest)
    }

    package func place(of name: String) -> Place? {
        places.first { $0.channel.name == name }
    }

    private static func roundUp(_ value: Int, to size: Int) -> Int {
        (value + size - 1) / size * size
    }
}
