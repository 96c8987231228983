extension HubDescription {
    /// The usages of the HID Usage Tables 1.5, chapter 24, that every sensor of a hub has.
    private enum Usage {
        static let page = 0x20
        static let hub: UInt16 = 0x01
        static let reportInterval: UInt16 = 0x030E
        static let sensitivity: UInt16 = 0x030F
        static let reportingState: UInt16 = 0x0316
        static let powerState: UInt16 = 0x0319
        static let time: UInt16 = 0x0529
        /// No events, all events, threshold events, and the same three with wake-up.
        static let reportingStates: ClosedRange<UInt16> = 0x0840...0x0845
        /// Undefined, and D0 to D4.
        static let powerStates: ClosedRange<UInt16> = 0x0850...0x0855
    }

    /// The time in an input report is in microseconds.
    private static let timeExponent = -6
    /// The largest value of a 32-bit field that the kernel treats as unsigned.
    private static let largest = 0x7FFF_FFFF

    /// The report descriptor: a collection for each sensor, with a feature report and an input report of the same number.
    package var descriptor: [UInt8] {
        var descriptor = HIDDescriptor()
        descriptor.add(.usagePage, Usage.page)
        descriptor.add(usage: Usage.hub)
        descriptor.add(.application) { descriptor in
            for (place, sensor) in sensors.enumerated() {
                descriptor.add(.reportNumber, place + 1)
                descriptor.add(usage: sensor.usage)
                descriptor.add(.physical) { descriptor in
                    addFeatures(of: sensor, to: &descriptor)
                    addInput(of: sensor, to: &descriptor)
                }
            }
        }
        return descriptor.bytes
    }

    /// A byte for each state, and 32 bits each for interval and sensitivity.
    private func addFeatures(of sensor: VirtualSensor, to descriptor: inout HIDDescriptor) {
        descriptor.add(.reportCount, 1)
        Self.addChoice(Usage.reportingState, among: Usage.reportingStates, to: &descriptor)
        Self.addChoice(Usage.powerState, among: Usage.powerStates, to: &descriptor)
        descriptor.add(range: 0...Self.largest)
        descriptor.add(.reportSize, 32)
        descriptor.add(.unit, 0)
        // Without a unit, the interval is in milliseconds.
        descriptor.add(usage: Usage.reportInterval)
        descriptor.add(exponent: 0)
        descriptor.add(.feature, HIDDescriptor.Field.number.rawValue)
        descriptor.add(usage: Usage.sensitivity)
        descriptor.add(exponent: unitExponent(of: sensor))
        descriptor.add(.feature, HIDDescriptor.Field.number.rawValue)
    }

    /// A byte, counting from 1, that selects one of several usages.
    private static func addChoice(
        _ usage: UInt16, among choices: ClosedRange<UInt16>, to descriptor: inout HIDDescriptor
    ) {
        descriptor.add(usage: usage)
        descriptor.add(range: 1...choices.count)
        descriptor.add(.reportSize, 8)
        descriptor.add(.logical) { descriptor in
            for choice in choices { descriptor.add(usage: choice) }
            descriptor.add(.feature, HIDDescriptor.Field.choice.rawValue)
        }
    }

    /// Three axes, and the time if the hub has one.
    private func addInput(of sensor: VirtualSensor, to descriptor: inout HIDDescriptor) {
        descriptor.add(range: Int(counts.lowerBound)...Int(counts.upperBound))
        descriptor.add(.reportSize, width.rawValue)
        descriptor.add(exponent: unitExponent(of: sensor))
        for usage in sensor.axisUsages {
            descriptor.add(usage: usage)
            descriptor.add(.input, HIDDescriptor.Field.number.rawValue)
        }
        guard hasTime else { return }
        descriptor.add(usage: Usage.time)
        descriptor.add(range: 0...Self.largest)
        descriptor.add(.reportSize, 64)
        descriptor.add(exponent: Self.timeExponent)
        descriptor.add(.input, HIDDescriptor.Field.number.rawValue)
    }
}
