/// The sensors of a hub, and the layout of its reports.
package struct HubDescription: Sendable, Equatable {
    /// The width of an axis in an input report.
    package enum Width: Int, Sendable, CaseIterable {
        case bits16 = 16
        case bits32 = 32
    }

    /// The sensors, in the order of ``VirtualSensor``.
    package let sensors: [VirtualSensor]
    /// The device's name in the kernel.
    package var name = "Binnacle sensor hub"
    package var width = Width.bits32
    /// Whether a sample has the hub's own time; otherwise its stamp is the kernel's time of arrival.
    package var hasTime = true
    /// The initial report interval, in milliseconds.
    package var intervalMilliseconds: UInt32 = 10

    /// The maximum length of a name, in bytes.
    package static let longestName = 127

    /// Describes a hub with at least one sensor.
    package init(_ sensors: Set<VirtualSensor>) {
        precondition(!sensors.isEmpty, "a hub without sensors")
        self.sensors = VirtualSensor.allCases.filter(sensors.contains)
    }

    /// The number of a sensor's reports, from 1.
    package func reportNumber(of sensor: VirtualSensor) -> UInt8? {
        sensors.firstIndex(of: sensor).map { UInt8($0 + 1) }
    }

    func sensor(ofReport number: UInt8) -> VirtualSensor? {
        number > 0 && Int(number) <= sensors.count ? sensors[Int(number) - 1] : nil
    }

    /// The power of ten of an axis' count, in the sensor's default unit.
    func unitExponent(of sensor: VirtualSensor) -> Int { sensor.unitExponent - finerDigits(of: sensor) }

    /// The hub's counts per ``VirtualSensor/unitsPerCount``.
    func divisor(of sensor: VirtualSensor) -> Double { finerDigits(of: sensor) == 0 ? 1 : 100 }

    /// With 32 bits an acceleration has steps of a hundredth of a milligravity, finer than those of a recording; whole
    /// milligravities would shift the end of a motion by two samples.
    private func finerDigits(of sensor: VirtualSensor) -> Int { width == .bits32 && sensor == .accelerometer ? 2 : 0 }

    package var counts: ClosedRange<Int32> {
        switch width {
        case .bits16: Int32(Int16.min)...Int32(Int16.max)
        case .bits32: Int32.min...Int32.max
        }
    }

    /// An input report: the report's number, the axes, and the hub's time if it has one.
    func input(_ sensor: VirtualSensor, _ counts: SIMD3<Int32>, microseconds: UInt64) -> [UInt8] {
        var bytes = [reportNumber(of: sensor) ?? 0]
        for axis in 0..<3 {
            switch width {
            case .bits16: bytes.append(littleEndian: Int16(clamping: counts[axis]))
            case .bits32: bytes.append(littleEndian: counts[axis])
            }
        }
        if hasTime { bytes.append(littleEndian: microseconds) }
        return bytes
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
