import Glibc
import LinuxSystem
import PlainText

/// Who has a device open, as far as this process may see it.
enum DeviceHolder {
    /// The first process with a descriptor whose link meets a condition, as in ": 'monitor' (process 812)"; empty without one.
    static func text(where isIts: (String) -> Bool) -> String {
        let own = getpid()
        for name in (try? folderNames("/proc")) ?? [] {
            guard let process = pid_t(name), process != own else { continue }
            for number in (try? folderNames("/proc/\(name)/fd")) ?? [] {
                guard let link = try? linkTarget("/proc/\(name)/fd/\(number)"), isIts(link) else { continue }
                let bytes = (try? SmallFile.bytes("/proc/\(name)/comm", limit: 256, kind: .present)) ?? []
                let word = String(decoding: bytes, as: UTF8.self).trimmingBlanks()
                return ": '\(word.printable)' (process \(name))"
            }
        }
        return ", which this user cannot see"
    }

    private static func linkTarget(_ path: String) throws(SystemError) -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = try systemCall("readlink", path: path) {
            bytes.withUnsafeMutableBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    $0.baseAddress.map { place in readlink(path, place, 256) } ?? 0
                }
            }
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
