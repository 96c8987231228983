import Glibc
import LinuxSystem

/// One HTTP request on a connection and its answer, with limits for all input.
///
/// Data after the request is not read. Every write has a deadline, so that a client that does not read is dropped.
struct HTTPConnection {
    /// The parts of a request's head that are used.
    struct Request {
        let method: String
        /// Without the query.
        let path: String
        /// Names and values after the question mark; percent escapes are not decoded.
        let query: [(name: String, value: String)]
        private let fields: [(name: String, value: String)]

        /// Parses a complete head; `nil` unless it is HTTP/1.
        init?(_ head: [UInt8]) {
            let lines = String(decoding: head, as: UTF8.self).split(
                separator: "\r\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else { return nil }
            method = words[0]
            let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            path = String(parts[0])
            query = (parts.count > 1 ? parts[1].split(separator: "&") : []).map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
            }
            var fields: [(name: String, value: String)] = []
            for line in lines.dropFirst() where !line.isEmpty {
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                fields.append((line[..<colon].lowercased(), String(value)))
            }
            self.fields = fields
        }

        /// The value of a header field that occurs exactly once.
        func field(_ name: String) -> String? {
            let found = fields.filter { $0.name == name }
            return found.count == 1 ? found[0].value : nil
        }

        /// How often a header field occurs.
        func count(of name: String) -> Int { fields.count { $0.name == name } }

        func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
    }

    private static let longestHead = 8192
    private static let longestWait: Int64 = 5_000_000_000

    let input: Int32
    let output: Int32

    /// Reads the head of a request; `nil` if it is incomplete, too long or malformed.
    func request() -> Request? { try? readRequest() }

    private func readRequest() throws(SystemError) -> Request? {
        let deadline = SystemClock.monotonic() + Self.longestWait
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 2048)
        let end = Array("\r\n\r\n".utf8)
        while !head.suffix(piece.count + end.count).contains(end) {
            guard head.count < Self.longestHead else { return nil }
            guard try waitUntilReady(input, milliseconds: SystemClock.milliseconds(until: deadline)) else { return nil }
            let count = try systemCall("read") { read(input, &piece, piece.count) }
            guard count > 0 else { return nil }
            head += piece[..<count]
        }
        return Request(head)
    }

    /// Sends a body with its length and further header fields; `isHead` omits the body.
    func answer(
        _ status: String, type: String, _ body: [UInt8], fields: [String] = [], isHead: Bool = false
    ) {
        let head = [
            "HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(body.count)", "Cache-Control: no-store",
            "Connection: close",
        ]
        let text = (head + fields).joined(separator: "\r\n") + "\r\n\r\n"
        _ = write(Array(text.utf8) + (isHead ? [] : body))
    }

    /// Writes bytes; `false` if the client is gone, or has not read for some seconds.
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        let deadline = SystemClock.monotonic() + Self.longestWait
        do throws(SystemError) {
            while !rest.isEmpty {
                let hasRoom = try waitUntilReady(
                    output, for: POLLOUT, milliseconds: SystemClock.milliseconds(until: deadline))
                guard hasRoom else { return false }
                // MSG_DONTWAIT: sends only what there is room for, even on a blocking descriptor.
                rest = rest.dropFirst(try put(rest))
            }
            return true
        } catch {
            return false
        }
    }

    /// Writes as much as there is room for.
    private func put(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        do throws(SystemError) {
            return try systemCallOnce("send") {
                bytes.withUnsafeBytes {
                    send(output, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                }
            } ?? 0
        } catch {
            guard error.code == ENOTSOCK else { throw error }
            // A pipe or a file, as in tests.
            return try systemCallOnce("write") {
                bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            } ?? 0
        }
    }
}
