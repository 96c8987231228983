import Kernels
import LinuxSensors
import TestSupport
import Testing

/// What the kernel's description of a scan means, worked out one bit and one byte at a time.
private enum Reference {
    /// The value of a channel: its bits written down with the most significant first, then cut.
    static func value(_ type: ScanType, _ bytes: [UInt8]) -> Int64 {
        let ordered = type.isBigEndian ? bytes : bytes.reversed()
        var bits = ordered.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        bits.removeLast(type.shift)
        bits = bits.suffix(type.bits)
        var value: Int64 = 0
        for bit in bits { value = value &* 2 &+ Int64(bit) }
        // Two's complement: the first bit counts negative.
        if type.isSigned, type.bits < 64, bits.first == 1 { value = value &- (1 &<< Int64(type.bits)) }
        return value
    }

    /// The offsets and the size, found by trying one byte after the other.
    static func layout(_ sizes: [Int]) -> (offsets: [Int], size: Int) {
        var place = 0
        var offsets: [Int] = []
        for size in sizes {
            while place % size != 0 { place += 1 }
            offsets.append(place)
            place += size
        }
        while let largest = sizes.max(), place % largest != 0 { place += 1 }
        return (offsets, place)
    }
}

/// The decoder of scans, the heart of reading: corner cases 1 to 3 of the kernel's interface, and many layouts at random.
@Suite struct ScanDecoderTests {
    private static func decode(_ text: String, _ bytes: [UInt8]) throws -> Int64 {
        let type = try #require(ScanType(text))
        try #require(type.storageBytes <= bytes.count)
        return try bytes.withUnsafeBytes { type.value(at: try #require($0.baseAddress)) }
    }

    @Test(
        arguments: [
            // Foreign bits in the upper half, as HID hubs leave them: the neighbouring axis.
            ("le:s16/32>>0", [0x18, 0xFC, 0xAD, 0xDE], -1000),
            ("le:s16/32", [0xE8, 0x03, 0xFF, 0xFF], 1000),
            ("be:s12/16>>4", [0xFF, 0xF7], -1),
            ("be:s12/16>>4", [0x7F, 0xF0], 2047),
            ("le:s12/16>>4", [0x0F, 0x80], -2048),
            ("le:u12/16>>4", [0x0F, 0x80], 2048),
            // Three bytes a value.
            ("le:u24/24>>0", [0x01, 0x02, 0x03], 0x030201),
            ("be:s24/24>>0", [0xFF, 0xFF, 0xFE], -2),
            ("le:s20/24>>4", [0x00, 0x00, 0x80], -524_288),
            ("be:s40/40>>0", [0xFF, 0, 0, 0, 0], -4_294_967_296),
            ("le:s8/8>>0", [0x80], -128),
            ("be:u1/8>>7", [0x80], 1),
            ("be:s1/8>>7", [0x80], -1),
            ("le:s64/64>>0", [0, 0, 0, 0, 0, 0, 0, 0x80], Int64.min),
            ("be:s64/64>>0", [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
            ("le:u64/64>>0", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], -1),
            // A repeated channel: its first value.
            ("le:s16/16X3>>0", [0x01, 0x00, 0x02, 0x00, 0x03, 0x00], 1),
        ] as [(String, [UInt8], Int64)])
    func valuesOfEveryForm(text: String, bytes: [UInt8], value: Int64) throws {
        #expect(try Self.decode(text, bytes) == value)
        let type = try #require(ScanType(text))
        #expect(Reference.value(type, Array(bytes.prefix(type.storageBytes))) == value)
    }

    @Test func sixtyFourUnsignedBitsAreAPositiveNumber() throws {
        let type = try #require(ScanType("le:u64/64>>0"))
        let bytes = [UInt8](repeating: 0xFF, count: 8)
        #expect(bytes.withUnsafeBytes { type.number(at: $0.baseAddress!) } == 18_446_744_073_709_551_615.0)
    }

    @Test(arguments: [
        "", "le", "le:", "le:s", "xx:s16/16", "le:x16/16", "le:s16", "le:s16/", "le:s0/16", "le:s17/16", "le:s16/12",
        "le:s16/0", "le:s16/72", "le:s16/16>>1", "le:s12/16>>5", "le:s16/16X0", "le:s16/16X65", "le:s16/16X",
        "le:s16/16>>",
        "le:s16/16>>0 ", " le:s16/16", "le:s16/16>>-1", "le:s16/16>>0>>0", "le:s99999/16", "le:s16/99999", "le:f32/32",
        "le:s16/32>>99999999999999999999", "LE:s16/16", "le:s１６/16",
    ])
    func otherTextsAreRefused(text: String) {
        #expect(ScanType(text) == nil)
    }

    @Test func threeAxesAndAStampArePaddedToTheLargest() throws {
        // D4: s16 × 3 and an s64 are 16 bytes, not 14.
        let axis = try #require(ScanType("le:s16/16>>0"))
        let stamp = try #require(ScanType("le:s64/64>>0"))
        let layout = ScanLayout([
            .init(name: "in_timestamp", index: 3, type: stamp), .init(name: "in_accel_z", index: 2, type: axis),
            .init(name: "in_accel_x", index: 0, type: axis), .init(name: "in_accel_y", index: 1, type: axis),
        ])
        #expect(layout.byteCount == 16)
        #expect(layout.places.map(\.offset) == [0, 2, 4, 8])
        // Without the second axis everything after it moves, and the end is padded.
        let fewer = ScanLayout(layout.places.filter { $0.channel.name != "in_accel_y" }.map(\.channel))
        #expect(fewer.places.map(\.offset) == [0, 2, 8])
        let stampFirst = ScanLayout([
            .init(name: "in_timestamp", index: 0, type: stamp), .init(name: "in_accel_x", index: 7, type: axis),
        ])
        #expect(stampFirst.byteCount == 16)
        #expect(stampFirst.place(of: "in_accel_x")?.offset == 8)
        #expect(stampFirst.place(of: "in_accel_y") == nil)
    }

    @Test func randomLayoutsAgreeWithTheSlowReference() throws {
        var generator = SeededGenerator(seed: 20_260_101)
        for _ in 0..<5000 {
            let layout = try Self.randomLayout(&generator)
            let ordered = layout.places.map(\.channel)
            let expected = Reference.layout(ordered.map(\.type.byteCount))
            #expect(layout.places.map(\.offset) == expected.offsets)
            #expect(layout.byteCount == expected.size)
            // All bytes are random, the unused bits and the padding too.
            let scan = (0..<layout.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for place in layout.places {
                let bytes = Array(scan[place.offset..<place.offset + place.channel.type.storageBytes])
                let value = scan.withUnsafeBytes { place.channel.type.value(at: $0.baseAddress! + place.offset) }
                #expect(value == Reference.value(place.channel.type, bytes), "\(place.channel.type) of \(bytes)")
            }
        }
    }

    @Test func wholeScansOfRandomLayoutsBecomeSamples() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<1000 {
            let layout = try Self.randomLayout(&generator)
            let axes = layout.places.filter { $0.channel.name != "in_timestamp" }.shuffled(using: &generator).prefix(3)
            guard axes.count == 3 else { continue }
            let conversion = AxisScaling(
                scales: [0.5, 2, 4], offsets: [1, -1, 0], matrix: .identity, factor: 1
            ).conversion
            let decoder = ScanDecoder(
                layout: layout, axes: [.init(x: axes[0], y: axes[1], z: axes[2], conversion: conversion)])
            let scan = (0..<layout.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
            func raw(_ place: ScanLayout.Place) -> Double {
                let type = place.channel.type
                let value = Reference.value(type, Array(scan[place.offset..<place.offset + type.storageBytes]))
                return type.isSigned || type.bits < 64 ? Double(value) : Double(UInt64(bitPattern: value))
            }
            let (sample, stamp) = scan.withUnsafeBytes { bytes in
                (decoder.sample(0, of: bytes.baseAddress!), decoder.stamp(of: bytes.baseAddress!))
            }
            #expect(sample.x == Float(0.5 * raw(axes[0]) + 0.5))
            #expect(sample.y == Float(2 * raw(axes[1]) - 2))
            #expect(sample.z == Float(4 * raw(axes[2])))
            #expect(decoder.hasTimestamp == (layout.place(of: "in_timestamp") != nil))
            if let place = layout.place(of: "in_timestamp") {
                #expect(stamp == Reference.value(place.channel.type, Array(scan[place.offset..<place.offset + 8])))
            }
        }
    }

    /// What devices have is decoded a block at a time, and gives the bits that scan by scan gives.
    @Test(arguments: [
        ("le:s16/16>>0", true), ("be:s16/16>>0", true), ("le:s12/16>>4", true), ("be:s14/16>>2", true),
        ("le:s32/32>>0", true), ("le:s24/32>>8", true), ("le:s12/16>>0", false), ("le:u16/16>>0", false),
        ("be:s32/32>>0", false), ("le:s16/16X2>>0", false), ("le:s8/8>>0", false),
    ])
    func blocksGiveWhatScansGive(text: String, takesBlocks: Bool) throws {
        let type = try #require(ScanType(text))
        var generator = SeededGenerator(seed: 11)
        for stamp in [nil, "le:s64/64>>0", "be:s64/64>>0"] {
            let names = ["in_accel_x", "in_accel_y", "in_accel_z", "in_magn_x", "in_magn_y", "in_magn_z"]
            var channels = names.enumerated().map { ScanLayout.Channel(name: $1, index: $0, type: type) }
            if let stamp {
                channels.append(.init(name: "in_timestamp", index: 9, type: try #require(ScanType(stamp))))
            }
            let layout = ScanLayout(channels)
            let places = names.compactMap { layout.place(of: $0) }
            let decoder = ScanDecoder(
                layout: layout,
                axes: [
                    .init(
                        x: places[0], y: places[1], z: places[2],
                        conversion: AxisScaling(
                            scales: [0.01, 0.02, 0.3], offsets: [1, -1, 0], matrix: .identity, factor: -9.80665
                        ).conversion),
                    .init(
                        x: places[4], y: places[5], z: places[3],
                        conversion: AxisScaling(
                            scales: [3, 3, 3], offsets: [0, 0, 0], matrix: .identity, factor: 0.1
                        ).conversion),
                ])
            #expect(decoder.takesBlocks == (takesBlocks && stamp != "be:s64/64>>0"))
            guard decoder.takesBlocks else { continue }
            let count = 37
            let size = layout.byteCount
            let scans = (0..<count * size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for stream in 0..<2 {
                var times = [Int64](repeating: 77, count: count)
                var (x, y, z) = (
                    [Float](repeating: 0, count: count), [Float](repeating: 0, count: count),
                    [Float](repeating: 0, count: count)
                )
                scans.withUnsafeBytes { bytes in
                    decoder.decode(
                        stream, of: bytes.baseAddress!, count: count, times: &times, x: &x, y: &y, z: &z)
                    for scan in 0..<count {
                        let start = bytes.baseAddress! + scan * size
                        let sample = decoder.sample(stream, of: start)
                        #expect(times[scan] == decoder.stamp(of: start) ?? 0)
                        #expect(x[scan].bitPattern == sample.x.bitPattern)
                        #expect(y[scan].bitPattern == sample.y.bitPattern)
                        #expect(z[scan].bitPattern == sample.z.bitPattern)
                    }
                }
            }
        }
    }

    /// One to eight channels with gaps in their indices, in any order, some with a stamp among them.
    private static func randomLayout(_ generator: inout SeededGenerator) throws -> ScanLayout {
        var indices = Array(0..<20).shuffled(using: &generator)
        var channels = try (0..<Int.random(in: 3...8, using: &generator)).map { number in
            let storage = Int.random(in: 1...8, using: &generator)
            let bits = Int.random(in: 1...storage * 8, using: &generator)
            let shift = Int.random(in: 0...storage * 8 - bits, using: &generator)
            let repeats = Int.random(in: 0..<10, using: &generator) == 0 ? Int.random(in: 2...4, using: &generator) : 1
            let order = Bool.random(using: &generator) ? "be" : "le"
            let sign = Bool.random(using: &generator) ? "s" : "u"
            let text = "\(order):\(sign)\(bits)/\(storage * 8)\(repeats > 1 ? "X\(repeats)" : "")>>\(shift)"
            let type = try #require(ScanType(text))
            return ScanLayout.Channel(name: "channel\(number)", index: indices.removeLast(), type: type)
        }
        if Bool.random(using: &generator) {
            channels.append(
                .init(name: "in_timestamp", index: indices.removeLast(), type: try #require(ScanType("le:s64/64>>0"))))
        }
        return ScanLayout(channels.shuffled(using: &generator))
    }
}
