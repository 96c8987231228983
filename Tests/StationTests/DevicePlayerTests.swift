import Binnacle
import LinuxSystem
import Station
import TestSupport
import Testing
import VirtualDevices
import Workbench

private let millisecond: Int64 = 1_000_000

/// A time that a test moves.
private final class TestClock {
    var nanoseconds: Int64 = 1_000_000 * millisecond
}

/// A device that records what it measures.
private final class DeviceDouble: VirtualDevice {
    let sensors: [VirtualSensor] = [.accelerometer, .gyroscope, .magnetometer]
    var isPlugged = true
    var isWanted = true
    var failure: SystemError?
    /// The sensor, its x, and the time in milliseconds since the clock's first.
    var samples: [String] = []

    var descriptor: Int32? { nil }
    var isDriven: Bool { true }

    func plug() throws(SystemError) { isPlugged = true }
    func unplug() { isPlugged = false }
    func serve() throws(SystemError) -> Bool { false }

    func send(_ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64) throws(SystemError) -> Bool {
        if let failure { throw failure }
        guard isPlugged else { return false }
        let time = (timeNanoseconds - 1_000_000 * millisecond) / millisecond
        samples.append("\(sensor) \(Int(values.x)) @\(time)")
        return true
    }
}

/// A recording whose samples are numbered by their x.
private final class NumberedSource: SampleSource {
    let streams: [SampleStream]
    private var rows: [(stream: Int, time: Int64)]
    private var number: Float = 0
    var failure: (any Error)?

    init(_ rows: [(stream: Int, time: Int64)]) {
        self.rows = rows
        let sensor = Sensor(name: "box")
        streams = [.magnetometer, .accelerometer, .gyroscope].map { SampleStream(sensor: sensor, kind: $0) }
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !rows.isEmpty else {
            guard let failure else { return .ended }
            self.failure = nil
            return .failed([streams[1]], reason: failure)
        }
        let row = rows.removeFirst()
        delivery.batches[row.stream].append(timeNanoseconds: row.time, x: number, y: 0, z: 0)
        number += 1
        return .samples
    }
}

@Suite struct DevicePlayerTests {
    private let clock = TestClock()
    private let device = DeviceDouble()

    /// An accelerometer at 100 Hz.
    private func recording(_ count: Int) -> NumberedSource {
        NumberedSource((0..<count).map { (1, Int64($0) * 10 * millisecond) })
    }

    private func player(
        _ source: NumberedSource, speed: Double = 1, waits: Bool = false, streams: [SampleStream]? = nil
    ) -> DevicePlayer {
        let clock = clock
        let paced = PacedSource(source, speed: speed, clock: { clock.nanoseconds })
        return DevicePlayer(
            paced, streams: streams ?? paced.streams, device: device, waits: waits,
            clock: { clock.nanoseconds })
    }

    /// Plays a number of milliseconds, one after the other.
    ///
    /// - Returns: Whether there is more.
    @discardableResult
    private func play(_ player: DevicePlayer, milliseconds: Int) throws -> Bool {
        for _ in 0..<milliseconds {
            guard try player.turn() else { return false }
            clock.nanoseconds += millisecond
        }
        return try player.turn()
    }

    private func numbers() -> [Int] {
        device.samples.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
    }

    @Test func everySampleComesInItsTime() throws {
        let player = player(recording(4))
        #expect(try player.turn())
        #expect(device.samples == ["accelerometer 0 @0"])
        #expect(player.nextDueNanoseconds == clock.nanoseconds + 10 * millisecond)
        #expect(try !play(player, milliseconds: 100))
        #expect(
            device.samples == [
                "accelerometer 0 @0", "accelerometer 1 @10", "accelerometer 2 @20", "accelerometer 3 @30",
            ])
        #expect(clock.nanoseconds == (1_000_000 + 30) * millisecond)
        #expect(player.sentCount == 4)
    }

    @Test func atASpeedTheTimesAreThoseOfTheClock() throws {
        let player = player(recording(3), speed: 4)
        #expect(try !play(player, milliseconds: 100))
        #expect(device.samples == ["accelerometer 0 @0", "accelerometer 1 @2", "accelerometer 2 @5"])
    }

    @Test func aGapLeavesItsSamplesOut() throws {
        let player = player(recording(10))
        try play(player, milliseconds: 15)
        player.skip(nanoseconds: 30 * millisecond)
        #expect(!player.isStalled)
        try play(player, milliseconds: 200)
        #expect(numbers() == [0, 1, 5, 6, 7, 8, 9])
    }

    @Test func aStallIsMadeUpFor() throws {
        let player = player(recording(10))
        try play(player, milliseconds: 15)
        player.stall(nanoseconds: 30 * millisecond)
        #expect(player.isStalled)
        #expect(player.nextDueNanoseconds == clock.nanoseconds + 30 * millisecond)
        try play(player, milliseconds: 29)
        #expect(numbers() == [0, 1])
        try play(player, milliseconds: 1)
        #expect(numbers() == [0, 1, 2, 3, 4])
        #expect(device.samples.last == "accelerometer 4 @40")
        try play(player, milliseconds: 200)
        #expect(numbers() == Array(0..<10))
    }

    @Test func timeGoesOnWithoutTheDevice() throws {
        let player = player(recording(10))
        try play(player, milliseconds: 15)
        player.unplug()
        try play(player, milliseconds: 30)
        try player.plug()
        try play(player, milliseconds: 200)
        #expect(numbers() == [0, 1, 5, 6, 7, 8, 9])
    }

    /// What a device had to say when it was torn out is not said by the one that comes in its place.
    @Test func nothingOfAStallComesFromANewDevice() throws {
        let player = player(recording(10))
        try play(player, milliseconds: 15)
        player.stall(nanoseconds: 1000 * millisecond)
        try play(player, milliseconds: 30)
        player.unplug()
        #expect(!player.isStalled)
        try player.plug()
        try play(player, milliseconds: 200)
        #expect(numbers() == [0, 1, 5, 6, 7, 8, 9])
    }

    @Test func aPlayThatWaitsBeginsWhenItIsWanted() throws {
        device.isWanted = false
        let player = player(recording(2), waits: true)
        try play(player, milliseconds: 50)
        #expect(device.samples.isEmpty)
        #expect(player.nextDueNanoseconds == nil)
        device.isWanted = true
        #expect(player.nextDueNanoseconds == .min)
        try play(player, milliseconds: 100)
        #expect(device.samples == ["accelerometer 0 @50", "accelerometer 1 @60"])
    }

    @Test func theStreamsPlayTheirSensors() throws {
        let rows = [(0, 0), (1, 0), (2, 0), (0, 10), (1, 12), (2, 12)] as [(Int, Int64)]
        let source = NumberedSource(rows.map { ($0.0, $0.1 * millisecond) })
        let player = player(source)
        try play(player, milliseconds: 100)
        // A gyroscope's sample in rad/s is played in degrees per second.
        #expect(
            device.samples == [
                "magnetometer 0 @0", "accelerometer 1 @0", "gyroscope 114 @0", "magnetometer 3 @10",
                "accelerometer 4 @12", "gyroscope 286 @12",
            ])
    }

    @Test func aStreamThatIsNotPlayedIsLeftOut() throws {
        let source = NumberedSource([(0, 0), (1, 0), (0, millisecond)])
        let player = player(source, streams: [source.streams[1]])
        try play(player, milliseconds: 10)
        #expect(device.samples == ["accelerometer 1 @0"])
    }

    @Test func whatGoesWrongIsTold() throws {
        let source = recording(1)
        source.failure = StationError(.data, "torn")
        let player = player(source)
        let found = #expect(throws: StationError.self) { try play(player, milliseconds: 10) }
        #expect(found?.description == "torn")

        device.failure = SystemError(code: 22, call: "UHID_INPUT2")
        let refused = self.player(recording(1))
        let refusal = #expect(throws: StationError.self) { try refused.turn() }
        #expect(refusal?.status == .inputOutput)
        #expect(refusal?.description.contains("no sample of the accelerometer") == true)
    }

    /// A model through a hub to the kernel's end: what the simulated device measures is what comes out.
    @Test func aModelReachesTheKernel() throws {
        let kernel = KernelDouble()
        let hub = HubDevice(HubDescription([.accelerometer, .gyroscope, .magnetometer])) { () throws(SystemError) in
            Descriptor(owning: kernel.open())
        }
        try hub.plug()
        for report in [1, 2, 3] as [UInt8] {
            kernel.say(KernelDouble.set(1, KernelDouble.features(report: report, on: true)))
            #expect(try hub.serve())
        }
        _ = kernel.all()
        var settings = SimulationSettings()
        settings.model = .turn
        let box = (sensor: Sensor(name: "box"), kinds: SampleKind.allCases, settings: settings)
        let model = SimulatedSource([box], startNanoseconds: 0, clock: nil)
        let clock = clock
        let source = PacedSource(model, clock: { clock.nanoseconds })
        let player = DevicePlayer(
            source, streams: source.streams, device: hub, clock: { clock.nanoseconds })
        // From facing west on, into the rest that begins after 12.5 s.
        var reports: [UInt8: [[UInt8]]] = [:]
        for _ in 0..<1300 {
            #expect(try player.turn())
            clock.nanoseconds += 10 * millisecond
            for case .input(let bytes) in kernel.all() { reports[bytes[0], default: []].append(bytes) }
        }
        #expect(reports.mapValues(\.count) == [1: 1300, 2: 1300, 3: 1300])
        func value(_ report: UInt8, _ index: Int, _ axis: Int) throws -> Int {
            let bytes = try #require(reports[report])[index]
            return Int(Int32(truncatingIfNeeded: KernelDouble.number(bytes, 1 + 4 * axis, 4)))
        }
        #expect(try (99_000...101_000).contains(value(1, 0, 2)))
        // 7.2° a second, clockwise seen from above; at rest none.
        #expect(try (-7400 ... -7000).contains(value(2, 0, 2)))
        #expect(try (-7400 ... -7000).contains(value(2, 1249, 2)))
        #expect(try (-200...200).contains(value(2, 1250, 2)))
        // West is to the right of a device that faces it: the field points along x.
        #expect(try (190...212).contains(value(3, 0, 0)))
        #expect(try (-460 ... -435).contains(value(3, 0, 2)))
        let times = try #require(reports[1]).map { KernelDouble.number($0, 13, 8) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 10_000 })
        #expect(times.first == 1_000_000_000)
    }
}
