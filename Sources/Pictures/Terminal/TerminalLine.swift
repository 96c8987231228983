import PlainText

/// What a terminal can show.
package struct TerminalStyle: Sendable, Equatable {
    /// Whether it shows more than ASCII.
    package var isUnicode = true
    /// Whether it shows colours; what a colour says is also said otherwise.
    package var hasColour = true

    /// A terminal of today.
    package init() {}
}

/// One line of a frame, which never becomes wider than the terminal.
struct TerminalLine {
    /// Colours by what they mean.
    enum Colour: Int {
        case soft = 90
        case good = 32
        case alarm = 33
        case bad = 31
        case strong = 1
    }

    let width: Int
    let style: TerminalStyle
    private(set) var text = ""
    /// How many columns the text takes.
    private(set) var columns = 0

    init(_ width: Int, _ style: TerminalStyle) {
        self.width = width
        self.style = style
    }

    /// How many columns are left.
    var room: Int { width - columns }

    /// Appends what there is room for.
    mutating func add(_ added: String, _ colour: Colour? = nil) {
        guard !added.isEmpty, room > 0 else { return }
        if let colour, style.hasColour { text += "\u{1B}[\(colour.rawValue)m" }
        // Names come from outside: nothing of them may move the cursor.
        for scalar in added.printable.unicodeScalars {
            let shown = style.isUnicode || scalar.isASCII ? scalar : Self.replacements[scalar] ?? "?"
            let taken = Self.columns(of: shown)
            guard taken <= room else { break }
            text.unicodeScalars.append(shown)
            columns += taken
        }
        if colour != nil, style.hasColour { text += "\u{1B}[0m" }
    }

    /// Appends blanks up to a column.
    mutating func pad(to column: Int) {
        let count = min(column, width) - columns
        if count > 0 { add(String(repeating: " ", count: count)) }
    }

    /// What stands for characters beyond ASCII where they are not shown.
    private static let replacements: [Unicode.Scalar: Unicode.Scalar] = [
        "█": "#", "▒": "=", "┃": "|", "╎": ":", "◆": "*", "•": ".", "·": ".", "│": "|", "▲": "^", "▼": "v", "±": "~",
        "−": "-", "°": "d", "µ": "u", "²": "2",
    ]

    /// How many columns a character takes: two in East Asian scripts and pictures, none for what changes the one before.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        guard scalar.value >= 0x300 else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
