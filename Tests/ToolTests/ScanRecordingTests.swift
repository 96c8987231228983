import Foundation
import TestSupport
import Testing

/// `record --scans` and `replay --decode-scans`: the bytes that the device gave, kept and decoded again.
@Suite struct ScanRecordingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder([:])
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func monotonicNow() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Records the scans of a device that is shaken after two seconds.
    ///
    /// - Returns: The scans, and what was said.
    private func record(type: String, atOnce: Int, to path: String) throws -> (scans: [[UInt8]], errors: String) {
        let tree = try FifoTree()
        // Without values of its own, it is not polled when a busy machine keeps its scans waiting.
        let node = try #require(try tree.addDevice(0, name: "accel_3d", type: type, values: nil))
        let process = Binary.process(["record", "--scans", "--root", tree.root, "-o", path])
        let errors = try TemporaryFile()
        process.standardError = try errors.writer()
        try process.run()
        defer { process.end() }
        let start = monotonicNow() - 10_000_000_000
        let scans = (0..<600).map { number in
            let isShaken = number > 200 && number < 300
            return FifoNode.scan(
                isShaken ? Int16(number % 2 * 2000 - 1000) : 0, Int16(number % 7), 981,
                start + Int64(number) * 10_000_000)
        }
        for group in stride(from: 0, to: scans.count, by: atOnce) {
            try node.write(scans[group..<min(group + atOnce, scans.count)].joined())
            try waitUntil("the scans to be read") { node.unreadCount == 0 || !process.isRunning }
            try #require(node.unreadCount == 0)
        }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return (scans, try errors.text())
    }

    /// Whole blocks; and a layout that is taken scan by scan.
    @Test(arguments: [("le:s16/16>>0", 100), ("le:s16/16>>0", 1), ("le:s12/16>>0", 50)])
    func scansAreKeptAndGiveTheSameEventsAgain(type: String, atOnce: Int) throws {
        let trace = path("x.arrows")
        let (scans, errors) = try record(type: type, atOnce: atOnce, to: trace)
        #expect(errors.contains("recorded 600 samples") && !errors.contains("--scans"))
        let data = try Data(contentsOf: URL(fileURLWithPath: trace))
        var place = data.startIndex
        for scan in scans {
            let found = try #require(data[place...].range(of: Data(scan)))
            // Behind the one before it, unless a batch ended there.
            place = found.upperBound
        }
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#"{"name":"in_accel_z","type":"\#(type)","offset":4}"#))
        #expect(text.contains("binnacle.sensor.0.device") && text.contains("binnacle.clock"))
        #expect(text.contains("binnacle.wall_ahead_ns"))
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(text.contains(boot.trimmingCharacters(in: .whitespacesAndNewlines)))

        let recorded = try Binary.run("replay", "--json", trace)
        #expect(recorded.status == 0 && recorded.output.contains("motion.began"), "\(recorded.errors)")
        for options in [[], ["--batch", "1"], ["--batch", "7"]] {
            let decoded = try Binary.run(["replay", "--json", "--decode-scans", trace] + options)
            #expect(decoded.output == recorded.output, "\(decoded.errors)")
            #expect(decoded.status == 0)
        }
        // They come from the scans indeed: with another scale the peak is another.
        let scale = #""scale":[0.01,0.01,0.01]"#
        #expect(text.contains(scale))
        let scaled = path("scaled.arrows")
        var bytes = data
        while let range = bytes.range(of: Data(scale.utf8)) {
            bytes.replaceSubrange(range, with: Data(#""scale":[0.02,0.02,0.02]"#.utf8))
        }
        try bytes.write(to: URL(fileURLWithPath: scaled))
        #expect(try Binary.run("replay", "--json", scaled).output == recorded.output)
        let doubled = try Binary.run("replay", "--json", "--decode-scans", scaled)
        #expect(doubled.status == 0 && doubled.output != recorded.output)
        // A conversion leaves them out, and gives the samples that were recorded.
        #expect(try Binary.run("convert", trace, "-o", path("again.arrows")).status == 0)
        #expect(try Binary.run("replay", "--json", path("again.arrows")).output == recorded.output)
        let without = try Binary.run("replay", "--decode-scans", path("again.arrows"))
        #expect(without.status == 65 && without.errors.contains("recorded without --scans"))
        // A layout that no decoder can read.
        let hostile = path("hostile.arrows")
        let broken = bytes.count
        while let range = bytes.range(of: Data(#""channels""#.utf8)) {
            bytes.replaceSubrange(range, with: Data(#""canals  ""#.utf8))
        }
        #expect(bytes.count == broken)
        try bytes.write(to: URL(fileURLWithPath: hostile))
        #expect(try Binary.run("replay", hostile).status == 0)
        let refused = try Binary.run("replay", "--decode-scans", hostile)
        #expect(refused.status == 65 && refused.errors.contains("cannot be read"))
        #expect(refused.errors.contains("hostile.arrows: message at byte"))
    }

    @Test func aDeviceWithoutScansIsSaid() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "chip", type: nil)
        let result = try Binary.run("record", "--scans", "--root", tree.root, "--for", "500ms", "-o", path("x.arrows"))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("--scans: no sensor is read from scans"))
        // Its column is there, and every value in it is empty.
        let recorded = try Binary.run("convert", path("x.arrows"), "-o", "-").output
        #expect(recorded.contains("chip.ax_m_s2") && recorded.split(separator: "\n").count > 1)
        #expect(try Binary.run("replay", "--decode-scans", path("x.arrows")).status == 0)
    }

    @Test(arguments: ["x.csv", "-", "x", "x.mcap"])
    func aRecordingInCSVHasNoScans(name: String) throws {
        let result = try Binary.run("record", "--scans", "-o", name, in: folder.path)
        #expect(result.status == 64 && result.errors.contains("--scans: only an Arrow stream has a place"))
        #expect(!FileManager.default.fileExists(atPath: path(name)))
    }

    @Test func aTraceInCSVCannotBeDecodedAgain() throws {
        let result = try Binary.run("replay", "--decode-scans", Binary.golden + "/walk-recording.csv")
        #expect(result.status == 65)
        #expect(result.errors.contains("walk-recording.csv: has no raw scans"))
        #expect(try Binary.run("replay", "--decode-scans", path("none.arrows")).status == 66)
    }
}
