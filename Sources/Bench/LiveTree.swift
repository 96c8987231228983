import Glibc
import LinuxSystem

/// A folder that looks like a machine with one accelerometer, whose node is a FIFO: what a kernel's driver would write
/// is written here, and read as every device is.
///
/// The folder goes with the object.
final class LiveTree {
    /// The folder.
    let root: String
    private let node: Descriptor
    private let files: [String]
    private let folders: [String]

    /// Makes the folder and opens its node.
    ///
    /// - Throws: ``BenchError`` when files cannot be made.
    init() throws(BenchError) {
        let root = try TemporaryFolder.make()
        let device = root + "/sys/bus/iio/devices/iio:device0"
        folders = [
            "", "/dev", "/sys", "/sys/bus", "/sys/bus/iio", "/sys/bus/iio/devices", "/sys/bus/iio/devices/iio:device0",
            "/sys/bus/iio/devices/iio:device0/buffer0",
        ].map { root + $0 }
        var contents = [
            ("name", "accel_3d"), ("in_accel_scale", "0.01"), ("current_timestamp_clock", "monotonic"),
            ("buffer0/in_timestamp_en", "0"), ("buffer0/in_timestamp_type", "le:s64/64>>0"),
            ("buffer0/in_timestamp_index", "3"), ("buffer0/enable", "0"), ("buffer0/length", "2"),
            ("buffer0/watermark", "1"),
        ]
        for (index, axis) in ["x", "y", "z"].enumerated() {
            contents.append(("buffer0/in_accel_\(axis)_en", "0"))
            contents.append(("buffer0/in_accel_\(axis)_type", "le:s16/16>>0"))
            contents.append(("buffer0/in_accel_\(axis)_index", String(index)))
        }
        let fifo = root + "/dev/iio:device0"
        files = contents.map { device + "/" + $0.0 } + [fifo]
        self.root = root
        for folder in folders.dropFirst() { mkdir(folder, 0o755) }
        for (name, text) in contents { try TemporaryFolder.put(device + "/" + name, text) }
        mkfifo(fifo, 0o600)
        do throws(SystemError) {
            // For both directions, so that nobody waits for the other end.
            node = try Descriptor(path: fifo, flags: O_RDWR)
        } catch {
            for file in files { unlink(file) }
            for folder in folders.reversed() { rmdir(folder) }
            throw BenchError(error)
        }
    }

    deinit {
        for file in files { unlink(file) }
        for folder in folders.reversed() { rmdir(folder) }
    }

    /// The node, open for writing.
    var descriptor: Int32 { node.raw }
}
