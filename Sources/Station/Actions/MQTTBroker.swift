/// Where a broker is, as a configuration says it: `mqtts://broker.example:8883`.
package struct MQTTBroker: Sendable, Equatable {
    /// The name or address, without brackets.
    package let host: String
    /// The port.
    package let port: Int
    /// Whether the connection is encrypted.
    package let usesTLS: Bool

    /// A text that names no broker.
    struct SyntaxError: Error {
        let message: String
        let hint: String?
    }

    /// Whether it is this machine.
    var isLocal: Bool { ["localhost", "127.0.0.1", "::1"].contains(host.lowercased()) }

    /// Parses a broker's URL.
    init(parsing text: String) throws(SyntaxError) {
        let example = "such as mqtts://broker.example:8883"
        let schemes: [(prefix: String, port: Int, usesTLS: Bool)] = [
            ("mqtts://", 8883, true), ("mqtt://", 1883, false),
        ]
        let start = text.lowercased()
        guard let scheme = schemes.first(where: { start.hasPrefix($0.prefix) }) else {
            throw SyntaxError(message: "begins neither with mqtts:// nor with mqtt://", hint: example)
        }
        let rest = text.dropFirst(scheme.prefix.count)
        guard !rest.contains("@") else {
            throw SyntaxError(
                message: "names a user", hint: "that is said with `user`, and `password_file` or `password_credential`")
        }
        guard !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) else {
            throw SyntaxError(message: "has something after the port", hint: example)
        }
        let (host, port) = try Self.split(rest)
        guard Self.isHost(host) else {
            throw SyntaxError(message: host.isEmpty ? "names no host" : "names a host that cannot be", hint: example)
        }
        self.host = String(host)
        usesTLS = scheme.usesTLS
        guard let port else {
            self.port = scheme.port
            return
        }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt16(port),
            number > 0
        else { throw SyntaxError(message: "has a port that is not between 1 and 65535", hint: example) }
        self.port = Int(number)
    }

    private static func split(_ text: Substring) throws(SyntaxError) -> (host: Substring, port: Substring?) {
        let host: Substring
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw SyntaxError(message: "lacks a `]`", hint: nil) }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<end]
            rest = text[end...]
        }
        guard let colon = rest.first else { return (host, nil) }
        guard colon == ":", !rest.dropFirst().contains(":") else {
            throw SyntaxError(
                message: "has a port that is not between 1 and 65535",
                hint: "an address of IPv6 stands in brackets, such as mqtts://[2001:db8::1]:8883")
        }
        return (host, rest.dropFirst())
    }

    /// Whether a text can be a name or an address; whether there is such a host shows when it is looked up.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "%"):
                    true
                default: byte >= 0x80
                }
            }
    }
}
