/// Writes MCAP files as the format describes them, also such as no program writes.
enum MCAPWriter {
    /// How a message is encoded.
    enum Form: CaseIterable {
        case little, big
        /// ROS 1: a sequence number before the header, and no padding.
        case packed
    }

    /// The bytes of the footer, of the end of the data, and of the mark at the end.
    static let tailCount = 13 + 29 + 8
    static let magic: [UInt8] = [0x89] + Array("MCAP0\r\n".utf8)

    static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    static func text(_ text: String) -> [UInt8] { little(UInt32(text.utf8.count)) + text.utf8 }

    static func record(_ opcode: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [opcode] + little(UInt64(contents.count)) + contents
    }

    /// A complete file, with the schemas of both messages as 1 and 2, and a list of topics at its end if one is given.
    static func file(_ records: [[UInt8]], summary: [[UInt8]] = [], summaryStart: UInt64? = nil) -> [UInt8] {
        let schemas = Record.schema(1, "sensor_msgs/msg/Imu") + Record.schema(2, "sensor_msgs/msg/MagneticField")
        let packed = Record.schema(3, "sensor_msgs/Imu") + Record.schema(4, "sensor_msgs/MagneticField")
        var bytes = magic + record(1, text("ros2") + text("test")) + schemas + packed + records.joined()
        bytes += record(0x0F, little(UInt32(0)))
        let start = summaryStart ?? (summary.isEmpty ? 0 : UInt64(bytes.count))
        return bytes + summary.joined() + record(2, little(start) + little(UInt64(0)) + little(UInt32(0))) + magic
    }

    enum Record {
        static func schema(_ id: UInt16, _ name: String) -> [UInt8] {
            record(3, little(id) + text(name) + text("ros2msg") + little(UInt32(0)))
        }

        static func channel(_ id: UInt16, _ schema: UInt16, _ topic: String, _ encoding: String = "cdr") -> [UInt8] {
            record(4, little(id) + little(schema) + text(topic) + text(encoding) + little(UInt32(0)))
        }

        static func imuChannel(_ id: UInt16, _ form: Form = .little) -> [UInt8] {
            channel(id, form == .packed ? 3 : 1, "/imu", form == .packed ? "ros1" : "cdr")
        }

        static func fieldChannel(_ id: UInt16, _ form: Form = .little) -> [UInt8] {
            channel(id, form == .packed ? 4 : 2, "/mag", form == .packed ? "ros1" : "cdr")
        }

        static func message(_ topic: UInt16, log: Int64, _ data: [UInt8]) -> [UInt8] {
            record(5, little(topic) + little(UInt32(0)) + little(log) + little(log) + data)
        }

        /// A chunk of records; zstd's form is that of blocks that are not compressed.
        static func chunk(
            _ records: some Sequence<[UInt8]>, _ compression: String, states count: UInt64? = nil, checks: Bool = true
        ) -> [UInt8] {
            let plain = Array(records.joined())
            return MCAPWriter.chunk(
                compression == "zstd" ? stored(plain) : plain, compression, states: count ?? UInt64(plain.count),
                checksum: checks ? ZipWriter.checksum(plain) : 0)
        }
    }

    static func chunk(_ packed: [UInt8], _ compression: String, states count: UInt64, checksum: UInt32 = 0) -> [UInt8] {
        record(
            6,
            little(UInt64(0)) + little(UInt64(0)) + little(count) + little(checksum) + text(compression)
                + little(UInt64(packed.count)) + packed)
    }

    /// A frame of zstd (RFC 8878) with blocks as they are.
    private static func stored(_ plain: [UInt8]) -> [UInt8] {
        var frame = frameHead
        var rest = plain[...]
        repeat {
            let block = rest.prefix(100_000)
            rest = rest.dropFirst(block.count)
            frame += little(UInt32(block.count << 3 | (rest.isEmpty ? 1 : 0))).prefix(3) + block
        } while !rest.isEmpty
        return frame
    }

    /// A chunk with records, and one of as many blocks of 128 KiB of zeros, each of which takes four bytes.
    static func bomb(_ records: [UInt8] = [], blockCount: Int) -> [UInt8] {
        let head = records + [0x7F] + little(UInt64(blockCount << 17))
        var frame = frameHead + little(UInt32(head.count << 3)).prefix(3) + head
        for number in 1...blockCount {
            let mark: UInt32 = number == blockCount ? 1 : 0
            frame += little(UInt32(1 << 20 | 1 << 1) | mark).prefix(3) + [0]
        }
        return chunk(frame, "zstd", states: UInt64(head.count + (blockCount << 17)))
    }

    /// The mark, no size, and a window of 128 KiB.
    private static let frameHead: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3]

    /// `sensor_msgs/msg/Imu`; a rate of turn of `nil` is one that is not measured.
    static func imu(
        _ time: Int64, frame: String, turn: [Double]? = [0, 0, 0], acceleration: [Double] = [0, 0, 9.81],
        form: Form = .little
    ) -> [UInt8] {
        let unknown: [Double] = [-1] + Array(repeating: 0, count: 8)
        let known = Array(repeating: 0.0, count: 9)
        return message(
            time, frame,
            [0, 0, 0, 1] + unknown + (turn ?? [0, 0, 0]) + (turn == nil ? unknown : known) + acceleration + known, form)
    }

    static func field(_ time: Int64, frame: String, _ field: [Double], form: Form = .little) -> [UInt8] {
        message(time, frame, field + Array(repeating: 0, count: 9), form)
    }

    private static func message(_ time: Int64, _ frame: String, _ numbers: [Double], _ form: Form) -> [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            form == .big ? little(number).reversed() : little(number)
        }
        let nanoseconds = (time % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
        var body = bytes(Int32((time - nanoseconds) / 1_000_000_000)) + bytes(UInt32(nanoseconds))
        let name = Array(frame.utf8) + (form == .packed ? [] : [0])
        body += bytes(UInt32(name.count)) + name
        if form != .packed { body += Array(repeating: 0, count: (8 - body.count % 8) % 8) }
        let head: [UInt8] = form == .packed ? [9, 0, 0, 0] : [0, form == .big ? 0 : 1, 0, 0]
        return head + body + numbers.flatMap { bytes($0.bitPattern) }
    }
}
