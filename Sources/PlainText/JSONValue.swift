/// A JSON value that keeps the text of its numbers, so that it can be written again with the same bytes.
package enum JSONValue: Sendable, Equatable {
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number's text.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members of an object in order; keys are unique.
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let key: String
        package let value: JSONValue
    }

    /// The value of an object's key; `nil` when it is missing, or for another type.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The string; `nil` for another type.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The integer; `nil` when 64 bits cannot hold it, or for another type.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    /// The whole number from 0 on; `nil` when 64 bits cannot hold it, or for another type.
    package var sequence: UInt64? {
        guard case .number(let text) = self else { return nil }
        return UInt64(text)
    }

    /// A finite number; `nil` for other values.
    package var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The elements of an array; none for another type.
    package var items: [JSONValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// The elements of an array, each read; `nil` when it is no array, or one of them cannot be read.
    @inlinable package func elements<Element>(_ read: (JSONValue) -> Element?) -> [Element]? {
        guard case .array(let values) = self else { return nil }
        var elements: [Element] = []
        for value in values {
            guard let element = read(value) else { return nil }
            elements.append(element)
        }
        return elements
    }

    /// The type, for messages.
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

    /// The value as JSON, with the text of its numbers.
    package var json: String {
        switch self {
        case .null: "null"
        case .boolean(let value): String(value)
        case .number(let text): text
        case .string(let text): JSONObject.quoted(text)
        case .array(let values): JSONObject.list(values.map(\.json))
        case .object(let members):
            "{" + members.map { "\(JSONObject.quoted($0.key)):\($0.value.json)" }.joined(separator: ",") + "}"
        }
    }
}

extension JSONValue? {
    /// The elements of an array; none for another type, and for a member that is not there.
    package var items: [JSONValue] { self?.items ?? [] }
}
