import Glibc
import LinuxSystem

/// Files of the kernel that hold a line or a few.
enum SmallFile {
    /// What a file says, without the white space around it; `nil` when it cannot be read.
    static func text(_ path: String) -> String? {
        guard let file = try? Descriptor(path: path, flags: O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                read(file.raw, $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            guard count > 0 else { break }
            filled += count
        }
        let text = String(decoding: bytes[..<filled], as: UTF8.self)
        return text.split(omittingEmptySubsequences: false) { $0.isNewline }.joined(separator: "\n").trimmed
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[first...last])
    }
}
