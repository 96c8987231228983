import Glibc
package import LinuxSystem
import Synchronization

/// A folder that imitates a machine with IIO devices, for `--root` and `DeviceFinder(under:)`.
///
/// Attributes are files, and device nodes are FIFOs. Tests, benchmarks and `binnacle bench` use it. A write to an attribute
/// changes only its file. The folder is removed together with this object.
package final class FifoTree: Sendable {
    private let scratch: ScratchFolder

    package var root: String { scratch.path }

    package init() throws(SystemError) {
        scratch = try ScratchFolder(prefix: "binnacle-tree")
        try scratch.makeFolders(for: Self.devices + "/x")
        try scratch.makeFolders(for: "dev/x")
    }

    private static let devices = "sys/bus/iio/devices"

    /// The folder of a device's attributes.
    package func folder(_ number: Int) -> String { "\(root)/\(Self.devices)/iio:device\(number)" }

    /// Writes a file whose path begins with ``root``, with a newline at its end; its folders are created.
    package func set(_ path: String, _ text: String) throws(SystemError) {
        try scratch.put(String(path.dropFirst(root.count + 1)), text + "\n")
    }

    /// Creates a device with three axes and, unless `type` is `nil`, a buffer with a FIFO as its node.
    ///
    /// `nil` omits a part: the buffer and its node, the stamp, the `_raw` attributes, the scale. An old device has the buffer's
    /// attributes where kernels before 5.11 have them.
    @discardableResult
    package func addDevice(
        _ number: Int, name: String, prefix: String = "in_accel", type: String? = "le:s16/16>>0",
        stampType: String? = "le:s64/64>>0", values: [Int]? = [1, 2, 3], scale: String? = "0.01", isOld: Bool = false
    ) throws(SystemError) -> FifoNode? {
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
            // Indices need not be consecutive.
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

/// The FIFO in place of a device's node, open for writing as long as this object lives.
package final class FifoNode: Sendable {
    package let path: String
    private let file = Mutex<Descriptor?>(nil)

    package init(path: String) throws(SystemError) {
        self.path = path
        try systemCall("mkfifo", path: path) { mkfifo(path, 0o600) }
        try reopen()
    }

    /// Opens it again, also for reading, because opening only for writing waits for a reader.
    package func reopen() throws(SystemError) {
        let opened = try Descriptor(path: path, flags: O_RDWR | O_NONBLOCK)
        file.withLock { $0 = opened }
    }

    /// Closes it; a reader sees the end of the file.
    package func close() {
        file.withLock { $0 = nil }
    }

    /// The descriptor; −1 when it is closed.
    package var raw: Int32 { file.withLock { $0?.raw } ?? -1 }

    package var unreadCount: Int {
        var count: Int32 = 0
        _ = try? systemCall("ioctl") { ioctl(raw, UInt(FIONREAD), &count) }
        return Int(count)
    }

    /// Writes all bytes without waiting; throws ENOSPC when the FIFO has too little space.
    package func write(_ bytes: some Collection<UInt8>) throws(SystemError) {
        let array = Array(bytes)
        let count = try systemCall("write", path: path) { Glibc.write(raw, array, array.count) }
        guard count == array.count else { throw SystemError(code: ENOSPC, call: "write", path: path) }
    }

    /// A scan of three 16-bit axes, padding, and the stamp (`le:s16/16`, `le:s64/64`).
    package static func scan(_ x: Int16, _ y: Int16, _ z: Int16, _ time: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        for axis in [x, y, z] { withUnsafeBytes(of: axis.littleEndian) { bytes += $0 } }
        bytes += [0xAA, 0x55]
        withUnsafeBytes(of: time.littleEndian) { bytes += $0 }
        return bytes
    }
}
