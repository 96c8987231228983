/// A JSON value, with its numbers as they were written: whoever writes it again writes the same bytes.
package enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number's text.
    case number(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// The members of an object in their order; no key stands twice.
    case object([Member])

    /// One member of an object.
    package struct Member: Sendable, Equatable {
        /// The key.
        package let key: String
        /// The value.
        package let value: JSONValue
    }

    /// What an object has under a key; `nil` when it has not, or when this is no object.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The string that this is.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The whole number that this is, when 64 bits can hold it.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    /// What it is, for messages.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
