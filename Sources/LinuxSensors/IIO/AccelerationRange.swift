import Binnacle

extension SensorDevice {
    /// The acceleration that each axis can measure at its present scale, in m/s²; `nil` when that is not known.
    ///
    /// Reads sysfs. The bits of a scan and the scale give it, so a device without a buffer has none here, and neither has
    /// an input device.
    package var accelerationRange: Double? {
        guard interface == .iio, kinds.contains(.accelerometer) else { return nil }
        let device = IIODevice(self)
        guard let buffer = IIOBufferDirectory.find(in: directory, for: [.accelerometer]) else { return nil }
        var least: Double?
        for name in IIODevice.channels(.accelerometer) {
            guard let type = (try? buffer.channel(name))?.type, let scale = try? device.scale(name, .accelerometer)
            else {
                return nil
            }
            var range = abs(scale)
            for _ in 0..<(type.isSigned ? type.bits - 1 : type.bits) { range *= 2 }
            least = min(least ?? range, range)
        }
        return least
    }
}
