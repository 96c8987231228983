import Foundation
import Testing

/// The time on CLOCK_MONOTONIC, in nanoseconds.
func monotonicNow() -> Int64 {
    Int64(clock_gettime_nsec(CLOCK_MONOTONIC))
}

/// The time on CLOCK_REALTIME, in nanoseconds.
func realtimeNow() -> Int64 {
    Int64(clock_gettime_nsec(CLOCK_REALTIME))
}

private func clock_gettime_nsec(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// An attribute that keeps its value whatever is written, as a driver may: behind it is a terminal, from which every
/// read gets the same line.
final class StubbornAttribute {
    private let master: Int32
    private let slave: Int32

    /// Puts it in the place of a file.
    init(path: String, value: String) throws {
        // posix_openpt and its companions are not visible here; this is what they do.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var lock: Int32 = 0
        var number: Int32 = 0
        try #require(master >= 0 && ioctl(master, 0x4004_5431, &lock) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        slave = open(name, O_RDWR | O_NOCTTY)
        try #require(slave >= 0)
        var settings = termios()
        tcgetattr(slave, &settings)
        // Line by line, without an echo of what is read.
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(slave, TCSANOW, &settings)
        chmod(name, 0o666)
        for _ in 0..<100 { try #require(Self.write(value + "\n", to: master)) }
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Everything that was written since the last time.
    func written() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }

    /// Whether this text was written since the last time, and nothing else; a device that is silent for a second is switched
    /// on again, and is written the same once more.
    func wasWritten(_ text: String) -> Bool {
        let all = written()
        return !all.isEmpty && all == String(repeating: text, count: all.count / text.count)
    }

    private static func write(_ text: String, to file: Int32) -> Bool {
        Array(text.utf8).withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) } == text.utf8.count
    }
}

/// Records in which order files are written: each write once, because sysfs takes a value in one write.
final class WriteLog {
    private let file: Int32
    private var folders: [Int32: String] = [:]

    /// Watches some folders; the empty one is the device's own.
    init(_ device: MockDevice, in station: MockStation, folders names: [String]) throws {
        file = inotify_init1(Int32(IN_NONBLOCK))
        try #require(file >= 0)
        for name in names {
            let watch = inotify_add_watch(file, station.path(name, of: device), UInt32(IN_MODIFY | IN_CLOSE_WRITE))
            try #require(watch >= 0)
            folders[watch] = name.isEmpty ? "" : name + "/"
        }
    }

    deinit {
        close(file)
    }

    /// The names of the files that were written, in the order of the writes.
    func names() -> [String] {
        var names: [String] = []
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(file, &bytes, bytes.count)
        var place = 0
        bytes.withUnsafeBytes { bytes in
            // struct inotify_event: wd, mask, cookie, len, then the name, padded with zeros. The end of a write counts. The
            // change before it is asked for because the kernel makes equal reports in a row one.
            while place + 16 <= count {
                let watch = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
                let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
                let name = String(
                    decoding: bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }, as: UTF8.self)
                if mask & UInt32(IN_CLOSE_WRITE) != 0 { names.append((folders[watch] ?? "?") + name) }
                place += 16 + length
            }
        }
        return names
    }
}
