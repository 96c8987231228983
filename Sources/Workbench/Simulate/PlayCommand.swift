import PlainText

/// A command for virtual devices, one in each line.
package enum PlayCommand: Equatable, Sendable {
    case unplug
    case plug
    /// Send and answer nothing for this time in nanoseconds; the samples follow late.
    case stall(Int64)
    /// Drop the samples of this time in nanoseconds.
    case gap(Int64)
    /// Report the number of samples sent.
    case count
    /// End.
    case quit

    /// Why a line is not a command.
    package struct SyntaxError: Error, Equatable {
        package let message: String
    }

    private static let names = ["unplug", "plug", "stall", "gap", "count", "quit"]
    /// In seconds: a day.
    private static let most = 86_400.0

    /// Parses a line; `nil` for an empty one, and for a comment, which begins with `#`.
    package static func parse(_ line: String) throws(SyntaxError) -> PlayCommand? {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
        guard let name = words.first, !name.hasPrefix("#") else { return nil }
        let rest = words.dropFirst()
        let command: PlayCommand
        switch name {
        case "unplug": command = .unplug
        case "plug": command = .plug
        case "count": command = .count
        case "quit": command = .quit
        case "stall": return .stall(try nanoseconds(rest, of: name))
        case "gap": return .gap(try nanoseconds(rest, of: name))
        default:
            throw SyntaxError(message: "no command '\(name.printable)' (\(Spelling.hint(for: name, among: names)))")
        }
        guard let word = rest.first else { return command }
        throw SyntaxError(message: "\(name) takes no '\(word.printable)'")
    }

    private static func nanoseconds(_ rest: ArraySlice<String>, of name: String) throws(SyntaxError) -> Int64 {
        guard rest.count == 1, let word = rest.first, let seconds = Double(word), seconds > 0, seconds <= most else {
            throw SyntaxError(message: "\(name) needs a number of seconds from 0 to 86400, as in '\(name) 2.5'")
        }
        return Int64((seconds * 1e9).rounded())
    }
}
