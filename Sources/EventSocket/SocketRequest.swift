import Binnacle
import PlainText

/// What a client asks for, in its first and only line.
package enum SocketRequest: Sendable, Equatable {
    /// Events.
    case subscribe(SubscriptionRequest)
    /// How the daemon is.
    case status

    /// Why a line is no request.
    package struct SyntaxError: Error, Sendable, Equatable {
        /// What is wrong, and what would be right.
        package let message: String
        /// The byte at which it was found, from 1.
        package let column: Int
    }

    /// The longest line that is read, in bytes, with its end.
    package static let longestLine = 65_536
    /// The most sensors that one subscription may name.
    package static let mostSensors = 100
    /// The longest name of a sensor, and the longest identity, in bytes.
    package static let longestName = 256

    /// Reads a request.
    ///
    /// - Parameter bytes: The line, without its end.
    /// - Throws: ``SyntaxError`` for the first thing that is wrong.
    package init(parsing bytes: some Sequence<UInt8>) throws(SyntaxError) {
        let request: LocatedJSONValue
        do throws(JSONReader.SyntaxError) {
            request = try JSONReader.locatedValue(of: bytes)
        } catch {
            throw SyntaxError(message: error.message, column: error.column)
        }
        guard let members = request.members, members.count == 1 else {
            throw SyntaxError(
                message: "a request is an object with one key, `subscribe` or `status`", column: request.column)
        }
        let body = members[0].value
        switch members[0].key {
        case "subscribe":
            self = .subscribe(try SubscriptionRequest(reading: body))
        case "status":
            if let first = try body.requireMembers().first {
                throw SyntaxError(
                    message: "unknown key \(Spelling.quoted(first.key)) (`status` has none)", column: first.keyColumn)
            }
            self = .status
        default:
            let hint = Spelling.hint(for: members[0].key, among: ["subscribe", "status"])
            throw SyntaxError(
                message: "unknown request \(Spelling.quoted(members[0].key)) (\(hint))", column: members[0].keyColumn)
        }
    }

    /// The request as one line, without its end.
    package var json: String {
        switch self {
        case .subscribe(let request): request.json
        case .status: #"{"status":{}}"#
        }
    }
}
