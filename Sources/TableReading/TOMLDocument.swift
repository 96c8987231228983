import CTOML
import PlainText

/// Owns a document of the C library for as long as it is copied into Swift values.
///
/// All unsafe pointers of the configuration are in this file. They are sound because nodes and texts belong to the
/// document, which this type frees in `deinit` and never lends: each method copies what it finds and returns values.
package struct TOMLDocument: ~Copyable {
    private let handle: OpaquePointer
    private let file: Int

    /// Parses a text.
    ///
    /// - Parameters:
    ///   - text: The file's bytes.
    ///   - file: The number of the file, for positions.
    /// - Throws: ``SyntaxError`` with the first place that is not TOML.
    package init(parsing text: [UInt8], file: Int = 0) throws(SyntaxError) {
        handle = try Self.parse(text, file)
        self.file = file
    }

    private static func parse(_ text: [UInt8], _ file: Int) throws(SyntaxError) -> OpaquePointer {
        // The library copies what it keeps: the buffer is not needed after the call.
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

    /// The library's sentence in the words of the other messages.
    private static func sentence(_ message: String) -> String {
        let prefix = "Error while parsing "
        let macro = " (TOML_MAX_NESTED_VALUES)"
        let text = (message.hasSuffix(macro) ? String(message.dropLast(macro.count)) : message).printable
        return text.hasPrefix(prefix) ? "syntax error in \(text.dropFirst(prefix.count))" : "syntax error: \(text)"
    }

    deinit {
        ctoml_free(handle)
    }

    /// A text that is not TOML, and where.
    package struct SyntaxError: Error {
        package let position: SourcePosition
        package let message: String
    }

    /// The top-level table's entries, in the order of the file.
    package func entries() -> [TOMLEntry] {
        guard let root = ctoml_root(handle) else { return [] }
        return entries(of: root)
    }

    // The recursion is as deep as the document, which the C library bounds.
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
        // The parser has checked the encoding; a text without bytes has no address.
        self.init(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.length), as: UTF8.self)
    }
}
