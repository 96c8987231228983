import Glibc
import LinuxSystem

/// Reads lines from a descriptor without blocking.
package struct CommandLines {
    /// The descriptor to poll; `nil` at the end of the input.
    package private(set) var descriptor: Int32?
    private var rest: [UInt8] = []

    private static let longest = 1024

    /// The caller keeps the descriptor open.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reads available bytes and returns complete lines; at the end of the input also an incomplete one.
    package mutating func read() -> [String] {
        guard let descriptor else { return [] }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count: Int
        do throws(SystemError) {
            guard let read = try systemCallOnce("read", { Glibc.read(descriptor, &bytes, bytes.count) }) else {
                return []
            }
            count = read
        } catch {
            // Reading a terminal from the background fails, which counts as the end of the input.
            count = 0
        }
        if count == 0 { self.descriptor = nil }
        rest += bytes.prefix(count)
        var lines: [String] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest.removeFirst(end + 1)
        }
        if self.descriptor == nil || rest.count > Self.longest, !rest.isEmpty {
            lines.append(String(decoding: rest.prefix(Self.longest), as: UTF8.self))
            rest = []
        }
        return lines
    }
}
