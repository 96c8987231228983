import Glibc

/// A device of a ``BenchTree``: three axes of 16 bits and a stamp, one scan a wake-up.
package struct BenchDevice: Sendable {
    /// The FIFO that plays its node, open for writing.
    package let node: Int32
    /// The FIFO's path.
    package let path: String

    init(root: String, number: Int, prefix: String) {
        let device = "\(root)/sys/bus/iio/devices/iio:device\(number)"
        for folder in [device, device + "/buffer0"] { mkdir(folder, 0o755) }
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            Self.put("\(device)/buffer0/\(prefix)_\(letter)_en", "0")
            Self.put("\(device)/buffer0/\(prefix)_\(letter)_type", "le:s16/16>>0")
            Self.put("\(device)/buffer0/\(prefix)_\(letter)_index", String(axis))
        }
        Self.put(device + "/buffer0/in_timestamp_en", "0")
        Self.put(device + "/buffer0/in_timestamp_type", "le:s64/64>>0")
        Self.put(device + "/buffer0/in_timestamp_index", "3")
        for (name, value) in [("enable", "0"), ("length", "2"), ("watermark", "1")] {
            Self.put("\(device)/buffer0/\(name)", value)
        }
        Self.put(device + "/name", prefix == "in_accel" ? "accel_3d" : "magn_3d")
        Self.put("\(device)/\(prefix)_scale", "0.01")
        Self.put(device + "/current_timestamp_clock", "realtime")
        path = "\(root)/dev/iio:device\(number)"
        mkfifo(path, 0o600)
        node = open(path, O_RDWR | O_CLOEXEC)
        guard node >= 0 else { fail("open") }
        // F_SETPIPE_SZ: a second of the fastest device, so that a busy machine shows as latency and not as a blocked writer.
        _ = fcntl(node, 1031, 1 << 20)
    }

    /// Writes one scan, stamped now.
    ///
    /// - Returns: The stamp.
    @discardableResult
    package func writeScan(x: Int16, y: Int16, z: Int16) -> Int64 {
        let time = monotonic()
        var scan = (x, y, z, Int16(0x55AA), time)
        guard write(node, &scan, 16) == 16 else { fail("write") }
        return time
    }

    /// Writes several scans at once, as a device with a watermark does; every other one may have another value.
    package func writeScans(_ count: Int, z: Int16, other: Int16? = nil, last: Int64, intervalNanoseconds: Int64) {
        let scans = (1...count).map { number in
            (
                Int16(0), Int16(0), number.isMultiple(of: 2) ? other ?? z : z, Int16(0x55AA),
                last - Int64(count - number) * intervalNanoseconds
            )
        }
        let written = scans.withUnsafeBytes { write(node, $0.baseAddress, $0.count) }
        guard written == count * 16 else { fail("write") }
    }

    private static func put(_ path: String, _ text: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count else { fail(path) }
        close(file)
    }
}
