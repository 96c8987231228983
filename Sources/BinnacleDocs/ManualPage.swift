/// A manual page in mdoc(7).
struct ManualPage {
    private(set) var text: String

    /// Begins a page; the summary starts in lower case.
    init(_ name: String, section: Int, summary: String) {
        text = """
            .\\" Made by `make documents` from the rows in Sources; changes here are lost.
            .Dd November 22, 2026
            .Dt \(name.uppercased()) \(section)
            .Os Binnacle
            .Sh NAME
            .Nm \(name)
            .Nd \(Self.escaped(summary))

            """
    }

    /// Adds a macro line whose arguments are escaped.
    mutating func line(_ line: String) { text += line + "\n" }

    mutating func section(_ title: String) { line(".Sh \(title)") }

    /// Adds paragraphs separated by blank lines.
    ///
    /// Lines that begin with two spaces form a list: a term, two or more spaces, and its description.
    mutating func paragraphs(_ paragraphs: String) {
        for (number, paragraph) in paragraphs.split(separator: "\n\n").enumerated() {
            let lines = paragraph.split(separator: "\n")
            let words = lines.prefix { !$0.hasPrefix("  ") }
            if number > 0, !words.isEmpty { line(".Pp") }
            sentences(words.joined(separator: " "))
            let terms = lines.dropFirst(words.count).map { line in
                let term = line.drop { $0 == " " }
                let end = term.firstRange(of: "  ")?.lowerBound ?? term.endIndex
                return (Self.escaped(String(term[..<end])), term[end...].drop { $0 == " " })
            }
            list(terms.map { ($0.0, String($0.1)) })
        }
    }

    /// Adds a list of escaped terms and their descriptions.
    mutating func list(_ terms: [(term: String, meaning: String)]) {
        guard !terms.isEmpty else { return }
        line(".Bl -tag -width Ds")
        for (term, meaning) in terms {
            line(".It " + term.replacing("\"", with: "\\(dq"))
            paragraphs(meaning)
        }
        line(".El")
    }

    /// Adds a list given as lines of an escaped term, two spaces, and a description.
    mutating func list(_ terms: String) {
        list(
            terms.split(separator: "\n").map { line in
                let gap = line.firstRange(of: "  ") ?? line.endIndex..<line.endIndex
                return (String(line[..<gap.lowerBound]), String(line[gap.upperBound...]))
            })
    }

    mutating func literal(_ lines: String) {
        line(".Bd -literal -offset indent")
        for literal in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            line(literal.isEmpty ? "" : Self.guarded(Self.escaped(String(literal), isLiteral: true)))
        }
        line(".Ed")
    }

    /// Adds text, one sentence a line as mdoc requires.
    private mutating func sentences(_ words: String) {
        var sentence = ""
        for word in words.split(separator: " ") {
            if sentence.last.map({ ".?!".contains($0) }) == true, word.first?.isUppercase == true {
                line(Self.guarded(Self.escaped(sentence)))
                sentence = ""
            }
            sentence += (sentence.isEmpty ? "" : " ") + word
        }
        if !sentence.isEmpty { line(Self.guarded(Self.escaped(sentence))) }
    }

    /// Escapes text for roff; dashes of options, and all of literal text, stay ASCII dashes when copied.
    static func escaped(_ text: String, isLiteral: Bool = false) -> String {
        var escaped = ""
        for (index, character) in zip(text.indices, text) {
            let isInWord = !isLiteral && index > text.startIndex && text[text.index(before: index)].isLetter
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += isInWord ? "-" : "\\-"
            default: escaped += signs[character] ?? String(character)
            }
        }
        return escaped
    }

    private static let signs: [Character: String] = [
        "…": "...", "–": "\\(en", "−": "\\-", "°": "\\(de", "µ": "\\(mc", "×": "\\(mu", "²": "\\(S2", "±": "\\(+-",
        "√": "\\(sr", "·": "\\(pc", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga",
    ]

    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }
}
