import Glibc
import LinuxSystem
import PlainText

/// Why a request is not answered with what it asks for.
struct HTTPRefusal: Error {
    /// The code and the words of the status line.
    let status: String
    /// A sentence for the client.
    let text: String
    /// Header fields that belong to the status.
    var fields: [String] = []

    static func malformed(_ text: String) -> HTTPRefusal { HTTPRefusal(status: "400 Bad Request", text: text) }
    static func forbidden(_ text: String) -> HTTPRefusal { HTTPRefusal(status: "403 Forbidden", text: text) }
    static func notFound(_ text: String) -> HTTPRefusal { HTTPRefusal(status: "404 Not Found", text: text) }
    static func methodNotAllowed(_ allowed: String) -> HTTPRefusal {
        HTTPRefusal(
            status: "405 Method Not Allowed", text: "What is answered here is \(allowed).",
            fields: ["Allow: \(allowed)"])
    }
    static func unavailable(_ text: String) -> HTTPRefusal {
        HTTPRefusal(status: "503 Service Unavailable", text: text)
    }
}

/// One HTTP request on a connection and its answer, with limits for all input.
///
/// A request ends with its head: a body is refused, and what follows is not read as a request. Every write has a deadline, so that
/// a client that does not read is dropped.
final class HTTPConnection {
    /// The parts of a request's head that are used.
    struct Request {
        let method: String
        /// Without the query.
        let path: String
        /// Names and values after the question mark; percent escapes are not decoded.
        let query: [(name: String, value: String)]
        private let fields: [(name: String, value: String)]

        /// Parses a head without its empty line, in which control characters stand in line ends alone.
        ///
        /// What RFC 9112 leaves to the recipient is refused: a proxy before this service may have understood it otherwise.
        init(_ head: ArraySlice<UInt8>, posting: [String]) throws(HTTPRefusal) {
            let lines = head.pieces(between: "\r\n".utf8)
            let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
                throw .malformed("The first line has to be as in GET / HTTP/1.1.")
            }
            guard words[1].hasPrefix("/"), words[1].utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
                throw .malformed("The address has to be a path of this service, as in GET / HTTP/1.1.")
            }
            method = words[0]
            let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            path = String(parts[0])
            query = (parts.count > 1 ? parts[1].split(separator: "&") : []).map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
            }
            fields = try lines.dropFirst().map { (line) throws(HTTPRefusal) in try Self.field(line) }
            try checkBody(isFirstVersion: words[2] == "HTTP/1.0", mayPost: posting.contains(path))
        }

        private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> (name: String, value: String) {
            let sides = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            // A space is no part of a name, so a line that continues the one before it has none, either.
            guard sides.count == 2, !sides[0].isEmpty,
                sides[0].allSatisfy({ $0 > 32 && $0 < 127 && !"\"(),/;<=>?@[\\]{}".utf8.contains($0) })
            else {
                throw .malformed("A header line has to be as in Host: localhost.")
            }
            let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            var value = sides[1].drop(while: blanks.contains)
            while let last = value.last, blanks.contains(last) { value.removeLast() }
            return (String(decoding: sides[0], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
        }

        /// Refuses a body, and a head of which two readers may see the end of the body at different places.
        private func checkBody(isFirstVersion: Bool, mayPost: Bool) throws(HTTPRefusal) {
            let lengths = values("content-length"), codings = values("transfer-encoding")
            guard lengths.count + codings.count <= 1, codings.isEmpty || !isFirstVersion,
                lengths.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } })
            else { throw .malformed("The length of the request is not clear.") }
            guard method == "GET" || method == "HEAD" || mayPost && method == "POST" else {
                throw .methodNotAllowed(mayPost ? "POST" : "GET, HEAD")
            }
            guard codings.isEmpty else {
                throw HTTPRefusal(status: "501 Not Implemented", text: "A request has no body here.")
            }
            guard lengths.allSatisfy({ $0.allSatisfy { $0 == "0" } }) else {
                throw HTTPRefusal(status: "413 Content Too Large", text: "A request has no body here.")
            }
        }

        /// The values of a header field, in their order.
        func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

        func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

        /// A value whose percent escapes are decoded; `nil` where it is missing, or no text.
        func text(_ name: String) -> String? {
            guard let pieces = parameter(name)?.split(separator: "%", omittingEmptySubsequences: false) else {
                return nil
            }
            var bytes = Array(pieces[0].utf8)
            for piece in pieces.dropFirst() {
                guard piece.utf8.count >= 2, let byte = UInt8(piece.prefix(2), radix: 16) else { return nil }
                bytes += [byte] + piece.utf8.dropFirst(2)
            }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    private static let longestHead = 8192
    private static let longestWait: Int64 = 5_000_000_000
    /// What is reported of a client that was dropped because it had read nothing.
    static let stalling = ConnectionPlaces.Closing.stalled(seconds: 5)
    /// How much input after a refused request is read and dropped, and for how long.
    private static let most = (unread: 1 << 20, wait: Int64(1_000_000_000))

    let stream: PeerStream
    /// Whether the answer ends with its head.
    private var isHead = false
    /// When the head has to be complete, on CLOCK_MONOTONIC.
    private let headDeadline: Int64

    init(input: Int32, output: Int32) {
        stream = PeerStream(input: input, output: output)
        headDeadline = SystemClock.monotonic() + Self.longestWait
    }

    /// Reads the head of a request, which may be a POST of the paths given.
    func request(posting: [String] = []) throws(HTTPRefusal) -> Request {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 2048)
        while true {
            guard stream.isReady(until: headDeadline) else {
                throw HTTPRefusal(status: "408 Request Timeout", text: "The request has not come within 5 s.")
            }
            let count = stream.read(&piece, atMost: min(piece.count, Self.longestHead - head.count))
            guard count > 0 else { throw .malformed("The request ended within its head.") }
            for byte in piece[..<count] {
                // Line feeds come behind carriage returns, these come nowhere else, and there is no other control character.
                let isAfterReturn = head.last == UInt8(ascii: "\r")
                guard isAfterReturn == (byte == UInt8(ascii: "\n")),
                    byte >= 32 && byte != 127 || [9, 10, 13].contains(byte)
                else { throw .malformed("Malformed request.") }
                head.append(byte)
                if byte == UInt8(ascii: "\n"), head.suffix(4) == [13, 10, 13, 10] {
                    isHead = head.starts(with: Array("HEAD ".utf8))
                    return try Request(head.dropLast(4), posting: posting)
                }
            }
            guard head.count < Self.longestHead else {
                throw .malformed("The head of the request is longer than \(Self.longestHead) bytes.")
            }
        }
    }

    /// The header fields of every answer.
    private static let fields = [
        // Scripts and styles come from files of this service only, so no text can be executed.
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin", "Cache-Control: no-store", "Connection: close",
    ]

    /// Sends the head of an answer, and the beginning of its body; without a length, its end is that of the connection.
    func begin(
        _ status: String, type: String, length: Int? = nil, fields: [String] = [], _ body: [UInt8] = []
    ) -> Bool {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Type: \(type)"] + (length.map { ["Content-Length: \($0)"] } ?? [])
            + fields + Self.fields
        return write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }

    /// Sends a body with its length.
    func answer(_ status: String, type: String, fields: [String] = [], _ body: [UInt8]) {
        _ = begin(status, type: type, length: body.count, fields: fields, isHead ? [] : body)
    }

    /// Answers why a request is refused, and drops what the client has sent besides.
    func refuse(_ refusal: HTTPRefusal) {
        answer(
            refusal.status, type: "text/plain; charset=utf-8", fields: refusal.fields,
            Array((refusal.text + "\n").utf8))
        // Closing a connection with unread input makes the kernel discard the answer.
        _ = shutdown(stream.output, Int32(SHUT_WR))
        let end = min(headDeadline, SystemClock.monotonic() + Self.most.wait)
        var piece = [UInt8](repeating: 0, count: 16_384)
        var rest = Self.most.unread
        while rest > 0, stream.isReady(until: end) {
            let count = stream.read(&piece, atMost: piece.count)
            guard count > 0 else { return }
            rest -= count
        }
    }

    /// Writes bytes; `false` if the client is gone, or has not read for some seconds.
    func write(_ bytes: [UInt8]) -> Bool { stream.write(bytes, within: Self.longestWait) }

    /// Writes an event of a `text/event-stream`.
    ///
    /// Its data is a line of JSON, which contains no newline. The client sends the last `id` when it connects again.
    func write(event name: String, id: String? = nil, _ data: String) -> Bool {
        write(Array(((id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(data)\n\n").utf8))
    }
}
