import PlainText

/// Hides secrets in a text, in whatever mixture of the escapes of URLs, JSON and HTML they stand there.
package enum SecretText {
    /// A byte of the decoded text, and where it comes from.
    private struct Unit {
        let byte: UInt8
        let place: Range<Int>
    }

    /// More bytes than an escape has: `\ud83d\ude00`.
    private static let longestEscape = 12

    /// A text with `…` in place of the secrets, also of a begin of one at the text's end, where an answer is cut.
    ///
    /// An escape may have been escaped again, so the text is decoded until nothing is left to decode, and searched at each stage.
    package static func hiding(_ secrets: [String], in text: [UInt8]) -> [UInt8] {
        // A secret that looks like an escape is decoded with the text.
        let wanted: [[UInt8]] = secrets.flatMap { secret -> [[UInt8]] in
            let forms = stages(of: Array(secret.utf8)).map { units in units.map { plain($0.byte) } }
            return [forms.first, forms.last].compactMap { $0 }
        }
        var isHidden = [Bool](repeating: false, count: text.count)
        for units in stages(of: text) {
            for secret in wanted where !secret.isEmpty {
                for place in units.indices {
                    let count = zip(units[place...], secret).prefix { plain($0.byte) == $1 }.count
                    let rest = units[(place + count)...]
                    // What the end cuts may be an escape.
                    let isCut = rest.isEmpty || rest.count < longestEscape && rest.first.map(beginsEscape) ?? false
                    guard count == secret.count || count > 0 && isCut else { continue }
                    let end = count == secret.count ? units[place + count - 1].place.upperBound : text.count
                    for index in units[place].place.lowerBound..<end { isHidden[index] = true }
                }
            }
        }
        var shown: [UInt8] = []
        for (index, byte) in text.enumerated() {
            if !isHidden[index] {
                shown.append(byte)
            } else if index == 0 || !isHidden[index - 1] {
                shown += Array("…".utf8)
            }
        }
        return shown
    }

    /// A byte for comparisons: in a form, a space is `+`.
    private static func plain(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte }

    private static func beginsEscape(_ unit: Unit) -> Bool { "%\\&".utf8.contains(unit.byte) }

    /// The text, and what it becomes by decoding again and again.
    private static func stages(of text: [UInt8]) -> [[Unit]] {
        var units = text.enumerated().map { Unit(byte: $1, place: $0..<$0 + 1) }
        var stages = [units]
        while true {
            let next = decoded(units)
            // Whatever is decoded becomes shorter.
            guard next.count < units.count else { return stages }
            stages.append(next)
            units = next
        }
    }

    private static func decoded(_ units: [Unit]) -> [Unit] {
        var (result, index): ([Unit], Int) = ([], 0)
        while index < units.count {
            let found = beginsEscape(units[index]) ? escape(units[index...].prefix(longestEscape).map(\.byte)) : nil
            let (bytes, count) = found ?? ([units[index].byte], 1)
            let place = units[index].place.lowerBound..<units[index + count - 1].place.upperBound
            result += bytes.map { Unit(byte: $0, place: place) }
            index += count
        }
        return result
    }

    /// What an escape at the begin of a text stands for, and its length; `nil` without one.
    private static func escape(_ text: [UInt8]) -> (bytes: [UInt8], count: Int)? {
        func word(_ range: Range<Int>) -> String {
            range.upperBound <= text.count ? String(decoding: text[range], as: UTF8.self) : ""
        }
        func number(_ range: Range<Int>) -> UInt32? { UInt32(word(range), radix: 16) }
        func scalar(_ value: UInt32?, _ count: Int) -> (bytes: [UInt8], count: Int)? {
            value.flatMap { Unicode.Scalar($0) }.map { (Array(String($0).utf8), count) }
        }
        switch (word(0..<1), word(1..<2)) {
        case ("%", _): return number(1..<3).map { ([UInt8(truncatingIfNeeded: $0)], 3) }
        case ("\\", "x"): return number(2..<4).map { ([UInt8(truncatingIfNeeded: $0)], 4) }
        case ("\\", "u"):
            guard let high = number(2..<6), high & 0xFC00 == 0xD800 else { return scalar(number(2..<6), 6) }
            guard word(6..<8) == "\\u", let low = number(8..<12), low & 0xFC00 == 0xDC00 else { return nil }
            return scalar(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF), 12)
        case ("\\", "t"): return ([UInt8(ascii: "\t")], 2)
        case ("\\", _): return text.count > 1 && !text[1].isAlphanumeric ? ([text[1]], 2) : nil
        default:
            guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let name = word(1..<end)
            let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
            if let character = names[name] { return (Array(character.utf8), end + 1) }
            guard name.hasPrefix("#") else { return nil }
            let isHexadecimal = name.lowercased().hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            return scalar(UInt32(digits, radix: isHexadecimal ? 16 : 10), end + 1)
        }
    }
}
