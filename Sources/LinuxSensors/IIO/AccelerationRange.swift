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

    /// The distance of two values that the axes can have at their current scale, in m/s²: that of the coarsest axis; `nil` when unknown.
    ///
    /// Reads sysfs. An input device does not say in which steps its chip measures.
    package var accelerationStep: Double? {
        guard kinds.contains(.accelerometer), interface == .iio else { return nil }
        return ofAxes { rawNumbers($0)?[1] ?? 1 }?.max()
    }

    private var iioRange: Double? {
        let buffer = IIOBufferDirectory.find(in: directory, for: [.accelerometer])
        return ofAxes { name in
            if let limit = rawLimit(name) { return limit }
            guard let type = (try? buffer?.channel(name))?.type else { return nil }
            return (0..<(type.isSigned ? type.bits - 1 : type.bits)).reduce(1) { limit, _ in limit * 2 }
        }?.min()
    }

    /// A raw number of each axis in m/s²; `nil` when one is unknown.
    private func ofAxes(_ raw: (String) -> Double?) -> [Double]? {
        let device = IIODevice(self)
        var values: [Double] = []
        for name in IIODevice.channels(.accelerometer) {
            guard let scale = try? device.scale(name, .accelerometer), let number = raw(name) else { return nil }
            values.append(abs(scale) * number)
        }
        return values
    }

    /// The largest raw value in both directions.
    private func rawLimit(_ channel: String) -> Double? {
        rawNumbers(channel).map { $0[0] < 0 ? min(-$0[0], $0[2]) : $0[2] }
    }

    /// The least raw value, the step and the greatest, from `[least step most]` as in the kernel's documentation of IIO.
    private func rawNumbers(_ channel: String) -> [Double]? {
        for name in [channel, "in_accel"] {
            guard let text = try? directory.text(name + "_raw_available"), text.hasPrefix("["), text.hasSuffix("]")
            else { continue }
            let numbers = text.dropFirst().dropLast().split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3, numbers[0] <= numbers[2], numbers[1] > 0, numbers[2] > 0 else { continue }
            return numbers
        }
        return nil
    }
}
