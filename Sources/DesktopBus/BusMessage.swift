package import CSDBus
package import PlainText

/// A value of a property, a figure or the status, with its type on the bus.
package enum BusValue: Equatable {
    package struct Entry: Equatable {
        let name: String
        let value: BusValue

        package init(name: String, value: BusValue) {
            self.name = name
            self.value = value
        }
    }

    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([BusValue])
    case dictionary([Entry])

    /// The same value; `nil` for `null`, which D-Bus lacks: unknown values are omitted.
    package init?(_ json: JSONValue) {
        switch json {
        case .null: return nil
        case .boolean(let value): self = .boolean(value)
        case .number(let text):
            if let integer = json.integer {
                self = .integer(integer)
            } else if let number = Double(text) {
                self = .number(number)
            } else {
                return nil
            }
        case .string(let text): self = .text(text)
        case .array(let values): self = .list(values.compactMap(BusValue.init))
        case .object(let members):
            self = .dictionary(
                members.compactMap { member in BusValue(member.value).map { Entry(name: member.key, value: $0) } })
        }
    }

    var signature: String {
        switch self {
        case .boolean: "b"
        case .integer: "x"
        case .number: "d"
        case .text: "s"
        case .list: "av"
        case .dictionary: "a{sv}"
        }
    }
}

/// A message for writing or reading; it belongs to the thread of its connection.
package final class BusMessage {
    package let raw: OpaquePointer
    private let library: csdbus

    /// Takes ownership of a message that was made.
    init(owning raw: OpaquePointer, _ library: csdbus) {
        self.raw = raw
        self.library = library
    }

    /// Retains a message that the library owns.
    package init(keeping raw: OpaquePointer, _ library: csdbus) {
        self.raw = library.message_ref(raw) ?? raw
        self.library = library
    }

    deinit {
        _ = library.message_unref(raw)
    }

    // MARK: - Writing

    package func append(_ text: String) throws(BusFailure) {
        try busCall("sd_bus_message_append_basic") {
            text.withCString { library.message_append_basic(raw, CChar(UInt8(ascii: "s")), $0) }
        }
    }

    func append(_ number: UInt64) throws(BusFailure) { try append(number, type: "t") }
    package func append(_ number: UInt32) throws(BusFailure) { try append(number, type: "u") }
    func append(_ number: Int64) throws(BusFailure) { try append(number, type: "x") }

    package func append(_ value: BusValue) throws(BusFailure) {
        switch value {
        // A boolean is an int for sd-bus.
        case .boolean(let value): try append(CInt(value ? 1 : 0), type: "b")
        case .integer(let value): try append(value, type: "x")
        case .number(let value): try append(value, type: "d")
        case .text(let value): try append(value)
        case .list(let values):
            try within("a", "v") { () throws(BusFailure) in
                for value in values {
                    try within("v", value.signature) { () throws(BusFailure) in try append(value) }
                }
            }
        case .dictionary(let entries): try append(dictionary: entries.map { ($0.name, $0.value) })
        }
    }

    /// Appends a dictionary of texts and variants, in its order.
    func append(dictionary entries: [(name: String, value: BusValue)]) throws(BusFailure) {
        try within("a", "{sv}") { () throws(BusFailure) in
            for entry in entries {
                try within("e", "sv") { () throws(BusFailure) in
                    try append(entry.name)
                    try within("v", entry.value.signature) { () throws(BusFailure) in try append(entry.value) }
                }
            }
        }
    }

    package func append(emptyArrayOf type: String) throws(BusFailure) {
        try within("a", type) { () throws(BusFailure) in }
    }

    package func within(_ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusFailure) -> Void)
        throws(BusFailure)
    {
        try busCall("sd_bus_message_open_container") {
            library.message_open_container(raw, CChar(UInt8(ascii: type)), contents)
        }
        try body()
        try busCall("sd_bus_message_close_container") { library.message_close_container(raw) }
    }

    private func append<Number>(_ number: Number, type: Unicode.Scalar) throws(BusFailure) {
        try busCall("sd_bus_message_append_basic") {
            withUnsafePointer(to: number) { library.message_append_basic(raw, CChar(UInt8(ascii: type)), $0) }
        }
    }

    // MARK: - Reading

    var sender: String? { library.message_get_sender(raw).map { String(cString: $0) } }

    /// Whether the bus itself has sent it.
    ///
    /// A match does not guarantee that: libsystemd accepts any unique name for a well-known one, and every program may send
    /// signals.
    var isOfBus: Bool { sender == "org.freedesktop.DBus" }

    package var member: String { library.message_get_member(raw).map { String(cString: $0) } ?? "" }

    /// The error's name and message; `nil` for other messages.
    package var error: String? {
        guard let error = library.message_get_error(raw), let name = error.pointee.name else { return nil }
        let words = error.pointee.message.map { ": " + String(cString: $0) } ?? ""
        return String(cString: name) + words
    }

    /// The next value as text; `nil` for another type.
    package func text() -> String? {
        var text: UnsafePointer<CChar>?
        guard library.message_read_basic(raw, CChar(UInt8(ascii: "s")), &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    package func boolean() -> Bool? {
        var value: CInt = 0
        return library.message_read_basic(raw, CChar(UInt8(ascii: "b")), &value) > 0 ? value != 0 : nil
    }

    package func number() -> UInt32? {
        var value: UInt32 = 0
        return library.message_read_basic(raw, CChar(UInt8(ascii: "u")), &value) > 0 ? value : nil
    }

    /// The next value as a dictionary of texts, booleans and numbers; others are left out.
    func dictionary() -> [String: BusValue] {
        var entries: [String: BusValue] = [:]
        guard enter("a", "{sv}") else { return [:] }
        while enter("e", "sv") {
            let (name, type) = (text() ?? "", variantContents ?? "")
            if ["b", "s", "d"].contains(type), enter("v", type) {
                var number = 0.0
                switch type {
                case "b": entries[name] = boolean().map(BusValue.boolean)
                case "s": entries[name] = text().map(BusValue.text)
                default:
                    _ = library.message_read_basic(raw, CChar(UInt8(ascii: "d")), &number)
                    entries[name] = .number(number)
                }
                exit()
            } else {
                skip("v")
            }
            exit()
        }
        exit()
        return entries
    }

    /// Enters a container; `false` if there is none of this type.
    package func enter(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        library.message_enter_container(raw, CChar(UInt8(ascii: type)), contents) > 0
    }

    package func exit() { _ = library.message_exit_container(raw) }

    /// The signature of the variant that is next, without entering it.
    package var variantContents: String? {
        var (type, contents) = (CChar(0), UnsafePointer<CChar>?.none)
        guard library.message_peek_type(raw, &type, &contents) > 0, type == CChar(UInt8(ascii: "v")) else { return nil }
        return contents.map { String(cString: $0) }
    }

    package func skip(_ types: String) { _ = library.message_skip(raw, types) }
}
