import Handlers
import Testing

struct OutputTailTests {
    private func tail(_ limit: Int, _ pieces: [[UInt8]]) -> OutputTail {
        var tail = OutputTail(limit: limit)
        for piece in pieces { piece.withUnsafeBytes { tail.append($0) } }
        return tail
    }

    @Test(
        arguments: [
            ("", 10, ""), ("short", 10, "short"), ("exactly 10", 10, "exactly 10"),
            ("more than ten", 10, "…e than ten"),
            ("line\n", 10, "line"), ("a\nb\n\n", 10, "a\\u{a}b"), (" \n", 10, ""), ("something", 0, ""),
            ("\u{1B}[31mred", 20, "\\u{1b}[31mred"),
            // The cut goes through a character, which is left out.
            ("aä", 1, "…"), ("äöü", 5, "…öü"), ("äöü", 4, "…öü"), ("😀x", 4, "…x"), ("😀😀", 4, "…😀"),
        ] as [(String, Int, String)])
    func theEndIsKept(text: String, limit: Int, expected: String) {
        let bytes = Array(text.utf8)
        // However it comes in pieces.
        for size in 1...max(1, bytes.count) {
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let tail = tail(limit, pieces)
            #expect(tail.text == (limit == 0 || expected == "…" ? "" : expected), "in pieces of \(size)")
            #expect(tail.byteCount == Int64(bytes.count))
        }
    }

    @Test func whatIsNoTextIsReplaced() {
        #expect(tail(10, [[0x61, 0xFF, 0x62, 0]]).text == "a\u{FFFD}b\\u{0}")
        #expect(tail(3, [[0x80, 0x80, 0x80, 0x80, 0x80]]).text == "")
        #expect(tail(5, [[0x80, 0x80, 0x80, 0x80, 0x80, 0x61]]).text == "…\u{FFFD}a")
    }

    @Test func aFloodIsCountedAndNotKept() {
        var tail = OutputTail(limit: 4)
        let piece = [UInt8](repeating: 0x61, count: 65_536)
        for _ in 0..<10_000 { piece.withUnsafeBytes { tail.append($0) } }
        #expect(tail.byteCount == 655_360_000)
        #expect(tail.text == "…aaaa")
    }
}
