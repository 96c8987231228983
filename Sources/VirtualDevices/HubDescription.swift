/// Which sensors a hub has, and how its reports are laid out.
package struct HubDescription: Sendable, Equatable {
    /// How wide an axis is in an input report.
    package enum Width: Int, Sendable, CaseIterable {
        case bits16 = 16
        case bits32 = 32
    }

    /// The sensors, each once and in their order.
    package let sensors: [VirtualSensor]
    /// What the kernel calls the device.
    package var name = "Binnacle sensor hub"
    package var width = Width.bits32
    /// Whether a sample carries the hub's own time; without it, the kernel's time of arrival is the stamp.
    package var hasTime = true
    /// The report interval that the hub begins with, in milliseconds.
    package var intervalMilliseconds: UInt32 = 10

    /// The longest name that fits, in bytes.
    package static let longestName = 127

    /// Describes a hub.
    ///
    /// - Parameter sensors: At least one, in any order.
    package init(_ sensors: Set<VirtualSensor>) {
        precondition(!sensors.isEmpty, "a hub without sensors")
        self.sensors = sensors.sorted()
    }

    /// By which number the reports of a sensor are known: from 1 on.
    package func reportNumber(of sensor: VirtualSensor) -> UInt8? {
        sensors.firstIndex(of: sensor).map { UInt8($0 + 1) }
    }

    /// The sensor whose reports have a number.
    func sensor(ofReport number: UInt8) -> VirtualSensor? {
        number > 0 && Int(number) <= sensors.count ? sensors[Int(number) - 1] : nil
    }

    /// The power of ten by which a count of an axis is multiplied, in the unit that the sensor has without any.
    func unitExponent(of sensor: VirtualSensor) -> Int { sensor.unitExponent - finerDigits(of: sensor) }

    /// By how much the hub's counts are finer than ``VirtualSensor/unitsPerCount``.
    func divisor(of sensor: VirtualSensor) -> Double { finerDigits(of: sensor) == 0 ? 1 : 100 }

    /// With 32 bits an acceleration has room for hundredths of a milligravity, which add nothing to a recording's own steps: as
    /// whole ones they would move an end of motion by two samples.
    private func finerDigits(of sensor: VirtualSensor) -> Int { width == .bits32 && sensor == .accelerometer ? 2 : 0 }

    /// The counts that an axis may have.
    package var counts: ClosedRange<Int32> {
        switch width {
        case .bits16: Int32(Int16.min)...Int32(Int16.max)
        case .bits32: Int32.min...Int32.max
        }
    }
}
