import CTOML
import PlainText

/// Owns a document of the C library while it is copied into Swift values.
///
/// All unsafe pointers of the configuration are in this file. They are sound because nodes and texts belong to the
/// document, which is freed in `deinit`, and each method returns copies.
package struct TOMLDocument: ~Copyable {
    private let handle: OpaquePointer
    private let file: Int

    /// Parses the bytes of a file; `file` is its index in positions.
    package init(parsing text: [UInt8], file: Int = 0) throws(SyntaxError) {
        handle = try Self.parse(text, file)
        self.file = file
    }

    private static func parse(_ text: [UInt8], _ file: Int) throws(SyntaxError) -> OpaquePointer {
        // The library copies the text.
        let document = text.withUnsafeBytes { bytes in
            ctoml_parse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document else {
            throw SyntaxError(
                position: SourcePosition(file: file, line: 1, column: 1), message: "there is no memory left to parse it"
            )
        }
        guard ctoml_root(document) == nil else { return document }
        defer { ctoml_free(document) }
        throw SyntaxError(
            position: SourcePosition(ctoml_error_position(document), file),
            message: sentence(String(ctoml_error_message(document))))
    }

    /// Converts the library's message to the form of other messages.
    private static func sentence(_ message: String) -> String {
        let prefix = "Error while parsing "
        let macro = " (TOML_MAX_NESTED_VALUES)"
        let text = (message.hasSuffix(macro) ? String(message.dropLast(macro.count)) : message).printable
        return text.hasPrefix(prefix) ? "syntax error in \(text.dropFirst(prefix.count))" : "syntax error: \(text)"
    }

    deinit {
        ctoml_free(handle)
    }

    package struct SyntaxError: Error {
        package let position: SourcePosition
        package let message: String
    }

    /// The top-level entries, in the order of the file.
    package func entries() -> [TOMLEntry] {
        guard let root = ctoml_root(handle) else { return [] }
        return entries(of: root)
    }

    // The recursion is as deep as the document; the C library limits the depth.
    private func entries(of table: OpaquePointer) -> [TOMLEntry] {
        Self.children(of: table).map { child in
            TOMLEntry(
                key: String(ctoml_node_key(child)), keyPosition: SourcePosition(ctoml_node_key_position(child), file),
                node: node(child))
        }
    }

    private static func children(of parent: OpaquePointer) -> [OpaquePointer] {
        (0..<ctoml_node_count(parent)).compactMap { ctoml_node_child(parent, $0) }
    }

    private func node(_ pointer: OpaquePointer) -> TOMLNode {
        let value: TOMLNode.Value =
            switch ctoml_node_kind(pointer) {
            case ctoml_kind_table: .table(entries(of: pointer))
            case ctoml_kind_array: .array(Self.children(of: pointer).map { node($0) })
            case ctoml_kind_string: .string(String(ctoml_node_string(pointer)))
            case ctoml_kind_integer: .integer(ctoml_node_integer(pointer))
            case ctoml_kind_float: .float(ctoml_node_float(pointer))
            case ctoml_kind_boolean: .boolean(ctoml_node_boolean(pointer))
            default: .other
            }
        return TOMLNode(value: value, position: SourcePosition(ctoml_node_position(pointer), file))
    }
}

extension SourcePosition {
    fileprivate init(_ position: ctoml_position, _ file: Int) {
        self.init(file: file, line: Int(position.line), column: Int(position.column))
    }
}

extension String {
    fileprivate init(_ text: ctoml_text) {
        // The parser has validated the encoding; an empty text has no address.
        self.init(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.length), as: UTF8.self)
    }
}

/// A value of a parsed document with its position.
package struct TOMLNode: Sendable {
    package enum Value: Sendable {
        /// In the order of the file.
        case table([TOMLEntry])
        case array([TOMLNode])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date or time, which no key accepts.
        case other
    }

    package let value: Value
    /// The start of the value, or of a table's header.
    package let position: SourcePosition

    package var isTable: Bool { if case .table = value { true } else { false } }

    /// The type's name, for "expected …, found …".
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

package struct TOMLEntry: Sendable {
    package let key: String
    package let keyPosition: SourcePosition
    package let node: TOMLNode
}

extension [TOMLEntry] {
    /// Merges the entries of a later file like systemd's drop-ins: tables are merged down to a section's keys, and the
    /// value of a key is replaced.
    ///
    /// A value in place of a table is added beside it, so that it is reported as an error. `levels` is the number of
    /// levels to merge under a top-level key: one if it is a section, two if it contains sections.
    package mutating func complete(with later: [TOMLEntry], levels: (_ key: String) -> Int) {
        for entry in later { complete(with: entry, levels: levels(entry.key)) }
    }

    private mutating func complete(with entry: TOMLEntry, levels: Int) {
        guard levels > 0 else {
            if let index = firstIndex(where: { $0.key == entry.key }) {
                self[index] = entry
            } else {
                append(entry)
            }
            return
        }
        guard case .table(let additions) = entry.node.value,
            let index = firstIndex(where: { $0.key == entry.key && $0.node.isTable }),
            case .table(var entries) = self[index].node.value
        else {
            append(entry)
            return
        }
        for addition in additions { entries.complete(with: addition, levels: levels - 1) }
        self[index] = TOMLEntry(
            key: entry.key, keyPosition: self[index].keyPosition,
            node: TOMLNode(value: .table(entries), position: self[index].node.position))
    }
}
