import Glibc
import LinuxSystem
import PlainText

/// Who has a device, or its events, as far as this process may see it.
enum DeviceHolder {
    /// As in ": 'monitor' (process 812)".
    static func of(node: String) -> String { words(of: node) { $0 == node } }

    /// The same of its events, with "one of" before several that may be it: a descriptor of events does not say of which device it
    /// is, so a process that has the device open as well comes first.
    static func ofEvents(node: String) -> String { words(of: node) { $0.contains("iio:event") } }

    private static func words(of node: String, _ isWanted: (String) -> Bool) -> String {
        let own = getpid()
        var holders: [(words: String, hasNode: Bool)] = []
        for name in (try? folderNames("/proc")) ?? [] {
            guard let process = pid_t(name), process != own else { continue }
            let links = ((try? folderNames("/proc/\(name)/fd")) ?? []).compactMap {
                try? linkTarget("/proc/\(name)/fd/\($0)")
            }
            guard links.contains(where: isWanted) else { continue }
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
