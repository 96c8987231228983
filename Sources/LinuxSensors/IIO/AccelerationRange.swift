import Binnacle

extension SensorDevice {
    /// The acceleration that each axis can measure at its current scale, in m/s²; `nil` when unknown.
    ///
    /// Reads sysfs, or the input device. For an IIO device it follows from the scale and the driver's range of raw values
    /// (`in_accel_x_raw_available`), or else the bits of a scan; without a buffer many drivers do not state it.
    package var accelerationRange: Double? {
        guard kinds.contains(.accelerometer) else { return nil }
        switch interface {
        case .iio: return iioRange
        case .evdev:
            guard let file = try? EvdevHandle.open(self), let handle = try? EvdevHandle(file, self) else { return nil }
            return (try? handle.range(.accelerometer)) ?? nil
        }
    }

    private var iioRange: Double? {
        let device = IIODevice(self)
        let buffer = IIOBufferDirectory.find(in: directory, for: [.accelerometer])
        var least: Double?
        for name in IIODevice.channels(.accelerometer) {
            guard let scale = try? device.scale(name, .accelerometer) else { return nil }
            var most = rawLimit(name)
            if most == nil, let type = (try? buffer?.channel(name))?.type {
                most = (0..<(type.isSigned ? type.bits - 1 : type.bits)).reduce(1) { limit, _ in limit * 2 }
            }
            guard let most else { return nil }
            least = min(least ?? .infinity, abs(scale) * most)
        }
        return least
    }

    /// The largest raw value in both directions, from `[least step most]` as in the kernel's documentation of IIO.
    private func rawLimit(_ channel: String) -> Double? {
        for name in [channel, "in_accel"] {
            guard let text = try? directory.text(name + "_raw_available"), text.hasPrefix("["), text.hasSuffix("]")
            else { continue }
            let numbers = text.dropFirst().dropLast().split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3, numbers[0] <= numbers[2] else { continue }
            let limit = numbers[0] < 0 ? min(-numbers[0], numbers[2]) : numbers[2]
            if limit > 0 { return limit }
        }
        return nil
    }
}
