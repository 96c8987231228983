import Binnacle
import Foundation
import LinuxSensors
import TestSupport
import Testing

/// Raw scans that are kept beside the samples, and the text that says how they are laid out.
@Suite struct RawScanTests {
    /// Whole blocks, and a layout that is taken scan by scan.
    @Test(arguments: ["le:s16/16>>0", "le:s12/16>>0"], [1, 3, 64])
    func everyScanIsKeptAsItCame(type: String, capacity: Int) throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", type: type, scale: "0.25"))
        let run = try LiveRun([request("accel_3d")], tree, capacity: capacity, keepsScans: true)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        var generator = SeededGenerator(seed: UInt64(capacity))
        let start = monotonicNow()
        var bytes: [UInt8] = []
        for number in 0..<300 {
            bytes += FifoNode.scan(Int16(number), Int16(-number), 981, start + Int64(number) * 10_000_000)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(Int.random(in: 1...100, using: &generator), rest.count)
            try node.write(rest.prefix(count))
            rest = rest.dropFirst(count)
            try run.turn("a turn") { _ in Bool.random(using: &generator) }
        }
        try run.turn("300 samples") { $0.samples[0].count >= 300 }
        #expect(run.scans[0] == bytes)
        // What decodes them again is the same decoder.
        #expect(run.layouts.count == 1)
        let decoder = try #require(run.layouts.first.flatMap { ScanDescription($0) }).decoder
        #expect(decoder.takesBlocks == (type == "le:s16/16>>0"))
        let isSame = run.samples[0].enumerated().allSatisfy { number, sample in
            let axes = bytes.withUnsafeBytes { decoder.sample(0, of: $0.baseAddress! + number * 16) }
            return axes.x == sample.x && axes.y == sample.y && axes.z == sample.z
        }
        #expect(isSame)
    }

    @Test func bothStreamsOfADeviceKeepItsScans() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "imu"))
        try tree.addAxes(0, "in_magn", type: "be:s16/16>>0", index: 5)
        let run = try LiveRun([request("imu", [.accelerometer, .magnetometer])], tree, keepsScans: true)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        let now = monotonicNow()
        var bytes: [UInt8] = []
        for number in 0..<20 {
            bytes += [UInt8(number), 0, 1, 0, 2, 0, 0, 3, 0, 4, 0, 5, 9, 9, 9, 9]
            withUnsafeBytes(of: (now + Int64(number) * 1_000_000).littleEndian) { bytes += $0 }
        }
        try node.write(bytes)
        try run.turn("20 samples") { $0.samples.allSatisfy { $0.count == 20 } }
        #expect(run.scans == [bytes, bytes])
        let description = try #require(run.layouts.first.flatMap { ScanDescription($0) })
        #expect(description.streams.map(\.kind) == [.accelerometer, .magnetometer])
        #expect(run.layouts.count == 1)
    }

    /// A poller has no scans, and none are made up for it.
    @Test func singleValuesHaveNoScan() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "chip", type: nil)
        let run = try LiveRun([request("chip")], tree, keepsScans: true)
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        #expect(run.scans[0].isEmpty && run.layouts.isEmpty)
        #expect(!run.source.hasScans)
    }

    // MARK: - The layout as text

    private static func channel(_ name: String, _ index: Int, _ type: String) throws -> ScanLayout.Channel {
        .init(name: name, index: index, type: try #require(ScanType(type)))
    }

    @Test func aDescriptionIsReadBackToTheBit() throws {
        let layout = ScanLayout([
            try Self.channel("in_accel_x", 0, "be:s12/16>>4"), try Self.channel("in_accel_y", 1, "be:s12/16>>4"),
            try Self.channel("in_accel_z", 3, "le:u24/32X2>>8"), try Self.channel("in_\"odd\"\n", 4, "le:s8/8>>0"),
            try Self.channel("in_timestamp", 7, "le:s64/64>>0"),
        ])
        let scaling = AxisScaling(
            scales: [0.1, 1e-300, 5e300], offsets: [-0.0, 1.0 / 3.0, -17],
            matrix: try MountMatrix([0, -1, 0, 0.1, 0, 0, 0, 0, 0.30000000000000004]), factor: -9.80665)
        let description = try #require(
            ScanDescription(layout: layout, streams: [.init(kind: .accelerometer, scaling: scaling)]))
        let text = description.text
        let read = try #require(ScanDescription(text))
        #expect(read.text == text)
        #expect(read.layout.places.map(\.offset) == layout.places.map(\.offset))
        #expect(read.layout.places.map(\.channel.type) == layout.places.map(\.channel.type))
        #expect(read.layout.places.map(\.channel.name) == layout.places.map(\.channel.name))
        #expect(read.layout.byteCount == layout.byteCount)
        #expect(read.streams == description.streams)
        #expect(read.streams[0].scaling.offsets[0].sign == .minus)
        #expect(text.hasPrefix(#"{"bytes":32,"channels":[{"name":"in_accel_x","type":"be:s12/16>>4","offset":0},"#))
        #expect(text.hasSuffix(#""factor":-9.80665}}"#))
    }

    private static let good = ##"""
        {"bytes":16,"channels":[{"name":"in_accel_x","type":"le:s16/16>>0","offset":0},{"name":"in_accel_y",\##
        "type":"le:s16/16>>0","offset":2},{"name":"in_accel_z","type":"le:s16/16>>0","offset":4}],"accelerometer":\##
        {"scale":[1,1,1],"offset":[0,0,0],"mount_matrix":[1,0,0,0,1,0,0,0,1],"factor":1}}
        """##

    @Test(arguments: [
        ("{", ""), (#""channels""#, #""chanels""#), ("in_accel_z", "in_accel_y"), ("le:s16/16>>0", "le:s17/16>>0"),
        (#""name":"in_accel_x""#, #""name":1"#), (#""type""#, #""typ""#), ("accelerometer", "acceleration"),
        ("accelerometer", "magnetometer"), (#""scale":[1,1,1]"#, #""scale":[1,1]"#),
        (#""scale":[1,1,1]"#, #""scale":[1,1,1e999]"#), (#""scale":[1,1,1]"#, #""scale":[1,1,"1"]"#),
        (#""offset":[0,0,0]"#, #""offset":0"#), ("[1,0,0,0,1,0,0,0,1]", "[1,0,0,0,1,0,0,0,0]"),
        ("[1,0,0,0,1,0,0,0,1]", "[1,0,0,0,1,0]"), (#""factor":1"#, #""factor":null"#), (#","factor":1"#, ""),
        ("}}", "}} "), ("}}", "}}x"),
    ])
    func otherTextsAreRefused(old: String, new: String) throws {
        #expect(ScanDescription(Self.good) != nil)
        let text = Self.good.replacing(old, with: new)
        #expect(text != Self.good)
        // Blanks behind JSON are no matter.
        #expect((ScanDescription(text) == nil) == (new != "}} "))
    }

    @Test func manyChannelsAreRefused() {
        let channel = #"{"name":"a","type":"le:s64/64X64>>0","offset":0},"#
        for (count, isGood) in [(253, true), (254, false), (100_000, false)] {
            let text = Self.good.replacing(
                #""channels":["#, with: #""channels":["# + String(repeating: channel, count: count))
            #expect((ScanDescription(text) != nil) == isGood)
        }
    }
}
