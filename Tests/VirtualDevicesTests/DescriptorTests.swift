import Testing
import VirtualDevices

@Suite struct DescriptorTests {
    private static let hubs: [HubDescription] = {
        var hubs: [HubDescription] = []
        let sets: [Set<VirtualSensor>] = [
            [.accelerometer], [.magnetometer], [.accelerometer, .magnetometer], Set(VirtualSensor.allCases),
        ]
        for sensors in sets {
            for width in HubDescription.Width.allCases {
                for hasTime in [true, false] {
                    var hub = HubDescription(sensors)
                    hub.width = width
                    hub.hasTime = hasTime
                    hubs.append(hub)
                }
            }
        }
        return hubs
    }()

    @Test(arguments: hubs) func aParserFindsEverySensor(hub: HubDescription) {
        let parser = HIDParser(hub.descriptor)
        #expect(parser.problems.isEmpty)
        #expect(parser.collections.first?.usage == 0x0020_0001)
        #expect(parser.collections.first?.kind == 1)
        let physical = parser.collections.filter { $0.kind == 0 }.map(\.usage)
        let usages: [VirtualSensor: UInt32] = [
            .accelerometer: 0x0020_0073, .gyroscope: 0x0020_0076, .magnetometer: 0x0020_0083,
        ]
        #expect(physical == hub.sensors.map { usages[$0] ?? 0 })
        for (place, sensor) in hub.sensors.enumerated() {
            #expect(hub.reportNumber(of: sensor) == UInt8(place + 1))
            let path = parser.fields.filter { $0.report == place + 1 }.map { $0.path.prefix(2) }
            #expect(path.allSatisfy { $0 == [0x0020_0001, usages[sensor] ?? 0] })
            // Two states, interval and sensitivity; the axes and the time.
            #expect(parser.size(report: place + 1, isInput: false) == 10)
            let size = 3 * hub.width.rawValue / 8 + (hub.hasTime ? 8 : 0)
            #expect(parser.size(report: place + 1, isInput: true) == size)
        }
    }

    @Test(arguments: hubs) func theAxesHaveTheirUsagesRangesAndExponents(hub: HubDescription) {
        let parser = HIDParser(hub.descriptor)
        let axes: [VirtualSensor: (first: UInt32, exponent: Int)] = [
            .accelerometer: (0x0020_0453, hub.width == .bits16 ? -3 : -5), .gyroscope: (0x0020_0457, -3),
            .magnetometer: (0x0020_0485, 0),
        ]
        for (place, sensor) in hub.sensors.enumerated() {
            let fields = parser.fields.filter { $0.report == place + 1 && $0.isInput }
            #expect(fields.count == (hub.hasTime ? 4 : 3))
            #expect(fields.allSatisfy { $0.isNumber && $0.count == 1 && $0.unit == 0 && $0.usages.count == 1 })
            for (axis, field) in fields.prefix(3).enumerated() {
                #expect(field.usages == [(axes[sensor]?.first ?? 0) + UInt32(axis)])
                #expect(field.exponent == axes[sensor]?.exponent)
                #expect(field.bits == hub.width.rawValue)
                #expect(field.range == (hub.width == .bits16 ? -32_768...32_767 : -2_147_483_648...2_147_483_647))
            }
            guard hub.hasTime, let time = fields.last else { continue }
            #expect(time.usages == [0x0020_0529])
            #expect(time.exponent == -6)
            #expect(time.bits == 64)
        }
    }

    @Test func theFeaturesAreTwoChoicesAndTwoNumbers() {
        let fields = HIDParser(HubDescription([.accelerometer]).descriptor).fields.filter { !$0.isInput }
        #expect(fields.map(\.bits) == [8, 8, 32, 32])
        #expect(fields.map(\.isNumber) == [false, false, true, true])
        #expect(fields[0].path.last == 0x0020_0316)
        #expect(fields[0].usages == (0x0020_0840...0x0020_0845).map { $0 })
        #expect(fields[1].path.last == 0x0020_0319)
        #expect(fields[1].usages == (0x0020_0850...0x0020_0855).map { $0 })
        #expect(fields[0].range == 1...6)
        #expect(fields[1].range == 1...6)
        #expect(fields[2].usages == [0x0020_030E])
        #expect(fields[2].exponent == 0)
        #expect(fields[3].usages == [0x0020_030F])
        #expect(fields[3].exponent == -5)
    }
}
