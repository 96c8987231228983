/// A JSON value with its position in the text, for messages.
package struct LocatedJSONValue: Sendable {
    package let value: JSONValue
    /// The positions of keys and values in the order of the text; a container's precedes those of its contents.
    private let columns: ArraySlice<Int>

    package struct Member: Sendable {
        package let key: String
        /// The position of the key in bytes, from 1.
        package let keyColumn: Int
        package let value: LocatedJSONValue
    }

    /// Creates a value with the positions found by a parser.
    init(_ value: JSONValue, columns: [Int]) {
        self.init(value, columns[...])
    }

    private init(_ value: JSONValue, _ columns: ArraySlice<Int>) {
        self.value = value
        self.columns = columns
    }

    /// The position of the value in bytes, from 1.
    package var column: Int { columns.first ?? 1 }

    /// The members of an object; `nil` for another type.
    package var members: [Member]? {
        guard case .object(let members) = value else { return nil }
        var rest = columns.dropFirst()
        return members.map { member in
            let keyColumn = rest.popFirst() ?? column
            let value = LocatedJSONValue(member.value, rest)
            rest = rest.dropFirst(member.value.columnCount)
            return Member(key: member.key, keyColumn: keyColumn, value: value)
        }
    }

    /// The elements of an array; `nil` for another type.
    package var elements: [LocatedJSONValue]? {
        guard case .array(let elements) = value else { return nil }
        var rest = columns.dropFirst()
        return elements.map { element in
            defer { rest = rest.dropFirst(element.columnCount) }
            return LocatedJSONValue(element, rest)
        }
    }
}

extension JSONValue {
    /// The number of positions of the value and its contents.
    fileprivate var columnCount: Int {
        switch self {
        case .null, .boolean, .number, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.columnCount }
        case .object(let members): members.reduce(1) { $0 + 1 + $1.value.columnCount }
        }
    }
}
