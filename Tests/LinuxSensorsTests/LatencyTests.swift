import Binnacle
import Glibc
import LinuxSystem
import TestSupport
import Testing

import LinuxSensors

/// Samples that gather, so that one wake-up serves many.
@Suite struct LatencyTests {
    private static let millisecond: Int64 = 1_000_000

    @Test(arguments: [
        (latency: 50, rate: 100.0, period: 50_000_000, count: 5), (50, 25, 50_000_000, 2), (50, 50, 50_000_000, 2),
        (99, 100, 50_000_000, 5), (100, 100, 100_000_000, 10), (1000, 10, 800_000_000, 8),
        (20, 400, 12_500_000, 5), (10, 1000, 6_250_000, 6), (2, 10_000, 1_562_500, 15),
    ])
    func aPeriodIsTheLongestThatTheLatencyAllows(_ each: (latency: Int, rate: Double, period: Int64, count: Int)) {
        let period = PollingPeriod(latency: .milliseconds(each.latency), rateHz: each.rate, isStamped: true)
        #expect(period?.nanoseconds == each.period)
        #expect(period?.sampleCount == each.count)
    }

    @Test func whatWouldNotGatherIsReadAtOnce() {
        #expect(PollingPeriod(latency: .zero, rateHz: 10_000, isStamped: true) == nil)
        #expect(PollingPeriod(latency: .microseconds(900), rateHz: 10_000, isStamped: true) == nil)
        #expect(PollingPeriod(latency: .milliseconds(50), rateHz: 10, isStamped: true) == nil)
        #expect(PollingPeriod(latency: .milliseconds(50), rateHz: .nan, isStamped: true) == nil)
        // The time of the reading becomes the stamp.
        #expect(PollingPeriod(latency: .milliseconds(50), rateHz: 100, isStamped: false) == nil)
        #expect(
            PollingPeriod(latency: .milliseconds(50), rateHz: 1000, isStamped: false)?.nanoseconds == 6_250_000)
    }

    /// The end of a long period is the end of the shorter ones.
    @Test func periodsEndTogether() throws {
        let periods = try [2, 10, 20, 50, 70, 100, 300, 1000].map {
            try #require(PollingPeriod(latency: .milliseconds($0), rateHz: 10_000, isStamped: true))
        }
        for time in [0, 1, 49_999_999, 50_000_000, 123_456_789_012, Int64(1) << 60] {
            for (short, long) in zip(periods, periods.dropFirst()) {
                let end = long.end(after: time)
                #expect(end > time && end - time <= long.nanoseconds)
                #expect(short.end(after: end - 1) == end)
            }
        }
    }

    /// Two devices that gather are read into one delivery, where their stamps tell the order.
    @Test func devicesThatGatherAreReadTogether() throws {
        let tree = try FifoTree()
        let nodes = try [
            #require(try tree.addDevice(0, name: "accel_3d")),
            #require(try tree.addDevice(1, name: "magn_3d", prefix: "in_magn")),
        ]
        let run = try LiveRun([request("accel_3d"), request("magn_3d", [.magnetometer])], tree)
        try run.turn("both devices") { $0.source.isSettled }
        let before = run.deliveryCount
        // Both are in the FIFOs before a period ends, or in two periods that follow each other.
        let start = monotonicNow()
        for number in 0..<4 {
            for (place, node) in nodes.enumerated() {
                let stamp = start - Int64(10 * (4 - number) - 5 * place) * Self.millisecond
                try node.write(FifoNode.scan(Int16(number), 0, 981, stamp))
            }
        }
        try run.turn("all samples") { $0.samples.allSatisfy { $0.count == 4 } }
        #expect(run.deliveryCount - before <= 2)
        #expect(run.largestDelivery >= 2, "no delivery has samples of both devices")
        #expect(run.samples.allSatisfy { $0.map(\.timeNanoseconds) == $0.map(\.timeNanoseconds).sorted() })
    }

    /// A wake-up of the clock reads at once, as a loop expects that waits as soon as a delivery has drained the source.
    @Test func theTurnAfterAWaitReads() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        let delivery = SampleDelivery(streams: run.streams, capacity: 64)
        func isRead() -> Bool {
            delivery.removeAll()
            guard case .samples = run.source.fill(delivery) else { return false }
            return true
        }
        func write() throws { try node.write(FifoNode.scan(1, 2, 3, monotonicNow())) }
        try write()
        var promptCount = 0
        for _ in 0..<10 {
            while !isRead() { run.source.wait(timeoutMilliseconds: 1000) }
            try write()
            #expect(run.source.isDrained)
            run.source.wait(timeoutMilliseconds: 60_000)
            // A busy machine may end a wait for another reason.
            if isRead() { promptCount += 1 }
            try write()
        }
        #expect(promptCount > 0)
    }

    /// Raw scans are of one device in each delivery.
    @Test func scansAreNotReadTogether() throws {
        let tree = try FifoTree()
        let nodes = try (0..<2).map { try #require(try tree.addDevice($0, name: "accel\($0)")) }
        let run = try LiveRun([request("accel0"), request("accel1")], tree, keepsScans: true)
        try run.turn("both devices") { $0.source.isSettled }
        for _ in 0..<3 {
            for node in nodes { try node.write(FifoNode.scan(1, 2, 3, monotonicNow())) }
        }
        try run.turn("all samples") { $0.samples.allSatisfy { $0.count == 3 } }
        #expect(run.largestDelivery == 1)
    }

    @Test(arguments: [(latency: 0, watermark: "1"), (100, "10"), (1000, "80")])
    func theWatermarkIsWhatGathers(_ each: (latency: Int, watermark: String)) throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        var settings = SensorSettings()
        settings.latency = .milliseconds(each.latency)
        let run = try LiveRun([request("accel_3d", settings: settings)], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        #expect(try tree.text(tree.folder(0) + "/buffer0/watermark") == each.watermark)
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a sample") { $0.samples[0].count == 1 }
    }

    /// A device is asked for what its kinds are needed at, and one that is faster is no news.
    @Test(
        arguments: [
            ("25 100", "25"), ("10 50", "50"), ("20 50 100", "50"), ("0 12.5 200", "200"), ("[10 50 110]", "60"),
            ("10", "10"),
        ], ["", "in_magn_"])
    func aDeviceIsAskedForNoMoreThanIsNeeded(rates: (available: String, wanted: String), prefix: String) throws {
        let (available, wanted) = rates
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "magn_3d", prefix: "in_magn")
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/sampling_frequency_available", available)
        // Some drivers have the rate of a kind of channel, and one list for all of them.
        let attribute = "\(tree.folder(0))/\(prefix)sampling_frequency"
        if !prefix.isEmpty { try tree.set(attribute, "15") }
        var settings = SensorSettings()
        settings.neededRatesHz = [.magnetometer: 25, .gyroscope: 100]
        let run = try LiveRun([request("magn_3d", [.magnetometer], settings: settings)], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        #expect(try tree.text(attribute) == wanted)
        #expect(run.notices.isEmpty == (wanted != "10"), "\(run.notices)")
    }

    /// A hub that holds samples back for longer than asked is told to be quicker, and another is left as it is.
    @Test(arguments: [("2.5", "0.05"), ("0.02", "0.02"), ("0", "0")])
    func aHubHandsItsSamplesOverInTime(set: String, wanted: String) throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "accel_3d")
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/buffer0/hwfifo_timeout", set)
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        #expect(try tree.text(tree.folder(0) + "/buffer0/hwfifo_timeout") == wanted)
    }

    /// The controller of a Chromebook, whose sensors are off at 0 Hz, sends nothing before its FIFO is full without a timeout, and takes
    /// each rate between the least and the greatest one.
    @Test func aChromebookHandsItsSamplesOverAndIsSwitchedOffAgain() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "cros-ec-accel")
        defer { node?.close() }
        let (timeout, rate) = (tree.folder(0) + "/buffer0/hwfifo_timeout", tree.folder(0) + "/sampling_frequency")
        try tree.set(timeout, "0.000000")
        try tree.set(rate, "0.000000")
        try tree.set(tree.folder(0) + "/sampling_frequency_available", "0.000000 12.500000 100.000000")
        var settings = SensorSettings()
        settings.neededRatesHz = [.accelerometer: 25]
        do {
            let run = try LiveRun([request("cros-ec-accel", settings: settings)], tree)
            try run.turn("the buffer") { $0.source.isSettled }
            #expect(try tree.text(timeout) == "0.05" && tree.text(rate) == "25")
        }
        #expect(try tree.text(timeout) == "0.000000" && tree.text(rate) == "0.000000")
    }

    /// A chip with a FIFO hands nothing over before its watermark, which cannot change when the device begins to move.
    @Test func theWatermarkIsThatOfMovement() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "accel_3d")
        defer { node?.close() }
        var settings = SensorSettings()
        settings.latency = .milliseconds(100)
        settings.restLatency = .seconds(3)
        let run = try LiveRun([request("accel_3d", settings: settings)], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        #expect(try tree.text(tree.folder(0) + "/buffer0/watermark") == "10")
        #expect(try Int(tree.text(tree.folder(0) + "/buffer0/length")) ?? 0 > 300)
    }

    /// A bus says that a chip which did not answer once is no device, as a FIFO says of its reader.
    @Test func aChipThatDoesNotAnswerIsNotRemoved() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let path = tree.folder(0) + "/sampling_frequency"
        unlink(path)
        try #require(mkfifo(path, 0o600) == 0)
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a sample") { $0.samples[0].count == 1 }
        #expect(!run.events.contains { $0.kind == .sensorInactive })
    }

    /// A rate of 0 is off, and one that cannot be read may be.
    @Test(arguments: ["0.000000", "5", "off"])
    func aDeviceThatIsOffIsSwitchedOn(rate: String) throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "accel_3d", type: nil)
        try tree.set(tree.folder(0) + "/sampling_frequency", rate)
        try tree.set(tree.folder(0) + "/sampling_frequency_available", "0.000000 12.500000 100.000000")
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        #expect(try tree.text(tree.folder(0) + "/sampling_frequency") == "12.5")
    }

    /// Readings of single values wait, too, as long as that saves something.
    @Test func singleValuesGather() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "accel_3d", type: nil)
        var settings = SensorSettings()
        (settings.updateInterval, settings.latency) = (.milliseconds(10), .milliseconds(100))
        let run = try LiveRun([request("accel_3d", settings: settings)], tree)
        try run.turn("samples") { $0.samples[0].count >= 40 }
        // Ten at a time; on a busy machine fewer, because readings that came too late are left out.
        #expect(run.deliveryCount < 40)
    }

    /// The first of several samples that were read together was taken before the reading.
    @Test func aClockOfItsOwnIsPlacedByTheAgeOfTheSample() {
        var stamper = ScanStamper(rateHz: 100)
        var stamps = (0..<5).map { Int64($0) * 10 * Self.millisecond + 1 }
        let now: Int64 = 500_000_000_000_000
        stamper.stamp(
            &stamps, count: 5, isStamped: true, arrival: now, behind: 0,
            realtime: { 1_700_000_000_000_000_000 }, found: { _, _ in })
        let expected: [Int64] = (0..<5).map { now - (4 - $0) * 10 * Self.millisecond }
        #expect(stamps == expected)
    }
}
