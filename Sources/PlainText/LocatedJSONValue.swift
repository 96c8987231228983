/// A JSON value that knows where in its text it stands, for messages.
package struct LocatedJSONValue: Sendable {
    /// The value.
    package let value: JSONValue
    /// Where keys and values begin, in the order of the text: an object's or array's own comes before those in it.
    private let columns: ArraySlice<Int>

    /// One member of an object.
    package struct Member: Sendable {
        /// The key.
        package let key: String
        /// The byte at which the key begins, from 1.
        package let keyColumn: Int
        /// The value.
        package let value: LocatedJSONValue
    }

    /// Creates a value from what a reader noted down.
    init(_ value: JSONValue, columns: [Int]) {
        self.init(value, columns[...])
    }

    private init(_ value: JSONValue, _ columns: ArraySlice<Int>) {
        self.value = value
        self.columns = columns
    }

    /// The byte at which it begins, from 1.
    package var column: Int { columns.first ?? 1 }

    /// The members of an object; `nil` when this is none.
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

    /// The elements of an array; `nil` when this is none.
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
    /// How many places a reader notes down for it and for what is in it.
    fileprivate var columnCount: Int {
        switch self {
        case .null, .boolean, .number, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.columnCount }
        case .object(let members): members.reduce(1) { $0 + 1 + $1.value.columnCount }
        }
    }
}
