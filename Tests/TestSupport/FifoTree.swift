import Foundation
import Testing

/// A device tree in a folder of its own, with FIFOs for the devices' nodes.
///
/// Nothing in it obeys: a written attribute just keeps its text.
package final class FifoTree {
    package let root = NSTemporaryDirectory() + "binnacle-tree-" + UUID().uuidString

    package init() throws {
        try FileManager.default.createDirectory(atPath: root + "/dev", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: root + "/sys/bus/iio/devices", withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    package func folder(_ number: Int) -> String { "\(root)/sys/bus/iio/devices/iio:device\(number)" }

    package func set(_ path: String, _ text: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try (text + "\n").write(toFile: path, atomically: false, encoding: .utf8)
    }

    package func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Makes a device with three axes and, unless its axes have no type, a buffer with a FIFO as its node.
    ///
    /// What is `nil` is left out.
    @discardableResult
    package func addDevice(
        _ number: Int, name: String, prefix: String = "in_accel", type: String? = "le:s16/16>>0",
        stampType: String? = "le:s64/64>>0", values: [Int]? = [1, 2, 3], scale: String? = "0.01", isOld: Bool = false
    ) throws -> FifoNode? {
        let folder = folder(number)
        try set(folder + "/name", name)
        if let scale { try set("\(folder)/\(prefix)_scale", scale) }
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            if let values { try set("\(folder)/\(prefix)_\(letter)_raw", String(values[axis])) }
        }
        guard let type else { return nil }
        let elements = folder + (isOld ? "/scan_elements" : "/buffer0")
        let controls = folder + (isOld ? "/buffer" : "/buffer0")
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            try set("\(elements)/\(prefix)_\(letter)_en", "0")
            try set("\(elements)/\(prefix)_\(letter)_type", type)
            // Gaps between the indices mean nothing.
            try set("\(elements)/\(prefix)_\(letter)_index", String(axis * 2))
        }
        if let stampType {
            try set(elements + "/in_timestamp_en", "0")
            try set(elements + "/in_timestamp_type", stampType)
            try set(elements + "/in_timestamp_index", "9")
        }
        for (name, value) in [("enable", "0"), ("length", "2"), ("watermark", "1")] {
            try set("\(controls)/\(name)", value)
        }
        try set(folder + "/sampling_frequency", "100")
        try set(folder + "/current_timestamp_clock", "realtime")
        return try FifoNode(path: "\(root)/dev/iio:device\(number)")
    }
}

/// The FIFO that plays a device's node; it is open for writing as long as this object lives.
package final class FifoNode {
    package let path: String
    private var descriptor: Int32

    package init(path: String) throws {
        self.path = path
        try #require(mkfifo(path, 0o600) == 0)
        // Open for reading as well: without it, opening would wait for the reader.
        descriptor = open(path, O_RDWR | O_NONBLOCK)
        try #require(descriptor >= 0)
    }

    deinit {
        close()
    }

    package func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// How often this process has the node open.
    package var openings: Int {
        let folder = "/proc/self/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
    }

    package func reopen() throws {
        descriptor = open(path, O_RDWR | O_NONBLOCK)
        try #require(descriptor >= 0)
    }

    /// How many bytes nobody has read yet.
    package var unreadCount: Int {
        var count: Int32 = 0
        _ = ioctl(descriptor, UInt(FIONREAD), &count)
        return Int(count)
    }

    package func write(_ bytes: some Collection<UInt8>) throws {
        let array = Array(bytes)
        try #require(Glibc.write(descriptor, array, array.count) == array.count)
    }

    /// Three 16-bit axes, padding, and the stamp: what `le:s16/16` and `le:s64/64` make of a scan.
    package static func scan(_ x: Int16, _ y: Int16, _ z: Int16, _ time: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        for axis in [x, y, z] { withUnsafeBytes(of: axis.littleEndian) { bytes += $0 } }
        bytes += [0xAA, 0x55]
        withUnsafeBytes(of: time.littleEndian) { bytes += $0 }
        return bytes
    }
}
