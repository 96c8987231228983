import Foundation
import TestSupport
import Testing

/// Accelerometers of the input layer.
///
/// Corner cases 17 and 20 to 23.
@Suite(.fewAtATime) struct InputDeviceTests {
    private static let absolute: UInt16 = 3
    private static let synchronisation: UInt16 = 0
    private static let dropped: UInt16 = 3

    /// One event as the kernel writes it.
    private func event(_ type: UInt16, _ code: UInt16, _ value: Int32, at time: Int64 = monotonicNow()) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: time / 1_000_000_000) { bytes += $0 }
        withUnsafeBytes(of: time % 1_000_000_000 / 1000) { bytes += $0 }
        withUnsafeBytes(of: type) { bytes += $0 }
        withUnsafeBytes(of: code) { bytes += $0 }
        withUnsafeBytes(of: value) { bytes += $0 }
        return bytes
    }

    private func milligravities(_ sample: Recording.Sample) -> [Int] {
        [sample.x, sample.y, sample.z].map { Int(($0 / 9.80665 * 1000).rounded()) }
    }

    private var report: [UInt8] { event(Self.synchronisation, 0, 0) }

    /// Corner case 21: before the first event the axes are what the kernel says, and an axis that is not sent stays.
    @Test func unchangedAxesAreKept() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt", values: [500, -250, 1000])
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        try await station.write(event(Self.absolute, 0, -1000) + report, to: device)
        try await recording.waitForSample(of: "a") { $0.x < 0 }
        try await station.write(event(Self.absolute, 1, 0) + event(Self.absolute, 2, -1000) + report, to: device)
        try await recording.waitForSample(of: "a") { $0.z < 0 }
        let samples = try await recording.stop().only("a")
        let distinct = samples.map(milligravities)
            .reduce(into: [[Int]]()) { if $0.last != $1 { $0.append($1) } }
        #expect(distinct == [[500, -250, 1000], [-1000, -250, 1000], [-1000, 0, -1000]])
        #expect(samples.map(\.time) == samples.map(\.time).sorted())
    }

    /// Corner case 21: silence is no stall, because nothing is sent while nothing changes.
    @Test func silenceIsNoStall() async throws {
        let station = try MockStation()
        try station.add(.evdev(1, name: "tilt"))
        let recording = try station.record()
        // More than a second's worth of values that are repeated while it rests.
        try await recording.waitForRows(6)
        let samples = try await recording.stop().only("a")
        #expect(samples.allSatisfy { Float($0.z) == 9.80665 && $0.x == 0 && $0.y == 0 })
        let errors = try recording.program.errors.text()
        #expect(!errors.contains("samples.lost") && !errors.contains("sensor.inactive"), "\(errors)")
    }

    /// Corner case 22: after SYN_DROPPED the tail of a frame is no sample; the axes are read again, and the loss is reported.
    @Test func afterADropTheAxesAreReadAnew() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt", values: [0, 0, 1000])
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        // What the device has come to meanwhile.
        try station.setAxis(0, to: MockDevice.Axis(value: 300, resolution: 1000), of: device)
        try station.setAxis(1, to: MockDevice.Axis(value: -400, resolution: 1000), of: device)
        try station.setAxis(2, to: MockDevice.Axis(value: 800, resolution: 1000), of: device)
        let torn = event(Self.synchronisation, Self.dropped, 0) + event(Self.absolute, 1, 32000) + report
        try await station.write(torn, to: device)
        try await recording.program.waitForMessage("samples.lost", "tilt", "SYN_DROPPED")
        try await recording.waitForSample(of: "a") { milligravities($0)[0] == 300 }
        try await station.write(event(Self.absolute, 0, -1000) + report, to: device)
        try await recording.waitForSample(of: "a") { $0.x < 0 }
        let samples = try await recording.stop().only("a")
        // Never 32000, and never half of an update.
        let states = Set(samples.map(milligravities))
        #expect(states == [[0, 0, 1000], [300, -400, 800], [-1000, -400, 800]])
    }

    struct Resolution: CustomTestStringConvertible {
        let resolution: Int
        let value: Int
        let expected: Float
        var testDescription: String { "\(value) of \(resolution)" }
    }

    /// Corner case 17: units per g.
    @Test(arguments: [
        Resolution(resolution: 1, value: 1, expected: 9.80665),
        Resolution(resolution: 256, value: 128, expected: 4.903325),
        Resolution(resolution: 8192, value: -8192, expected: -9.80665),
    ])
    func theResolutionIsUnitsPerG(_ resolution: Resolution) async throws {
        let station = try MockStation()
        try station.add(.evdev(1, name: "tilt", values: [0, 0, resolution.value], resolution: resolution.resolution))
        let recording = try station.record()
        try await recording.waitForRows(1)
        #expect(Float(try #require(try await recording.stop().only("a").first).z) == resolution.expected)
    }

    /// Corner case 8: udev's mount matrix is meant for these, too.
    @Test func theMountMatrixIsApplied() async throws {
        let station = try MockStation()
        var device = MockDevice.evdev(1, name: "tilt", values: [1, 2, 3], resolution: 1)
        device.properties["ACCEL_MOUNT_MATRIX"] = "0, 1, 0; 1, 0, 0; 0, 0, -1"
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        let sample = try #require(try await recording.stop().only("a").first)
        let inG: [Int] = [sample.x, sample.y, sample.z].map { Int(($0 / 9.80665).rounded()) }
        #expect(inG == [2, 1, -3])
    }

    /// 400 frames, none of which is thinned or joined with another.
    @Test func everyFrameIsRecorded() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt", values: [0, 0, 1000])
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        for group in 0..<8 {
            let frames = (1...50).flatMap { event(Self.absolute, 0, Int32(group * 50 + $0)) + report }
            try await station.write(frames, to: device)
        }
        let samples = try await recording.stop().only("a")
        let said = try recording.program.errors.text()
        let distinct = samples.map { milligravities($0)[0] }
            .reduce(into: [Int]()) { if $0.last != $1 { $0.append($1) } }
        #expect(distinct == Array(0...400), "\(said)")
    }

    /// Corner case 23: the device's own microseconds are finer than the time at which the kernel got to them, and wrap.
    @Test func theDevicesOwnClockMayWrap() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt", values: [0, 0, 1000])
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        // A little ahead, because a repetition of the held value that is recorded before the frames must not be later than they.
        let start = monotonicNow() + 1_000_000_000
        let frames = (0..<40).flatMap { number in
            // Up to 7 ms late.
            let time = start + Int64(number) * 10_000_000 + Int64(number % 8) * 1_000_000
            let counter = UInt32.max - 200_000 &+ UInt32(number) * 10_000
            return event(Self.absolute, 0, Int32(number + 1), at: time)
                + event(4, 5, Int32(bitPattern: counter), at: time) + event(Self.synchronisation, 0, 0, at: time)
        }
        try await station.write(frames, to: device)
        try await recording.waitForSample(of: "a") { milligravities($0)[0] == 40 }
        var times: [Int: Int64] = [:]
        for sample in try await recording.stop().only("a") where times[milligravities(sample)[0]] == nil {
            times[milligravities(sample)[0]] = sample.time
        }
        for number in 2...40 { #expect((times[number] ?? 0) - (times[number - 1] ?? 0) == 10_000_000) }
    }
}
