import Glibc

/// A folder that looks like a machine with one accelerometer, whose node is a FIFO.
final class BenchTree {
    let root: String
    let node: Int32

    init() {
        var template = Array("/tmp/binnacle-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fail("mkdtemp") }
        root = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let device = root + "/sys/bus/iio/devices/iio:device0"
        for folder in [
            "/sys", "/sys/bus", "/sys/bus/iio", "/sys/bus/iio/devices", "/sys/bus/iio/devices/iio:device0",
            "/sys/bus/iio/devices/iio:device0/buffer0", "/dev",
        ] { mkdir(root + folder, 0o755) }
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            Self.put("\(device)/buffer0/in_accel_\(letter)_en", "0")
            Self.put("\(device)/buffer0/in_accel_\(letter)_type", "le:s16/16>>0")
            Self.put("\(device)/buffer0/in_accel_\(letter)_index", String(axis))
        }
        Self.put(device + "/buffer0/in_timestamp_en", "0")
        Self.put(device + "/buffer0/in_timestamp_type", "le:s64/64>>0")
        Self.put(device + "/buffer0/in_timestamp_index", "3")
        for (name, value) in [("enable", "0"), ("length", "2"), ("watermark", "1")] {
            Self.put("\(device)/buffer0/\(name)", value)
        }
        Self.put(device + "/name", "accel_3d")
        Self.put(device + "/in_accel_scale", "0.01")
        Self.put(device + "/current_timestamp_clock", "realtime")
        mkfifo(root + "/dev/iio:device0", 0o600)
        node = open(root + "/dev/iio:device0", O_RDWR | O_CLOEXEC)
        guard node >= 0 else { fail("open") }
        // F_SETPIPE_SZ: a second of the fastest device, so that a busy machine shows as latency and not as a blocked writer.
        _ = fcntl(node, 1031, 1 << 20)
    }

    /// Closes the node and removes the files.
    func remove() {
        close(node)
        guard root.hasPrefix("/tmp/binnacle-bench-") else { return }
        _ = run(["/bin/rm", "-r", "--one-file-system", root])
    }

    /// Writes one scan, stamped now.
    ///
    /// - Returns: The stamp.
    @discardableResult
    func writeScan(x: Int16, z: Int16) -> Int64 {
        let time = monotonic()
        var scan = (x, Int16(0), z, Int16(0x55AA), time)
        guard write(node, &scan, 16) == 16 else { fail("write") }
        return time
    }

    /// How many bytes nobody has read yet.
    var unreadCount: Int32 {
        var count: Int32 = 0
        _ = ioctl(node, UInt(FIONREAD), &count)
        return count
    }

    private static func put(_ path: String, _ text: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count else { fail(path) }
        close(file)
    }
}

func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func sleepUntil(_ nanoseconds: Int64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
}

func fail(_ what: String) -> Never {
    perror("sensor-bench: \(what)")
    exit(1)
}
