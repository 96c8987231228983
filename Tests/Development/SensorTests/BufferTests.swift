import Foundation
import TestSupport
import Testing

/// Devices whose scans come through a buffer.
@Suite(.fewAtATime) struct BufferTests {
    /// Numbers that look random and are the same each time.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    struct Layout: CustomTestStringConvertible {
        let name: String
        let type: String
        var time: String? = "le:s64/64>>0"
        let range: ClosedRange<Int64>
        var hasRubbish = false
        var scanBytes: Int
        var testDescription: String { name }
    }

    /// Corner cases 1, 2 and 3.
    ///
    /// D4: the padding behind three 16-bit axes. D7: storage of 24 bits.
    @Test(arguments: [
        Layout(name: "s16x3 and time: D4", type: "le:s16/16>>0", range: -32768...32767, scanBytes: 16),
        Layout(name: "s16x3 alone", type: "le:s16/16>>0", time: nil, range: -32768...32767, scanBytes: 6),
        Layout(name: "24-bit storage: D7", type: "le:s24/24>>0", time: nil, range: -8388608...8388607, scanBytes: 9),
        Layout(name: "24-bit storage and time: D7", type: "be:s20/24>>4", range: -524288...524287, scanBytes: 24),
        Layout(name: "24 in 32", type: "be:s24/32>>8", range: -8388608...8388607, hasRubbish: true, scanBytes: 24),
        Layout(
            name: "s16 in 32 with rubbish above: HID", type: "le:s16/32>>0", range: -32768...32767, hasRubbish: true,
            scanBytes: 24),
        Layout(
            name: "be:s12/16>>4", type: "be:s12/16>>4", range: -2048...2047, hasRubbish: true, scanBytes: 16),
        Layout(
            name: "le:s10/16>>6", type: "le:s10/16>>6", range: -512...511, hasRubbish: true, scanBytes: 16),
        Layout(name: "unsigned", type: "be:u12/16>>0", range: 0...4095, hasRubbish: true, scanBytes: 16),
        Layout(name: "s8", type: "le:s8/8>>0", range: -128...127, scanBytes: 16),
        Layout(
            name: "s32 without a shift", type: "le:s32/32", range: -2_147_483_648...2_147_483_647, scanBytes: 24),
        Layout(name: "s64", type: "be:s64/64>>0", range: -9_007_199_254_740_992...9_007_199_254_740_992, scanBytes: 32),
    ])
    func everyLayoutIsDecoded(_ layout: Layout) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", layout.type, time: layout.time)
        let device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        try station.add(device)
        var encoder = ScanEncoder(channels)
        if layout.hasRubbish { encoder.rubbish = 0xA5C3_5A3C_F00F_9669 }
        var dice = Dice()
        let ends = layout.range
        var values = [
            [ends.lowerBound, ends.upperBound, 0], [ends.upperBound, ends.lowerBound, 1], [0, 0, ends.upperBound],
        ]
        for _ in 0..<40 { values.append((0..<3).map { _ in Int64.random(in: ends, using: &dice) }) }
        let start = monotonicNow() - Int64(values.count) * 10_000_000
        let scans = values.enumerated().map { encoder.scan($1 + [start + Int64($0) * 10_000_000]) }
        #expect(scans.allSatisfy { $0.count == layout.scanBytes })
        let samples = try await station.recordBuffer(device, Array(scans.joined())).only("a")
        try #require(samples.count == values.count)
        for (index, (sample, raw)) in zip(samples, values).enumerated() {
            #expect([Float(sample.x), Float(sample.y), Float(sample.z)] == raw.map { Float($0) })
            if layout.time != nil { #expect(sample.time == start + Int64(index) * 10_000_000) }
        }
    }

    /// Corner case 3: channels stand in the order of their indices, which may have gaps, and not in that of their names.
    @Test func channelsStandInTheOrderOfTheirIndices() async throws {
        let station = try MockStation()
        let order = [
            ScanChannel(name: "in_accel_z", type: "le:s16/16>>0"), ScanChannel(name: "in_temp", type: "le:s32/32>>0"),
            ScanChannel(name: "in_accel_x", type: "le:s16/16>>0"),
            ScanChannel(name: "in_accel_y", type: "le:s16/16>>0"),
            ScanChannel(name: "in_timestamp", type: "le:s64/64>>0"),
        ]
        var device = MockDevice.buffered("accel", 0, name: "chip", channels: order, scale: "1")
        for folder in ["buffer0", "scan_elements"] {
            device.attributes["\(folder)/in_accel_y_index"] = "7"
            device.attributes["\(folder)/in_timestamp_index"] = "10"
            // Another program left it on. It has to be switched off, because it is not asked for.
            device.attributes["\(folder)/in_temp_en"] = "1"
        }
        try station.add(device)
        let encoder = ScanEncoder(order.filter { $0.name != "in_temp" })
        let now = monotonicNow()
        let result = try await station.recordBuffer(device, encoder.scan([30, 10, 20, now]))
        #expect(try result.only("a") == [Recording.Sample(time: now, x: 10, y: 20, z: 30)])
    }

    /// Corner case 4: what is switched on is what the kernel says afterwards.
    ///
    /// Here it refuses the stamp in silence, and keeps a temperature in every scan.
    @Test func theKernelHasTheLastWordOnWhatIsSwitchedOn() async throws {
        let station = try MockStation()
        var channels = ScanChannel.axes("accel", "le:s16/16>>0", time: nil)
        channels.append(ScanChannel(name: "in_temp", type: "le:s32/32>>0"))
        let all = channels + [ScanChannel(name: "in_timestamp", type: "le:s64/64>>0")]
        let device = MockDevice.buffered("accel", 0, name: "chip", channels: all, scale: "1")
        try station.add(device)
        let temperature = try StubbornAttribute(path: station.path("buffer0/in_temp_en", of: device), value: "1")
        let stamp = try StubbornAttribute(path: station.path("buffer0/in_timestamp_en", of: device), value: "0")
        let encoder = ScanEncoder(channels)
        let scans = (1...20).map { encoder.scan([Int64($0), 2, 3, 0x7777_7777]) }
        #expect(scans[0].count == 12)
        let samples = try await station.recordBuffer(device, Array(scans.joined())).only("a")
        #expect(samples.map(\.x) == (1...20).map(Double.init))
        #expect(samples.allSatisfy { $0.y == 2 && $0.z == 3 })
        #expect(temperature.wasWritten("0"))
        #expect(stamp.wasWritten("1"))
    }

    /// Corner case 10: a read may end anywhere in a scan, and nothing may be lost or shifted by that.
    @Test(arguments: [1, 7, 15, 17, 31])
    func aScanMayComeInPieces(_ size: Int) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        try station.add(device)
        let encoder = ScanEncoder(channels)
        let start = monotonicNow() - 300_000_000
        // Each piece waits for the reader's next period, of 50 ms.
        let numbers = Int64(0)..<(size == 1 ? 8 : 30)
        let scans = numbers.map { encoder.scan([$0, -$0, 1000, start + $0 * 10_000_000]) }
        let samples = try await station.recordBuffer(device, Array(scans.joined()), chunk: size).only("a")
        #expect(samples.map(\.x) == numbers.map { Double($0) })
        #expect(samples.map(\.y) == numbers.map { -Double($0) })
        #expect(samples.map(\.time) == numbers.map { start + $0 * 10_000_000 })
    }

    /// D9: the buffer is not drained now and then for its last scan; every excursion of 200 ms is there, all of it.
    @Test func everyExcursionIsRecordedExactly() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s32/32>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels)
        try station.add(device)
        let encoder = ScanEncoder(channels)
        // 25 times 200 ms of shaking in 700 ms, at 100 Hz.
        let start = monotonicNow() - 18_000_000_000
        let values: [Int64] = (0..<1750).map { (row: Int64) in row % 70 < 20 ? 500 + row : 0 }
        let scans = values.enumerated().map { encoder.scan([$1, 0, 1000, start + Int64($0) * 10_000_000]) }
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(Array(scans.joined()), to: device)
        let samples = try await recording.stop().only("a")
        #expect(samples.map(\.time) == (0..<1750).map { start + Int64($0) * 10_000_000 })
        #expect(samples.map { Float($0.x) } == values.map { Float(Double($0) * 0.00980665) })
        let begins =
            zip(samples.dropFirst(), samples).filter { $0.x > 1 && $1.x < 1 }.count + (samples[0].x > 1 ? 1 : 0)
        #expect(begins == 25)
        let said = try recording.program.errors.text()
        // A busy machine may leave the buffer silent before the scans are written: a stall before the first sample, at 0 s.
        let losses = said.split(separator: "\n").filter { line in
            line.contains("samples.lost") && !(line.contains(" 0.000 s ") && line.contains("cause stall"))
        }
        #expect(losses == [])
        #expect(said.contains("1750 × accelerometer of accel_3d"), "\(said)")
    }

    /// D2, corner case 15: a device that is enabled and silent is switched off and on, then read through sysfs; each is said.
    @Test func aSilentBufferIsRearmedAndThenPassedOver() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s32/32>>0")
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels)
        for (axis, value) in ["x": "0", "y": "0", "z": "1000"] { device.attributes["in_accel_\(axis)_raw"] = value }
        try station.add(device)
        let log = try WriteLog(device, in: station, folders: ["buffer0"])
        let recording = try station.record()
        try await recording.program.waitForMessage("samples.lost", "stall", "off and on")
        try await recording.program.waitForMessage("samples.lost", "stall", "single values")
        try await recording.waitForSample(of: "a") { abs($0.z - 9.80665) < 1e-5 }
        // On; off and on; off before the first single value, which many drivers refuse, with EBUSY, while the buffer is on.
        // The state is not asked for: after a minute of single values the buffer is tried again.
        let said = try recording.program.errors.text()
        #expect(log.names().count { $0 == "buffer0/enable" } >= 4, "\(said)")
        _ = try await recording.stop()
        #expect(try station.attribute("buffer0/enable", of: device) == "0")
    }

    /// D2: a device that wakes up only when it is switched off and on delivers through its buffer again.
    @Test func aDeviceThatWakesUpAfterARearmStaysWithItsBuffer() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s32/32>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.program.waitForMessage("samples.lost", "stall", "off and on")
        try await recording.waitForBuffer(of: device)
        try await station.write(ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]), to: device)
        let samples = try await recording.stop().only("a")
        #expect(samples.map(\.x) == [1])
    }

    struct Trigger: CustomTestStringConvertible {
        let names: [String]
        let expected: String
        var testDescription: String { "\(names)" }
    }

    /// Corner case 9: a device's own trigger, by either name; another's is left alone.
    @Test(arguments: [
        Trigger(names: ["other-dev0", "accel_3d-dev0"], expected: "accel_3d-dev0"),
        Trigger(names: ["accel_3d-trigger", "other-trigger"], expected: "accel_3d-trigger"),
        Trigger(names: ["accel_3d-dev1", "accel_3d-dev0"], expected: "accel_3d-dev0"),
    ])
    func theOwnTriggerIsChosen(_ trigger: Trigger) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        for (number, name) in trigger.names.enumerated() { try station.add(.trigger(number, name: name)) }
        try station.add(device)
        let result = try await station.recordBuffer(device, ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]))
        #expect(try result.only("a").count == 1)
        #expect(try station.attribute("trigger/current_trigger", of: device) == trigger.expected)
    }

    /// Corner cases 5, 6 and 9: everything is set while the buffer is off, in the kernel's order; and it is switched off
    /// in the end.
    @Test func controlsAreWrittenInTheKernelsOrder() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        // Fast enough to wake the reader less often than with each scan.
        device.attributes["in_accel_sampling_frequency_available"] = "1000"
        device.attributes["in_accel_sampling_frequency"] = "25"
        // Left on by a program that was killed.
        device.attributes["buffer0/enable"] = "1"
        try station.add(.trigger(0, name: "accel_3d-dev0"), device)
        let log = try WriteLog(device, in: station, folders: ["", "buffer0", "buffer", "scan_elements", "trigger"])
        let recording = try station.record()
        try await recording.program.waitUntil("the buffer is on") {
            try station.attribute("buffer0/watermark", of: device) != "1"
                && station.attribute("buffer0/enable", of: device) == "1"
        }
        let names = log.names()
        func place(_ name: String) throws -> Int { try #require(names.firstIndex(of: name), "\(name) of \(names)") }
        let on = try #require(names.lastIndex(of: "buffer0/enable"))
        let off = try place("buffer0/enable")
        #expect(off < on, "\(names)")
        for name in [
            "buffer0/in_accel_x_en", "buffer0/in_accel_y_en", "buffer0/in_accel_z_en", "buffer0/in_timestamp_en",
            "trigger/current_trigger", "buffer0/length", "buffer0/watermark", "current_timestamp_clock",
            "in_accel_sampling_frequency",
        ] {
            let written = try place(name)
            #expect(off < written && written < on, "\(name) in \(names)")
        }
        #expect(try place("buffer0/in_accel_x_en") < place("trigger/current_trigger"))
        #expect(try place("trigger/current_trigger") < place("buffer0/length"))
        #expect(try place("buffer0/length") < place("buffer0/watermark"))
        // The old layout's files are the same controls in the kernel, and are left alone where there is the new one.
        #expect(!names.contains { $0.hasPrefix("buffer/") || $0.hasPrefix("scan_elements/") }, "\(names)")
        #expect(try station.attribute("current_timestamp_clock", of: device) == "monotonic")
        let length = try #require(Int(try station.attribute("buffer0/length", of: device)))
        let watermark = try #require(Int(try station.attribute("buffer0/watermark", of: device)))
        #expect(watermark > 1 && watermark * 2 <= length)
        _ = try await recording.stop()
        #expect(try station.attribute("buffer0/enable", of: device) == "0")
    }

    /// Corner case 16: scans below the watermark do not wake the program, and are recorded all the same.
    @Test func whatStaysBelowTheWatermarkIsNotHeldBack() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        device.attributes["in_accel_sampling_frequency"] = "1000"
        device.attributes["in_accel_sampling_frequency_available"] = "1000"
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]), to: device)
        try await recording.waitForSample(of: "a") { $0.x == 1 }
        _ = try await recording.stop()
    }

    /// Corner case 6: without a choice of clock the stamps are the wall clock's, which may be set at any time.
    @Test func stampsOfTheWallClockAreMoved() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("magn", "le:s32/32>>0")
        var device = MockDevice.buffered("magn", 0, name: "magn_3d", channels: channels, scale: "0.001")
        device.attributes["current_timestamp_clock"] = nil
        try station.add(device)
        let encoder = ScanEncoder(channels)
        let before = monotonicNow()
        let wall = realtimeNow()
        let scans = (0..<20).map { encoder.scan([200, 0, -450, wall + Int64($0) * 1_000_000]) }
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(Array(scans.joined()), to: device)
        try await recording.program.waitForMessage("magn_3d", "wall clock")
        let samples = try await recording.stop().only("m")
        #expect(samples.count == 20)
        // Within what two clocks can run apart in a test; a stamp of the wall clock would be decades off.
        #expect(samples.allSatisfy { abs($0.time - before) < 60_000_000_000 })
        #expect(zip(samples.dropFirst(), samples).allSatisfy { $0.time >= $1.time })
    }

    /// Corner case 6: a device that keeps its own clock although another was asked for.
    @Test func aClockThatCannotBeChosenIsSaid() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        try station.add(device)
        let clock = try StubbornAttribute(path: station.path("current_timestamp_clock", of: device), value: "realtime")
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(ScanEncoder(channels).scan([1, 2, 3, realtimeNow()]), to: device)
        try await recording.program.waitForMessage("chip", "realtime")
        let samples = try await recording.stop().only("a")
        #expect(samples.count == 1)
        #expect(samples.allSatisfy { abs($0.time - monotonicNow()) < 60_000_000_000 })
        #expect(clock.wasWritten("monotonic"))
    }

    /// Corner case 6: without stamps, and with stamps of 0, they are made from the time of arrival, and that is said.
    @Test(arguments: [nil, "le:s64/64>>0"])
    func missingStampsAreMadeAndThatIsSaid(_ time: String?) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("magn", "le:s32/32>>0", time: time)
        let device = MockDevice.buffered("magn", 0, name: "magn_3d", channels: channels, scale: "0.01")
        try station.add(device)
        let encoder = ScanEncoder(channels)
        let before = monotonicNow()
        let scans = (1...30).map { encoder.scan([Int64($0), 2, 3, 0]) }
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(Array(scans.joined()), to: device)
        try await recording.program.waitForMessage("magn_3d", "arrive")
        let samples = try await recording.stop().only("m")
        #expect(samples.map(\.x) == (1...30).map(Double.init))
        let times = samples.map(\.time)
        #expect(times == times.sorted())
        #expect(times.allSatisfy { $0 > before - 1_000_000_000 && $0 < monotonicNow() })
    }

    /// Corner case 5: Linux before 5.11 has `buffer` and `scan_elements` alone.
    @Test func theOldLayoutIsRead() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1", isOld: true)
        try station.add(device)
        #expect(try await station.onlyDevice().mode == "buffer")
        let now = monotonicNow()
        let scan = ScanEncoder(channels).scan([1, -2, 3, now])
        let result = try await station.recordBuffer(device, scan, controls: "buffer")
        #expect(try result.only("a") == [Recording.Sample(time: now, x: 1, y: -2, z: 3)])
    }

    /// Both kinds in one scan make a pair with a common stamp.
    ///
    /// D3 and corner case 8 for a buffer: scale, then matrix.
    @Test func oneScanMayHoldBothKinds() async throws {
        let station = try MockStation()
        let channels =
            ScanChannel.axes("accel", "le:s16/16>>0", time: nil) + ScanChannel.axes("magn", "be:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "0.01")
        device.attributes["in_accel_y_scale"] = "0.1"
        device.attributes["in_accel_offset"] = "5"
        device.attributes["in_magn_scale"] = "0.001"
        device.attributes["in_accel_mount_matrix"] = "0, 1, 0; 1, 0, 0; 0, 0, 1"
        device.attributes["in_magn_mount_matrix"] = "1, 0, 0; 0, -1, 0; 0, 0, 1"
        try station.add(device)
        let now = monotonicNow()
        let scan = ScanEncoder(channels).scan([95, 45, 995, 200, 100, -450, now])
        let result = try await station.recordBuffer(device, scan)
        let acceleration = try #require(try result.only("a").first)
        #expect([acceleration.x, acceleration.y, acceleration.z].map(Float.init) == [5, 1, 10])
        let field = try #require(try result.only("m").first)
        #expect([field.x, field.y, field.z].map(Float.init) == [20, -10, -45])
        #expect(acceleration.time == now && field.time == now)
    }

    /// Corner case 12: an overflow is silent and shows only in the stamps.
    @Test func samplesThatTheKernelDroppedAreReported() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels, scale: "1")
        try station.add(device)
        let encoder = ScanEncoder(channels)
        let start = monotonicNow() - 3_000_000_000
        // 100 samples at 100 Hz, 50 that are missing, and 100 more.
        let places = Array(0..<100) + Array(150..<250)
        let scans = places.map { encoder.scan([Int64($0), 2, 3, start + Int64($0) * 10_000_000]) }
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(Array(scans.joined()), to: device)
        let line = try await recording.program.waitForMessage("samples.lost", "overrun", "accel_3d")
        #expect(line.contains("count 50"), "\(line)")
        #expect(line.contains("channel accelerometer"), "\(line)")
        let samples = try await recording.stop().only("a")
        #expect(samples.map { Int($0.x) } == places)
        // On a busy machine its silence may be told as well.
        let losses = try recording.program.errors.text().split(separator: "\n").filter { $0.contains("overrun") }
        #expect(losses.count == 1, "\(losses)")
    }

    struct Rate: CustomTestStringConvertible {
        let available: String?
        let current: String
        let chosen: String
        var testDescription: String { "\(available ?? "any") from \(current)" }
    }

    /// Corner case 14: of a list the nearest, of a range the nearest step, and what the driver makes of it is read back.
    @Test(arguments: [
        Rate(available: "10 50 100", current: "10", chosen: "100"),
        Rate(available: "12.5 26 52 104 208", current: "26", chosen: "104"),
        Rate(available: "[1 1 200]", current: "25", chosen: "100"),
        Rate(available: "[1 1 64]", current: "25", chosen: "64"),
        Rate(available: nil, current: "25", chosen: "100"),
    ])
    func theNearestRateIsAskedFor(_ rate: Rate) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        device.attributes["in_accel_sampling_frequency"] = rate.current
        device.attributes["in_accel_sampling_frequency_available"] = rate.available
        try station.add(device)
        let path = station.path("in_accel_sampling_frequency", of: device)
        // What it does not keep, it was asked for.
        let frequency = try StubbornAttribute(path: path, value: "7.040000")
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        #expect(frequency.wasWritten(rate.chosen))
        try await recording.program.waitForMessage("chip", "7.04 Hz")
        try await station.write(ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]), to: device)
        #expect(try await recording.stop().only("a").count == 1)
    }
}

extension MockStation {
    /// Records the only device while its buffer delivers some bytes.
    func recordBuffer(
        _ device: MockDevice, _ bytes: [UInt8], chunk: Int = 3600, controls: String = "buffer0"
    ) async throws -> Recording {
        let recording = try record()
        try await recording.waitForBuffer(of: device, controls: controls)
        try await write(bytes, to: device, chunk: chunk)
        return try await recording.stop()
    }
}
