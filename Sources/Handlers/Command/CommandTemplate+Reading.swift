import Binnacle
import PlainText
import TableReading

extension CommandTemplate {
    private static let key = "command"

    /// Reads a handler's command; `nil` when it cannot be used, which is then reported.
    init?(reading node: TOMLNode, of table: TableReader) {
        guard let nodes = table.array(Self.key, node, of: "strings") else { return nil }
        guard let first = nodes.first else {
            table.refuse(
                Self.key, at: node.position, "`command` is empty", hint: "its first element is the program's path")
            return nil
        }
        let program = Self.program(first, of: table)
        let arguments = nodes.dropFirst().compactMap { Self.argument($0, of: table) }
        guard let program, arguments.count == nodes.count - 1 else { return nil }
        self.init(program: program, arguments: arguments)
    }

    private static func program(_ node: TOMLNode, of table: TableReader) -> String? {
        guard let path = table.string(key, node) else { return nil }
        guard path.hasPrefix("/") else {
            // A service has no search path of its own to look the program up in.
            table.refuse(
                key, at: node.position, "the program \(Spelling.quoted(path)) has to be an absolute path",
                hint: "such as /usr/local/bin/alarm")
            return nil
        }
        guard let argument = argument(node, of: table) else { return nil }
        switch argument.pieces.first {
        case .text(let program) where argument.pieces.count == 1:
            return program
        default:
            table.refuse(
                key, at: node.position, "the program cannot be chosen by an event",
                hint: "placeholders are for the arguments")
            return nil
        }
    }

    private static func argument(_ node: TOMLNode, of table: TableReader) -> Argument? {
        guard let text = table.string(key, node, mayBeEmpty: true) else { return nil }
        do throws(Argument.SyntaxError) {
            return try Argument(parsing: text)
        } catch {
            table.refuse(key, at: node.position, error.message, hint: error.hint)
            return nil
        }
    }
}
