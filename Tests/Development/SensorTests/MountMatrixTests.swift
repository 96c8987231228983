import Foundation
import TestSupport
import Testing

/// Where the mount matrix comes from, and which ones are taken.
///
/// Corner case 8.
@Suite(.fewAtATime) struct MountMatrixTests {
    private static let swap = "0, 1, 0; 1, 0, 0; 0, 0, -1"
    private static let other = "-1, 0, 0; 0, -1, 0; 0, 0, 1"

    struct Place: CustomTestStringConvertible {
        let kind: String
        /// The attribute, or the udev property.
        let names: [String]
        /// Which of them counts; the rest hold another matrix.
        let winner: String
        var testDescription: String { "\(kind): \(winner) of \(names)" }
    }

    @Test(arguments: [
        Place(kind: "accel", names: ["ACCEL_MOUNT_MATRIX"], winner: "ACCEL_MOUNT_MATRIX"),
        Place(kind: "accel", names: ["in_accel_mount_matrix"], winner: "in_accel_mount_matrix"),
        Place(kind: "accel", names: ["mount_matrix"], winner: "mount_matrix"),
        Place(kind: "accel", names: ["in_mount_matrix"], winner: "in_mount_matrix"),
        Place(
            kind: "accel", names: ["ACCEL_MOUNT_MATRIX", "in_accel_mount_matrix", "mount_matrix"],
            winner: "ACCEL_MOUNT_MATRIX"),
        Place(
            kind: "accel", names: ["in_accel_mount_matrix", "mount_matrix", "in_mount_matrix"],
            winner: "in_accel_mount_matrix"),
        Place(kind: "magn", names: ["in_magn_mount_matrix"], winner: "in_magn_mount_matrix"),
        Place(kind: "magn", names: ["in_magn_mount_matrix", "ACCEL_MOUNT_MATRIX"], winner: "in_magn_mount_matrix"),
        Place(kind: "magn", names: ["mount_matrix", "ACCEL_MOUNT_MATRIX"], winner: "mount_matrix"),
    ])
    func theMatrixIsLookedForInTheRightPlaces(_ place: Place) async throws {
        let station = try MockStation()
        var device = MockDevice.polled(place.kind, 0, name: "chip", raw: [100, 200, 300], scale: "1")
        for name in place.names {
            let matrix = name == place.winner ? Self.swap : Self.other
            if name.hasPrefix("ACCEL") { device.properties[name] = matrix } else { device.attributes[name] = matrix }
        }
        try station.add(device)
        let listed = try await station.onlyDevice()
        #expect(listed.mountMatrix == Self.swap)
        #expect(listed.mountMatrixFrom?.contains(place.winner) == true, "\(listed.mountMatrixFrom ?? "nil")")
        let sample = try #require(try await station.recordPolled(place.kind == "accel" ? "a" : "m").first)
        let factor = place.kind == "accel" ? 1.0 : 100
        #expect(sample.x == 200 * factor)
        #expect(sample.y == 100 * factor)
        #expect(sample.z == -300 * factor)
    }

    /// A matrix that udev has later, as after a change of its database, counts from then on.
    @Test func aMatrixThatChangesCountsAtOnce() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [100, 200, 300], scale: "1")
        device.properties["ACCEL_MOUNT_MATRIX"] = Self.other
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForSample(of: "a") { $0.x == -100 }
        let properties = try String(contentsOfFile: station.path("uevent", of: device), encoding: .utf8)
        try station.setAttribute(
            "uevent", of: device,
            to: properties.trimmingCharacters(in: .newlines).replacingOccurrences(of: Self.other, with: Self.swap))
        try station.obey("announce", "change", device.path)
        try await recording.waitForSample(of: "a") { $0.x == 200 }
        try await recording.program.waitForMessage("the mount matrix '\(Self.swap)'")
        _ = try await recording.stop()
    }

    /// udev's database means the axes of a closed laptop, and those of an open one where it has one matrix for both sensors.
    @Test(
        arguments: [
            ("kx023", "1, 0, 0; 0, 1, 0; 0, 0, -1", [1, -2, 3]), ("kx023", nil, [1, 2, 3]),
            ("cros-ec-accel", "-1, 0, 0; 0, 1, 0; 0, 0, 1", [-1, -2, -3]),
            ("cros-ec-accel", "-1, 0, 0; 0, -1, 0; 0, 0, -1", [-1, -2, -3]),
        ] as [(String, String?, [Double])])
    func theMatrixOfABaseIsThatOfAnOpenLaptop(_ name: String, _ matrix: String?, _ axes: [Double]) async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: name, raw: [1, 2, 3], scale: "1")
        device.attributes["label"] = "accel-base"
        device.properties["ACCEL_MOUNT_MATRIX"] = matrix
        try station.add(device)
        let sample = try #require(try await station.recordPolled("a").first)
        #expect([sample.x, sample.y, sample.z] == axes)
    }

    /// udev's property is made for the accelerometer alone.
    @Test func aMagnetometerDoesNotTakeTheAccelerometersMatrix() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("magn", 0, name: "chip", raw: [1, 2, 3], scale: "0.01")
        device.properties["ACCEL_MOUNT_MATRIX"] = Self.swap
        device.attributes["in_accel_mount_matrix"] = Self.swap
        try station.add(device)
        #expect(try await station.onlyDevice().mountMatrixFrom == nil)
        let sample = try #require(try await station.recordPolled("m").first)
        #expect([sample.x, sample.y, sample.z] == [1, 2, 3])
    }

    /// A key of udev's database names one sensor of a hub, and all of them have the same axes; a sign of the acceleration is not theirs.
    @Test(arguments: ["0, 1, 0; -1, 0, 0; 0, 0, 1", "0, -1, 0; 1, 0, 0; 0, 0, -1"])
    func theSensorsOfAHubHaveTheAxesOfItsAccelerometer(_ matrix: String) async throws {
        let station = try MockStation()
        var devices = ["accel", "anglvel", "magn"].enumerated().map { number, kind in
            var device = MockDevice.polled(kind, number, name: kind + "_3d", raw: [1, 2, 3], scale: "0.01")
            let hub = "/devices/pci0000:00/0020:1022:0001.000\(number)"
            device.path = "\(hub)/HID-SENSOR-\(number).auto/iio:device\(number)"
            return device
        }
        devices[0].properties["ACCEL_MOUNT_MATRIX"] = matrix
        try station.add(devices[0], devices[1], devices[2])
        let listed = try await station.devices().dropFirst()
        #expect(listed.map(\.mountMatrix) == ["0, 1, 0; -1, 0, 0; 0, 0, 1", "0, 1, 0; -1, 0, 0; 0, 0, 1"])
        #expect(listed.allSatisfy { $0.mountMatrixFrom == "udev ACCEL_MOUNT_MATRIX of its hub's accelerometer" })
        let recording = try station.record()
        try await recording.waitForSample(of: "m") { $0.x == 2 && $0.y == -1 && $0.z == 3 }
        try await recording.waitForSample(of: "g") { Float($0.x) == 0.02 && Float($0.y) == -0.01 }
        // What udev says later of the accelerometer counts for all.
        let properties = try String(contentsOfFile: station.path("uevent", of: devices[0]), encoding: .utf8)
        try station.setAttribute(
            "uevent", of: devices[0],
            to: properties.trimmingCharacters(in: .newlines).replacingOccurrences(of: matrix, with: Self.other))
        try station.obey("announce", "change", devices[0].path)
        try await recording.waitForSample(of: "m") { $0.x == -1 && $0.y == -2 && $0.z == 3 }
        _ = try await recording.stop()
    }

    /// Three quarters of the hardware database's matrices have determinant −1.
    @Test func aReflectionIsTaken() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        device.properties["ACCEL_MOUNT_MATRIX"] = "1, 0, 0; 0, 1, 0; 0, 0, -1"
        try station.add(device)
        #expect(try await station.onlyDevice().state == "ready")
        let sample = try #require(try await station.recordPolled("a").first)
        #expect([sample.x, sample.y, sample.z] == [1, 2, -3])
    }

    /// Two axes would become one; and a text that is no matrix is none.
    @Test(arguments: [
        "1, 0, 0; 0, 1, 0; 0, 1, 0", "0, 0, 0; 0, 0, 0; 0, 0, 0", "1, 0; 0, 1", "north", "1, 0, 0; 0, nan, 0; 0, 0, 1",
    ])
    func aMatrixThatCannotBeIsRefused(_ matrix: String) async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        device.properties["ACCEL_MOUNT_MATRIX"] = matrix
        try station.add(device)
        let listed = try await station.onlyDevice()
        #expect(listed.state == "unusable")
        #expect(listed.reason?.contains("ACCEL_MOUNT_MATRIX") == true, "\(listed.reason ?? "")")
        #expect(listed.reason?.contains(matrix) == true, "\(listed.reason ?? "")")
        let result = try await station.run("record", "--for", "1s", "-o", station.folder + "/none.csv")
        #expect(result.status != 0)
        #expect(result.errors.contains("ACCEL_MOUNT_MATRIX"), "\(result.errors)")
    }
}
