import Foundation
import TestSupport
import Testing

/// The rig itself: what it cannot do, no scenario can find.
@Suite(.fewAtATime) struct RigTests {
    @Test func aMockDeviceIsSeenByTheRealLibraries() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel\u{1B}_3d", channels: channels)
        try station.add(device, .evdev(1, name: "mock"))
        #expect(try station.attribute("name", of: device) == "accel\u{1B}_3d")
        try station.setAttribute("name", of: device, to: "other")
        #expect(try station.attribute("name", of: device) == "other")
        #expect(
            try String(contentsOfFile: "\(station.root)/sys/bus/iio/devices/iio:device0/name", encoding: .utf8)
                == "other\n")
    }

    @Test func aScanIsPaddedAndShifted() {
        let plain = ScanEncoder(ScanChannel.axes("accel", "le:s16/16>>0"))
        #expect(plain.scan([1, -2, 3, 4]) == [1, 0, 0xFE, 0xFF, 3, 0, 0xA5, 0xA5, 4, 0, 0, 0, 0, 0, 0, 0])
        var shifted = ScanEncoder(ScanChannel.axes("accel", "be:s12/16>>4", time: nil))
        shifted.rubbish = .max
        #expect(shifted.scan([1, -1, 0]) == [0x00, 0x1F, 0xFF, 0xFF, 0x00, 0x0F])
    }
}
