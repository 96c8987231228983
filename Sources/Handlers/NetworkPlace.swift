import Glibc
import PlainText
package import TableReading

/// A host and perhaps a port, as a URL in a configuration names them: `mqtts://broker.example:8883`.
package struct NetworkPlace {
    /// What stands before `://`, in small letters.
    package let scheme: String
    /// The name or address, without brackets.
    package let host: String
    /// The port, from 1 to 65535; `nil` when none is named.
    package let port: Int?
    /// What stands behind the host and the port, from its `/` on; empty when there is nothing, or may be nothing.
    package let path: String

    /// The schemes of a URL, and the hints of messages.
    package struct Form {
        package let schemes: (String, String)
        package let example: String
        package let exampleOfIPv6: String
        /// What to do instead of naming a user.
        package let insteadOfUser: String
        /// What else than a URL the key may have, for one without a scheme.
        package let insteadOfScheme: String?
        /// Whether a path and a query may follow.
        package let hasPath: Bool

        /// Creates a form; the second scheme is the one without encryption.
        package init(
            schemes: (String, String), example: String, exampleOfIPv6: String, insteadOfUser: String,
            insteadOfScheme: String? = nil, hasPath: Bool = false
        ) {
            self.insteadOfScheme = insteadOfScheme
            self.hasPath = hasPath
            self.schemes = schemes
            self.example = example
            self.exampleOfIPv6 = exampleOfIPv6
            self.insteadOfUser = insteadOfUser
        }
    }

    /// Reads a key's value; `nil` when it is none, which is then reported.
    package init?(_ key: String, _ node: TOMLNode, of table: TableReader, as form: Form) {
        guard let text = table.string(key, node) else { return nil }
        let place = table.parsed(key, at: node.position, prefix: "`\(key)` ") { () throws(TextSyntaxError) in
            try NetworkPlace(parsing: text, as: form)
        }
        guard let place else { return nil }
        self = place
    }

    private init(parsing text: String, as form: Form) throws(TextSyntaxError) {
        let example = "such as \(form.example)"
        let (first, second) = form.schemes
        let start = text.lowercased()
        guard let scheme = [first, second].first(where: { start.hasPrefix($0 + "://") }) else {
            throw TextSyntaxError(
                "begins neither with \(first):// nor with \(second)://",
                hint: example + (form.insteadOfScheme.map { ", or " + $0 } ?? ""))
        }
        var rest = text.dropFirst(scheme.count + 3)
        path = form.hasPath ? String(rest.drop { $0 != "/" }) : ""
        rest = rest.dropLast(path.count)
        guard
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") })
        else {
            throw TextSyntaxError(
                "has a path with a character that stands in no URL", hint: "%20 is a space, and # has no meaning here")
        }
        guard !rest.contains("@") else { throw TextSyntaxError("names a user", hint: form.insteadOfUser) }
        guard !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) else {
            throw TextSyntaxError("has something after the port", hint: example)
        }
        let (host, port) = try Self.split(rest, form)
        guard Self.isHost(host) else {
            throw TextSyntaxError(host.isEmpty ? "names no host" : "names a host that cannot be", hint: example)
        }
        self.scheme = scheme
        self.host = String(host)
        guard let port else {
            self.port = nil
            return
        }
        guard port.utf8.allSatisfy(\.isDigit), let number = UInt16(port), number > 0 else {
            throw TextSyntaxError("has a port that is not between 1 and 65535", hint: example)
        }
        self.port = Int(number)
    }

    private static func split(
        _ text: Substring, _ form: Form
    ) throws(TextSyntaxError) -> (host: Substring, port: Substring?) {
        let host: Substring
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw TextSyntaxError("lacks a `]`", hint: nil) }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<end]
            rest = text[end...]
        }
        guard let colon = rest.first else { return (host, nil) }
        guard colon == ":", !rest.dropFirst().contains(":") else {
            throw TextSyntaxError(
                "has a port that is not between 1 and 65535",
                hint: "an address of IPv6 stands in brackets, such as \(form.exampleOfIPv6)")
        }
        return (host, rest.dropFirst())
    }

    /// Whether a host is this machine without a look-up: localhost, 127.0.0.0/8 or ::1.
    package static func isLocal(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// Whether a text is valid as a name or an address; only a look-up shows whether the host exists.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { $0.isAlphanumeric || $0 >= 0x80 || "-._:%".utf8.contains($0) }
    }
}

/// The machine's name.
package enum HostName {
    /// The name without its domain; `localhost` when the machine has none.
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 }.prefix { $0 != CChar(UInt8(ascii: ".")) }
        return name.isEmpty ? "localhost" : String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
