/// A value of a parsed document, and where it stands.
package struct TOMLNode: Sendable {
    /// A value of one of TOML's types.
    package enum Value: Sendable {
        /// The entries in the order of the file.
        case table([TOMLEntry])
        case array([TOMLNode])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date, a time, or both: no key of a configuration takes one.
        case other
    }

    package let value: Value
    /// Where the value begins; for a table with a header, where its header begins.
    package let position: SourcePosition

    /// Whether it is a table.
    package var isTable: Bool { if case .table = value { true } else { false } }

    /// The value's type, for "expected …, found …".
    package var typeName: String {
        switch value {
        case .table: "a table"
        case .array: "an array"
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a number"
        case .boolean: "a boolean"
        case .other: "a date or a time"
        }
    }
}

/// A key of a table, and its value.
package struct TOMLEntry: Sendable {
    package let key: String
    package let keyPosition: SourcePosition
    package let node: TOMLNode
}
