/// Topics of MQTT: levels with slashes between them.
package enum MQTTTopic {
    /// The most characters that a value may bring into a topic.
    static let longestLevel = 128

    /// A text as one level, whatever it holds: what would be a wildcard, another level or no text becomes `_`.
    ///
    /// - Returns: At most 128 characters; `-` for an empty text.
    package static func level(_ text: String) -> String {
        guard !text.isEmpty else { return "-" }
        var level = ""
        for scalar in text.unicodeScalars.prefix(longestLevel) {
            level.unicodeScalars.append(isSafe(scalar) ? scalar : "_")
        }
        return level
    }

    /// Why a text cannot be a part of a topic as it stands; `nil` when it can.
    package static func problem(with text: String) -> String? {
        for scalar in text.unicodeScalars where scalar != "/" && !isSafe(scalar) {
            return scalar == "+" || scalar == "#"
                ? "holds `\(scalar)`, which is for subscribers" : "holds a character that no topic can have"
        }
        return nil
    }

    /// Control characters and those that Unicode keeps for nothing are refused by brokers.
    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: false
        case UInt32(UInt8(ascii: "+")), UInt32(UInt8(ascii: "#")), UInt32(UInt8(ascii: "/")): false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}
