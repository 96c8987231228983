import Foundation
import TestSupport
import Testing

/// `--root`: devices in a folder, without udev and without umockdev.
@Suite(.fewAtATime) struct FakeTreeTests {
    private let channels = ScanChannel.axes("accel", "le:s16/16>>0")

    private struct Run {
        let child: Child
        let errors: TemporaryFile
        let path: String

        func stop() async throws -> Recording {
            kill(child.processIdentifier, SIGINT)
            child.waitUntilExit()
            let said = try errors.text()
            #expect(child.terminationStatus == 0, "\(said)")
            defer { unlink(path) }
            return try Recording(path: path)
        }
    }

    private func record(_ tree: FakeTree) throws -> Run {
        let path = tree.root + "/record.csv"
        let child = Binary.process(["record", "--root", tree.root, "-o", path])
        let errors = try TemporaryFile()
        child.standardError = try errors.writer()
        try child.run()
        return Run(child: child, errors: errors, path: path)
    }

    @Test func devicesOfATreeAreListed() async throws {
        let tree = try FakeTree()
        try tree.add(.buffered("accel", 0, name: "accel_3d", channels: channels))
        try tree.add(.polled("magn", 1, name: "magn_3d", raw: [1, 2, 3], scale: "0.001"))
        let result = try Binary.run("devices", "--json", "--root", tree.root)
        #expect(result.status == 0, "\(result.errors)")
        let devices = try ListedDevice.list(result.output)
        #expect(devices.map(\.name) == ["accel_3d", "magn_3d"])
        #expect(devices.map(\.state) == ["ready", "ready"])
        #expect(try Binary.run("doctor", "--root", tree.root).status == 0)
    }

    /// A pipe keeps what is written in one piece, so each scan arrives whole, and several at a time.
    @Test func scansOfAFIFOAreRecorded() async throws {
        let tree = try FakeTree()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        try tree.add(device)
        let run = try record(tree)
        try await waitUntil("the buffer is on") { try tree.attribute("buffer0/enable", of: device) == "1" }
        let encoder = ScanEncoder(channels)
        let start = monotonicNow() - 1_000_000_000
        for group in 0..<10 {
            let scans = (0..<10).map { number in
                let place = Int64(group * 10 + number)
                return encoder.scan([place, 2, 3, start + place * 10_000_000])
            }
            try await tree.write(Array(scans.joined()), to: device)
        }
        let samples = try await run.stop().only("a")
        #expect(samples.map(\.x) == (0..<100).map(Double.init))
        #expect(try tree.attribute("buffer0/enable", of: device) == "0")
    }

    /// Corner case 9: a buffer of a fixed length, and a driver that takes no watermark, are used as they are.
    @Test func controlsThatKeepTheirValueAreNoObstacle() async throws {
        let tree = try FakeTree()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        try tree.add(device)
        let length = try StubbornAttribute(path: tree.path("buffer0/length", of: device), value: "64")
        // Every write to it fails.
        try FileManager.default.removeItem(atPath: tree.path("buffer0/watermark", of: device))
        try FileManager.default.createSymbolicLink(
            atPath: tree.path("buffer0/watermark", of: device), withDestinationPath: "/dev/full")
        let run = try record(tree)
        try await waitUntil("the buffer is on") { try tree.attribute("buffer0/enable", of: device) == "1" }
        try await tree.write(ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]), to: device)
        #expect(try await run.stop().only("a").map(\.x) == [1])
        #expect(!length.written().isEmpty)
    }

    /// Corner case 15: a driver that takes the order to switch on, and does not obey.
    @Test func aBufferThatStaysOffIsASilentOne() async throws {
        let tree = try FakeTree()
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        for (axis, value) in ["x": "1", "y": "2", "z": "3"] { device.attributes["in_accel_\(axis)_raw"] = value }
        try tree.add(device)
        let enable = try StubbornAttribute(path: tree.path("buffer0/enable", of: device), value: "0")
        let run = try record(tree)
        try await waitUntil("single values are read") { try run.errors.text().contains("single values") }
        try await waitUntil("a sample is recorded") {
            guard let recording = try? Recording(path: run.path) else { return false }
            return try !recording.only("a").isEmpty
        }
        #expect(try await run.stop().only("a").allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
        #expect(enable.written().contains("1"))
    }

    /// D1 without udev: a device that vanishes is asked for again now and then.
    @Test func aDeviceWithoutUdevComesBack() async throws {
        let tree = try FakeTree()
        let device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        try tree.add(device)
        let run = try record(tree)
        try await waitUntil("a sample is recorded") { (try? Recording(path: run.path).only("a").isEmpty) == false }
        let folder = String(tree.path("", of: device).dropLast())
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".gone")
        try await waitUntil("the sensor is said to be gone") { try run.errors.text().contains("sensor.inactive") }
        try FileManager.default.moveItem(atPath: folder + ".gone", toPath: folder)
        try await waitUntil("the sensor is back") { try run.errors.text().contains("sensor.active") }
        #expect(try await run.stop().only("a").allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
    }

    /// A folder that is no such tree is an error and no empty machine.
    @Test func aFolderWithoutDevicesIsAnError() async throws {
        let result = try Binary.run("devices", "--root", "/nonexistent-binnacle")
        #expect(result.status != 0)
        #expect(result.errors.contains("/nonexistent-binnacle"), "\(result.errors)")
    }
}
