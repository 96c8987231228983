import Glibc

/// A host and perhaps a port, as a URL in a configuration names them: `mqtts://broker.example:8883`.
struct NetworkPlace: Equatable {
    /// What stands before `://`, in small letters.
    let scheme: String
    /// The name or address, without brackets.
    let host: String
    /// The port, from 1 to 65535; `nil` when none is named.
    let port: Int?

    /// A text that names no place.
    struct SyntaxError: Error {
        let message: String
        let hint: String?
    }

    /// What a URL may look like, and how messages show what would be right.
    struct Form {
        /// The two schemes.
        let schemes: (String, String)
        /// A URL with a name.
        let example: String
        /// A URL with an address of IPv6.
        let exampleOfIPv6: String
        /// What to do instead of naming a user.
        let insteadOfUser: String
    }

    /// Parses a URL.
    init(parsing text: String, as form: Form) throws(SyntaxError) {
        let example = "such as \(form.example)"
        let (first, second) = form.schemes
        let start = text.lowercased()
        guard let scheme = [first, second].first(where: { start.hasPrefix($0 + "://") }) else {
            throw SyntaxError(message: "begins neither with \(first):// nor with \(second)://", hint: example)
        }
        let rest = text.dropFirst(scheme.count + 3)
        guard !rest.contains("@") else { throw SyntaxError(message: "names a user", hint: form.insteadOfUser) }
        guard !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) else {
            throw SyntaxError(message: "has something after the port", hint: example)
        }
        let (host, port) = try Self.split(rest, form)
        guard Self.isHost(host) else {
            throw SyntaxError(message: host.isEmpty ? "names no host" : "names a host that cannot be", hint: example)
        }
        self.scheme = scheme
        self.host = String(host)
        guard let port else {
            self.port = nil
            return
        }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt16(port),
            number > 0
        else { throw SyntaxError(message: "has a port that is not between 1 and 65535", hint: example) }
        self.port = Int(number)
    }

    private static func split(
        _ text: Substring, _ form: Form
    ) throws(SyntaxError) -> (host: Substring, port: Substring?) {
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
                hint: "an address of IPv6 stands in brackets, such as \(form.exampleOfIPv6)")
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

/// The machine's name.
package enum HostName {
    /// What it is now, without its domain; `localhost` when it has none.
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 }.prefix { $0 != CChar(UInt8(ascii: ".")) }
        return name.isEmpty ? "localhost" : String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
