import Foundation
import TestSupport
import Testing

/// What an unprivileged user may not open.
///
/// Corner case 10.
@Suite(.fewAtATime) struct PermissionTests {
    private let channels = ScanChannel.axes("accel", "le:s16/16>>0")

    /// Closes a node to the user who runs the program: another user, or that of the tests where they do not run as root.
    private func close(_ device: MockDevice, in station: MockStation) {
        let path = station.nodePath(of: device)
        if geteuid() == 0 { chown(path, 0, 1) }
        chmod(path, geteuid() == 0 ? 0o640 : 0)
    }

    /// What a message has to name: the file, its group and mode, and the rule that would open it.
    private func words(_ node: String) -> [String] {
        let group = getgrgid(geteuid() == 0 ? 1 : getegid()).map { String(cString: $0.pointee.gr_name) } ?? "?"
        return [node, ":" + group, geteuid() == 0 ? "0640" : "00", "udev rule", "binnacle.rules", "group"]
    }

    /// The message names what was refused, whose it is, and the rule that would open it.
    @Test func aClosedInputDeviceIsDeniedWithTheRemedy() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt")
        try station.add(device)
        close(device, in: station)
        let result = try await station.run("devices", "--json", asNobody: true)
        #expect(result.status == 0, "\(result.errors)")
        let listed = try #require(try ListedDevice.list(result.output).first)
        #expect(listed.state == "denied")
        let reason = try #require(listed.reason)
        for word in words("/dev/input/event1") {
            #expect(reason.contains(word), "\(word) in \(reason)")
        }
        let recorded = try await station.run("record", "-o", station.folder + "/denied.csv", asNobody: true)
        #expect(recorded.status == 77, "\(recorded.errors)")
        #expect(recorded.errors.contains("/dev/input/event1"), "\(recorded.errors)")
    }

    /// A buffer that may not be opened, without single values to fall back on.
    @Test func aClosedBufferIsDeniedWithTheRemedy() async throws {
        let station = try MockStation()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels)
        try station.add(device)
        close(device, in: station)
        let result = try await station.run("devices", "--json", asNobody: true)
        #expect(result.status == 0, "\(result.errors)")
        let listed = try #require(try ListedDevice.list(result.output).first)
        #expect(listed.state == "denied")
        let reason = try #require(listed.reason)
        for word in words("/dev/iio:device0") {
            #expect(reason.contains(word), "\(word) in \(reason)")
        }
        let recorded = try await station.run("record", "-o", station.folder + "/denied.csv", asNobody: true)
        #expect(recorded.status == 77, "\(recorded.errors)")
        #expect(recorded.errors.contains("/dev/iio:device0"), "\(recorded.errors)")
        #expect(try await station.run("doctor", asNobody: true).status != 0)
    }

    /// The node is open, the controls in sysfs are not: a rule for the node alone is not enough, and the message says so.
    @Test(.enabled(if: geteuid() == 0, "the controls belong to whoever runs the tests"))
    func closedControlsAreNamed() async throws {
        let station = try MockStation()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels)
        try station.add(device)
        chmod(station.nodePath(of: device), 0o666)
        let recorded = try await station.run("record", "-o", station.folder + "/denied.csv", asNobody: true)
        #expect(recorded.status == 77, "\(recorded.errors)")
        #expect(recorded.errors.contains("/sys/devices/platform/chip0/iio:device0/"), "\(recorded.errors)")
        #expect(recorded.errors.contains("binnacle"), "\(recorded.errors)")
    }

    /// All users may read single values: a closed buffer is reported, and is no reason to give up.
    @Test func aClosedBufferIsPassedOverWhereSingleValuesCanBeRead() async throws {
        let station = try MockStation()
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        for (axis, value) in ["x": "1", "y": "2", "z": "3"] { device.attributes["in_accel_\(axis)_raw"] = value }
        try station.add(device)
        close(device, in: station)
        let recording = try station.record(asNobody: true)
        try await recording.waitForRows(1)
        try await recording.program.waitForMessage("accel_3d", "/dev/iio:device0")
        let samples = try await recording.stop().only("a")
        #expect(samples.allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
    }

    /// One that is closed does not keep the others from being recorded.
    @Test func whatIsOpenIsRecordedBesideWhatIsNot() async throws {
        let station = try MockStation()
        let closed = MockDevice.evdev(1, name: "tilt")
        try station.add(closed, .polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1"))
        close(closed, in: station)
        let recording = try station.record(asNobody: true)
        try await recording.waitForSample(of: "a") { $0.x == 1 }
        try await recording.program.waitForMessage("tilt", "/dev/input/event1")
        let result = try await recording.stop()
        #expect(result.streams.filter { !$0.value.isEmpty }.map(\.key) == ["chip.a"])
    }
}
