import PlainText

/// The capabilities of a terminal.
package struct TerminalStyle: Sendable, Equatable {
    /// Whether it shows characters beyond ASCII.
    package var isUnicode = true
    /// Whether it shows colours; no information is in a colour alone.
    package var hasColour = true

    package init() {}
}

/// One line of a frame, cut at the width of the terminal.
package struct TerminalLine {
    /// Colours by their meaning.
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
    private(set) var columns = 0

    init(_ width: Int, _ style: TerminalStyle) {
        self.width = width
        self.style = style
    }

    var room: Int { width - columns }

    /// Appends the text as far as it fits.
    mutating func add(_ added: String, _ colour: Colour? = nil) {
        guard !added.isEmpty, room > 0 else { return }
        if let colour, style.hasColour { text += "\u{1B}[\(colour.rawValue)m" }
        // Names come from outside: control characters in them must not move the cursor.
        for scalar in added.printable.unicodeScalars {
            let shown = style.isUnicode || scalar.isASCII ? scalar : Self.replacements[scalar] ?? "?"
            let taken = Self.columns(of: shown)
            guard taken <= room else { break }
            text.unicodeScalars.append(shown)
            columns += taken
        }
        if colour != nil, style.hasColour { text += "\u{1B}[0m" }
    }

    mutating func pad(to column: Int) {
        let count = min(column, width) - columns
        if count > 0 { add(String(repeating: " ", count: count)) }
    }

    /// Replacements on terminals that show only ASCII.
    private static let replacements: [Unicode.Scalar: Unicode.Scalar] = [
        "█": "#", "▒": "=", "┃": "|", "╎": ":", "◆": "*", "•": ".", "·": ".", "│": "|", "▲": "^", "▼": "v", "±": "~",
        "−": "-", "°": "d", "µ": "u", "²": "2", "▄": "#", "━": "=",
        "─": "-", "└": "|", "┘": "|",
    ]

    /// The width of a character: 2 for East Asian scripts and pictures, 0 for combining characters.
    package static func columns(of scalar: Unicode.Scalar) -> Int {
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
