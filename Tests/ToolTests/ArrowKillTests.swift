import Foundation
import TestSupport
import Testing

/// The promise of a recording: after a kill every message that was written is read, and a torn one is reported.
@Suite struct ArrowKillTests {
    /// How often a recording is killed.
    private static let kills =
        ProcessInfo.processInfo.environment["BINNACLE_KILLS"].flatMap(Int.init)
        ?? TestForm.count(20, long: 100)
    /// How many record at a time.
    private static let recorders = 10

    /// How many rows the whole messages of a file have, and whether the last one is torn; read without the project's reader.
    private func contents(_ path: String) throws -> (rows: Int, isTorn: Bool) {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        func word(_ offset: Int) -> Int {
            Int(data[offset..<offset + 4].enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (8 * $1.offset) })
        }
        var offset = 0
        var rows = 0
        while offset < data.count {
            guard offset + 8 <= data.count else { return (rows, true) }
            try #require(word(offset) == 0xFFFF_FFFF)
            let length = word(offset + 4)
            if length == 0 { return (rows, offset + 8 != data.count) }
            guard offset + 8 + length <= data.count else { return (rows, true) }
            // The message's table, and in it the fields for the header's type, the header and the body's length.
            let table = offset + 8 + word(offset + 8)
            func field(_ table: Int, _ number: Int) -> Int {
                let slots = table - Int(Int32(truncatingIfNeeded: word(table)))
                return table + (word(slots + 4 + 2 * number) & 0xFFFF)
            }
            let body = word(field(table, 3))
            let end = offset + 8 + length + body
            guard end <= data.count else { return (rows, true) }
            if data[field(table, 1)] == 3 {
                let header = field(table, 2)
                rows += word(field(header + word(header), 0))
            }
            offset = end
        }
        return (rows, false)
    }

    /// Reads a killed file, and compares what the program says with what is there.
    ///
    /// - Returns: How many samples it has, and whether its end was torn.
    private func check(_ path: String, axis: (Int) -> String) throws -> (rows: Int, isTorn: Bool) {
        let (rows, isTorn) = try contents(path)
        let result = try Binary.run("convert", path, "-o", "-")
        guard rows > 0 else {
            #expect(result.status == 65)
            return (rows, isTorn)
        }
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").dropFirst()
        #expect(lines.count == rows)
        // Nothing is missing in the middle.
        let isWhole = zip(0..., lines).allSatisfy { $1.hasSuffix(axis($0)) }
        #expect(isWhole)
        #expect(result.errors.contains("was not written to its end") == isTorn, "\(result.errors)")
        return (rows, isTorn)
    }

    @Test func whatARecordingHadWrittenIsReadAfterAKill() throws {
        var random = SeededGenerator(seed: 6)
        var rows = 0
        var (count, empty, torn) = (0, 0, 0)
        while count < Self.kills {
            var runs: [(tree: FifoTree, node: FifoNode, process: Child, folder: TemporaryFolder, end: UInt32)] = []
            defer { for run in runs { run.process.end() } }
            for _ in 0..<min(Self.recorders, Self.kills - count) {
                let (tree, folder) = (try FifoTree(), try TemporaryFolder([:]))
                // Without values of its own, it is not polled when a busy machine keeps its scans waiting.
                let node = try #require(try tree.addDevice(0, name: "accel_3d", values: nil))
                let process = Binary.process(["record", "--root", tree.root, "-o", folder.path + "/killed.arrows"])
                try process.run()
                runs.append((tree, node, process, folder, .random(in: 20...300, using: &random)))
            }
            func scans(from first: Int) -> [UInt8] {
                (first..<first + 40).flatMap { (scan: Int) -> [UInt8] in
                    let time = 1_000_000_000 + Int64(scan) * 250_000
                    return FifoNode.scan(Int16(scan % 1000), 0, 981, time)
                }
            }
            // The time of each begins when all of them read.
            for run in runs { try run.node.write(scans(from: 0)) }
            try waitUntil("all recorders to read") { runs.allSatisfy { $0.node.unreadCount == 0 } }
            // Some more scans a turn, to each of them, until its time has come.
            var sent = 40
            var left = runs.count
            for turn in 0..<UInt32(300) where left > 0 {
                for run in runs where turn <= run.end && run.node.unreadCount < 32_768 {
                    if turn == run.end {
                        run.process.end()
                        left -= 1
                        continue
                    }
                    try run.node.write(scans(from: sent))
                }
                sent += 40
                usleep(10_000)
            }
            for run in runs {
                run.process.end()
                count += 1
                let path = run.folder.path + "/killed.arrows"
                guard FileManager.default.fileExists(atPath: path) else {
                    empty += 1
                    continue
                }
                let found = try check(path) { _ in ",0,9.81" }
                rows += found.rows
                if found.rows == 0 { empty += 1 }
                if found.isTorn { torn += 1 }
            }
        }
        print("\(count) kills of record: \(rows) samples read, \(empty) files without any, \(torn) torn")
        #expect(empty < count)
    }

    private func fileSize(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    @Test func aConversionThatIsKilledLeavesWholeMessages() throws {
        let folder = try TemporaryFolder([:])
        var text = "time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n"
        let rowCount = TestForm.count(100_000, long: 300_000)
        for row in 0..<rowCount { text += "\(row),0,\(row % 1000),1\n" }
        try folder.write("in.csv", text)
        let (input, path) = (folder.path + "/in.csv", folder.path + "/out.arrows")
        var random = SeededGenerator(seed: 7)
        var (rows, empty, torn) = (0, 0, 0)
        for number in 0..<Self.kills {
            let process = Binary.process(["convert", input, "--force", "-o", path])
            if number % 2 == 0 {
                try process.run()
                usleep(.random(in: 0...120_000, using: &random))
            } else {
                // How far it comes within a time depends on the machine; a size is reached on each one.
                unlink(path)
                try process.run()
                let size = Int.random(in: 0...30 * rowCount, using: &random)
                try waitUntil("\(size) bytes") { !process.isRunning || fileSize(path) > size }
            }
            process.end()
            guard FileManager.default.fileExists(atPath: path) else { continue }
            let found = try check(path) { ",0,\($0 % 1000),1" }
            rows += found.rows
            if found.rows == 0 { empty += 1 }
            if found.isTorn { torn += 1 }
        }
        print("\(Self.kills) kills of convert: \(rows) samples read, \(empty) files without any, \(torn) torn")
        #expect(rows > 0)
    }
}
