import Glibc
import LinuxSystem
import TestSupport
import Testing
import VirtualDevices

@Suite struct InputDeviceTests {
    private let kernel = KernelDouble()

    private func device(hasTime: Bool, hasGyroscope: Bool = false) throws -> InputDevice {
        var description = InputDevice.Description()
        description.hasTime = hasTime
        description.hasGyroscope = hasGyroscope
        let kernel = kernel
        // No kernel is behind a socket that would make a device.
        let device = InputDevice(
            description, open: { () throws(SystemError) in Descriptor(owning: kernel.open()) },
            create: { (_, _) throws(SystemError) in nil })
        try device.plug()
        return device
    }

    /// The type, the code and the value of each event in what was written.
    private func frame() -> [[Int]]? {
        guard let bytes = kernel.read() else { return nil }
        return stride(from: 0, to: bytes.count, by: 24).map { offset in
            #expect(bytes[offset..<(offset + 16)].allSatisfy { $0 == 0 }, "the kernel adds the time")
            let value = UInt32(KernelDouble.number(bytes, offset + 20, 4))
            return [
                KernelDouble.number(bytes, offset + 16, 2), KernelDouble.number(bytes, offset + 18, 2),
                Int(Int32(bitPattern: value)),
            ]
        }
    }

    @Test func aFrameIsThreeAxesTheCounterAndItsEnd() throws {
        let device = try device(hasTime: true)
        #expect(device.isWanted)
        let start: Int64 = 5_000_000_000_000
        #expect(try device.send(.accelerometer, SIMD3(0, -9.80665, 980), timeNanoseconds: start))
        // EV_ABS, EV_MSC with MSC_TIMESTAMP, EV_SYN; an axis ends at 32 g.
        #expect(frame() == [[3, 0, 0], [3, 1, -1000], [3, 2, 32_000], [4, 5, 0], [0, 0, 0]])
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 0), timeNanoseconds: start + 10_000_000))
        #expect(frame()?[3] == [4, 5, 10_000])
        // The counter wraps around after 71.6 minutes.
        let late = start + 4_294_967_297_000
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 0), timeNanoseconds: late))
        #expect(frame()?[3] == [4, 5, 1])
    }

    @Test func aGyroscopeIsInTheFrameOfTheAccelerometer() throws {
        let device = try device(hasTime: false, hasGyroscope: true)
        #expect(device.sensors == [.accelerometer, .gyroscope])
        #expect(try device.send(.gyroscope, SIMD3(7.2, 0, -2500), timeNanoseconds: 0))
        #expect(frame() == nil)
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 9.80665), timeNanoseconds: 0))
        #expect(
            frame() == [
                [3, 0, 0], [3, 1, 0], [3, 2, 1000], [3, 3, 7200], [3, 4, 0], [3, 5, -2_000_000], [0, 0, 0],
            ])
    }

    @Test func withoutATimeThereIsNoCounter() throws {
        let device = try device(hasTime: false)
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 9.80665), timeNanoseconds: 0))
        #expect(frame() == [[3, 0, 0], [3, 1, 0], [3, 2, 1000], [0, 0, 0]])
        #expect(try !device.send(.magnetometer, SIMD3(0, 0, 1), timeNanoseconds: 0))
        #expect(frame() == nil)
    }

    @Test func unpluggedItIsGone() throws {
        let device = try device(hasTime: true)
        device.unplug()
        #expect(kernel.read() == [])
        #expect(!device.isPlugged)
        #expect(try !device.send(.accelerometer, SIMD3(0, 0, 0), timeNanoseconds: 0))
        try device.plug()
        #expect(try device.send(.accelerometer, SIMD3(0, 0, 0), timeNanoseconds: 77_000_000))
        #expect(frame()?[3] == [4, 5, 0], "the counter begins with the device")
    }

    @Test func whatIsNoInputDeviceIsRefused() throws {
        let kernel = kernel
        let device = InputDevice(InputDevice.Description()) { () throws(SystemError) in
            Descriptor(owning: kernel.open())
        }
        #expect(throws: SystemError.self) { try device.plug() }
        #expect(!device.isPlugged)
    }
}
