import PlainText

/// The last bytes of a stream.
package struct OutputTail: Sendable {
    /// The size of the stream so far, in bytes.
    package private(set) var byteCount: Int64 = 0

    private let limit: Int
    private var bytes: [UInt8] = []

    /// Creates an empty tail that keeps up to `limit` bytes.
    package init(limit: Int) {
        self.limit = max(0, limit)
    }

    package mutating func append(_ next: UnsafeRawBufferPointer) {
        byteCount += Int64(next.count)
        bytes.append(contentsOf: next.suffix(limit))
        // Truncated only now and then: moving the rest at each byte would take quadratic time.
        if bytes.count > 2 * limit { cut() }
    }

    /// The kept bytes as one line without control characters and trailing blanks; begins with `…` when there were more.
    package var text: String {
        var tail = self
        tail.cut()
        var kept = tail.bytes[...]
        let isCut = kept.count < byteCount
        // The first character may be cut; UTF-8 has at most three continuation bytes.
        if isCut { kept = kept.dropFirst(kept.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count) }
        while let last = kept.last, last == 0x20 || (0x09...0x0D).contains(last) { kept.removeLast() }
        guard !kept.isEmpty else { return "" }
        return (isCut ? "…" : "") + String(decoding: kept, as: UTF8.self).printable
    }

    private mutating func cut() {
        bytes.removeFirst(max(0, bytes.count - limit))
    }
}
