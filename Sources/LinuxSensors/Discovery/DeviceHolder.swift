import Glibc
import LinuxSystem
import PlainText

/// Who has the events of a device, as far as this process may see it.
///
/// A descriptor of events does not say of which device it is: a process that has the device open as well comes first.
enum DeviceHolder {
    /// As in ": 'monitor' (process 812)", or with "one of" before several that may be it.
    static func ofEvents(node: String) -> String {
        let own = getpid()
        var holders: [(words: String, hasNode: Bool)] = []
        for name in (try? folderNames("/proc")) ?? [] {
            guard let process = pid_t(name), process != own else { continue }
            let links = ((try? folderNames("/proc/\(name)/fd")) ?? []).compactMap {
                try? linkTarget("/proc/\(name)/fd/\($0)")
            }
            guard links.contains(where: { $0.contains("iio:event") }) else { continue }
            let bytes = (try? SmallFile.bytes("/proc/\(name)/comm", limit: 256, kind: .present)) ?? []
            let word = String(decoding: bytes, as: UTF8.self).trimmingBlanks()
            holders.append(("'\(word.printable)' (process \(name))", links.contains(node)))
        }
        let likely = holders.contains(where: \.hasNode) ? holders.filter(\.hasNode) : holders
        guard !likely.isEmpty else { return ", which this user cannot see" }
        return (likely.count > 1 ? ", one of " : ": ") + likely.map(\.words).joined(separator: ", ")
    }

    private static func linkTarget(_ path: String) throws(SystemError) -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        let count = try systemCall("readlink", path: path) { readlink(path, &bytes, bytes.count) }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
