import Glibc
import LinuxSystem
import TestSupport
import Testing
import VirtualDevices

@Suite struct HubDeviceTests {
    private let kernel = KernelDouble()
    private static let millisecond: Int64 = 1_000_000

    private func hub(_ sensors: Set<VirtualSensor> = [.accelerometer, .magnetometer]) -> HubDescription {
        HubDescription(sensors)
    }

    private func device(_ description: HubDescription) throws -> HubDevice {
        let kernel = kernel
        let device = HubDevice(description) { () throws(SystemError) in Descriptor(owning: kernel.open()) }
        try device.plug()
        return device
    }

    /// Sends bytes to the device as the kernel, and returns the device's answer.
    private func ask(_ device: HubDevice, _ bytes: [UInt8]) throws -> KernelDouble.Event? {
        kernel.say(bytes)
        #expect(try device.serve())
        return kernel.next()
    }

    private func switchOn(_ device: HubDevice, _ report: UInt8, interval: UInt32 = 10) throws {
        let answer = try ask(
            device, KernelDouble.set(7, KernelDouble.features(report: report, on: true, interval: interval)))
        #expect(answer == .setAnswer(identifier: 7, error: 0))
    }

    @Test func theKernelGetsTheDescriptionByteForByte() throws {
        var description = hub([.accelerometer])
        description.name = "box"
        let device = try device(description)
        let bytes = try #require(kernel.read())
        var expected = KernelDouble.word(11)
        expected += Array("box".utf8) + [UInt8](repeating: 0, count: 125)
        // No place and no serial number.
        expected += [UInt8](repeating: 0, count: 128)
        let size = description.descriptor.count
        expected += [UInt8(size & 0xFF), UInt8(size >> 8), 0x18, 0]
        expected += KernelDouble.word(0x1209) + KernelDouble.word(1) + KernelDouble.word(1) + KernelDouble.word(0)
        expected += description.descriptor
        #expect(bytes == expected)
        #expect(device.isPlugged)
        #expect(!device.isDriven)
    }

    @Test func nothingIsSaidBeforeTheKernelWantsIt() throws {
        let device = try device(hub())
        #expect(kernel.all().count == 1)
        #expect(!device.isWanted)
        #expect(try !device.send(.accelerometer, SIMD3(0, 0, 9.80665), timeNanoseconds: 1000))
        #expect(kernel.all().isEmpty)
        try switchOn(device, 1)
        #expect(device.isWanted)
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 9.80665), timeNanoseconds: 1_234_567_890_123))
        #expect(try !device.send(.magnetometer, SIMD3(1, 2, 3), timeNanoseconds: 0))
        let time: [UInt8] = [0xD2, 0x02, 0x96, 0x49, 0, 0, 0, 0]
        #expect(kernel.all() == [.input([1, 0, 0, 0, 0, 0, 0, 0, 0, 0xA0, 0x86, 1, 0] + time)])
        #expect(
            try ask(device, KernelDouble.set(8, KernelDouble.features(report: 1, on: false)))
                == .setAnswer(identifier: 8, error: 0))
        #expect(!device.isWanted)
    }

    @Test(arguments: [true, false]) func aNarrowReportHasTwoBytesAnAxis(hasTime: Bool) throws {
        var description = hub()
        description.width = .bits16
        description.hasTime = hasTime
        let device = try device(description)
        #expect(kernel.all().count == 1)
        try switchOn(device, 2)
        #expect(try device.send(.magnetometer, SIMD3(-0.1, 4000, 25.6), timeNanoseconds: 258_000))
        // Saturated, and not wrapped around.
        let expected: [UInt8] = [2, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1] + (hasTime ? [2, 1, 0, 0, 0, 0, 0, 0] : [])
        #expect(kernel.next() == .input(expected))
    }

    @Test func aReportIsGivenWhenItIsAskedFor() throws {
        let device = try device(hub())
        _ = kernel.all()
        // Off, without events, ten milliseconds.
        #expect(
            try ask(device, KernelDouble.get(21, report: 2))
                == .getAnswer(identifier: 21, error: 0, [2, 1, 6, 10, 0, 0, 0, 0, 0, 0, 0]))
        #expect(device.isDriven)
        // Nothing has been measured yet.
        #expect(
            try ask(device, KernelDouble.get(22, report: 1, kind: KernelDouble.input))
                == .getAnswer(identifier: 22, error: 5, []))
        _ = try device.send(.accelerometer, SIMD3(9.80665, 0, 0), timeNanoseconds: 5000)
        #expect(
            try ask(device, KernelDouble.get(23, report: 1, kind: KernelDouble.input))
                == .getAnswer(
                    identifier: 23, error: 0, [1, 0xA0, 0x86, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]))
        for (report, kind) in [(3, 0), (0, 0), (1, 1)] as [(UInt8, UInt8)] {
            #expect(
                try ask(device, KernelDouble.get(24, report: report, kind: kind))
                    == .getAnswer(identifier: 24, error: 5, []))
        }
    }

    @Test func whatTheKernelSetsIsKept() throws {
        let device = try device(hub())
        _ = kernel.all()
        let features = KernelDouble.features(report: 1, on: true, interval: 70_000, sensitivity: 3)
        #expect(try ask(device, KernelDouble.set(1, features)) == .setAnswer(identifier: 1, error: 0))
        #expect(
            try ask(device, KernelDouble.get(2, report: 1)) == .getAnswer(identifier: 2, error: 0, features))
        #expect(device.features(of: .accelerometer)?.intervalMilliseconds == 70_000)
        #expect(device.features(of: .accelerometer)?.sensitivity == 3)
        #expect(device.features(of: .magnetometer)?.isReporting == false)
        // Too short, out of range, of no sensor, and no feature report.
        let bad: [([UInt8], UInt8)] = [
            (Array(features.dropLast()), 0), ([1, 0] + features.dropFirst(2), 0),
            ([1, 2, 7] + features.dropFirst(3), 0), ([9] + features.dropFirst(), 0), (features, 1),
        ]
        for (report, kind) in bad {
            #expect(
                try ask(device, KernelDouble.set(3, report, kind: kind)) == .setAnswer(identifier: 3, error: 5))
        }
        #expect(
            try ask(device, KernelDouble.get(4, report: 1)) == .getAnswer(identifier: 4, error: 0, features))
    }

    @Test func whatWantsNoAnswerGetsNone() throws {
        let device = try device(hub())
        _ = kernel.all()
        for kind in [2, 4, 5, 3, 6, 99] as [UInt32] {
            #expect(try ask(device, KernelDouble.word(kind)) == nil)
        }
        #expect(try !device.serve())
        #expect(!device.isDriven)
    }

    @Test func aLongerIntervalThinsTheSamplesEvenly() throws {
        let device = try device(hub())
        _ = kernel.all()
        try switchOn(device, 1, interval: 20)
        let sent = try (0..<100).filter { number in
            // Jitter of a millisecond changes nothing.
            let time = Int64(number) * 10 * Self.millisecond + Int64(number % 3 - 1) * Self.millisecond
            return try device.send(.accelerometer, SIMD3(0, 0, 1), timeNanoseconds: time)
        }
        #expect(sent == stride(from: 0, to: 100, by: 2).map { $0 })
        _ = kernel.all()
        // The one that the hub has by itself lets everything through, however often that is.
        try switchOn(device, 1, interval: 10)
        for number in 0..<10 {
            #expect(try device.send(.accelerometer, SIMD3(0, 0, 1), timeNanoseconds: Int64(number) * 1000))
        }
    }

    @Test func aPauseBeginsTheIntervalAnew() throws {
        let device = try device(hub())
        _ = kernel.all()
        try switchOn(device, 1, interval: 50)
        for (time, isSent) in [(0, true), (10, false), (5000, true), (5040, false), (5050, true), (3, true)] {
            let time = Int64(time) * Self.millisecond
            #expect(try device.send(.accelerometer, SIMD3(0, 0, 1), timeNanoseconds: time) == isSent)
        }
    }

    @Test func unpluggedItIsGoneAndPluggedInItIsNew() throws {
        let device = try device(hub())
        _ = kernel.all()
        try switchOn(device, 1)
        device.unplug()
        #expect(kernel.all() == [.destroy, .closed])
        #expect(!device.isPlugged)
        #expect(!device.isWanted)
        #expect(device.descriptor == nil)
        #expect(try !device.send(.accelerometer, SIMD3(0, 0, 1), timeNanoseconds: 0))
        device.unplug()
        try device.plug()
        try device.plug()
        #expect(kernel.openings == 2)
        #expect(kernel.next() == .create(name: "Binnacle sensor hub", descriptor: device.description.descriptor))
        #expect(
            try ask(device, KernelDouble.get(1, report: 1))
                == .getAnswer(identifier: 1, error: 0, [1, 1, 6, 10, 0, 0, 0, 0, 0, 0, 0]))
    }

    @Test func itGoesWithItsObject() throws {
        do {
            let device = try device(hub())
            #expect(device.isPlugged)
            _ = kernel.all()
        }
        #expect(kernel.all() == [.destroy, .closed])
    }

    @Test func aKernelThatIsGoneIsAnError() throws {
        let other = KernelDouble()
        let end = other.open()
        let device = HubDevice(hub()) { () throws(SystemError) in Descriptor(owning: end) }
        try device.plug()
        // Opening it again closes this end.
        close(other.open())
        #expect(throws: SystemError.self) { try device.serve() }
    }

    @Test func whatCannotBeOpenedIsNotPluggedIn() {
        let device = HubDevice(hub()) { () throws(SystemError) in
            throw SystemError(code: 2, call: "open", path: "/dev/uhid")
        }
        #expect(throws: SystemError(code: 2, call: "open", path: "/dev/uhid")) { try device.plug() }
        #expect(!device.isPlugged)
    }
}
