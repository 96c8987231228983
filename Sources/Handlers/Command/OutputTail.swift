import Binnacle
import PlainText

/// The last bytes of a stream that may have no end.
package struct OutputTail: Sendable {
    /// How many bytes came in all.
    package private(set) var byteCount: Int64 = 0

    private let limit: Int
    private var bytes: [UInt8] = []

    /// Creates an empty tail.
    ///
    /// - Parameter limit: The most bytes that are kept.
    package init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Takes the next bytes.
    package mutating func append(_ next: UnsafeRawBufferPointer) {
        byteCount += Int64(next.count)
        bytes.append(contentsOf: next.suffix(limit))
        // Cut only now and then: to move the rest for each byte of a drip would take its square in time.
        if bytes.count > 2 * limit { cut() }
    }

    /// What was kept, as one line of text that a terminal does not obey.
    ///
    /// It begins with `…` when there was more. Blanks and line ends at the end are left out.
    package var text: String {
        var tail = self
        tail.cut()
        var kept = tail.bytes[...]
        let isCut = kept.count < byteCount
        // The first character may have lost its beginning; a character has at most three further bytes.
        if isCut { kept = kept.dropFirst(kept.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count) }
        while let last = kept.last, last == 0x20 || (0x09...0x0D).contains(last) { kept.removeLast() }
        guard !kept.isEmpty else { return "" }
        return (isCut ? "…" : "") + String(decoding: kept, as: UTF8.self).printable
    }

    private mutating func cut() {
        bytes.removeFirst(max(0, bytes.count - limit))
    }
}
