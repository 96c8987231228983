import PlainText
import Testing

/// What a terminal would interpret is escaped, and nothing else.
@Suite struct PrintableTests {
    /// Every character that the fast path decides has the category that decides about the others.
    @Test func asciiIsEscapedByItsCategory() {
        for value in UInt8.min..<0x80 {
            let scalar = Unicode.Scalar(value)
            let text = String(Character(scalar))
            let escaped = "\\u{\(String(value, radix: 16))}"
            #expect(text.printable == (scalar.properties.generalCategory == .control ? escaped : text))
        }
    }

    @Test(arguments: [
        ("a\u{1B}[2J", "a\\u{1b}[2J"), ("\u{85}", "\\u{85}"), ("right\u{202E}left", "right\\u{202e}left"),
        ("\u{2028}", "\\u{2028}"), ("\u{FFFE}\u{FFFF}", "\\u{fffe}\\u{ffff}"),
        ("Fahrrad-Zähler °/s 北", "Fahrrad-Zähler °/s 北"),
    ])
    func otherCharactersToo(text: String, expected: String) {
        #expect(text.printable == expected)
    }

    /// The sign and the accent are one character, and XML knows no characters.
    @Test func signsBelowAccentsAreEscapedInXML() {
        #expect("<\u{338}a&\u{301}>".xml == "&lt;\u{338}a&amp;\u{301}&gt;")
    }

    @Test(arguments: [
        ("", "", "x"), ("aaa", "xa", "x"), ("baab", "bxb", "x"), ("aa", "", ""), ("a aa.", "a .", ""),
        ("Zähler", "Zähler", "x"),
    ])
    func partsAreFoundByBytes(text: String, replaced: String, other: String) {
        #expect(text.replacing("aa", with: other) == replaced)
        #expect(text.contains("aa") == (text != replaced))
        let found: String? = text.firstRange(of: "aa").map { String(text[$0]) }
        let expected: String? = text == replaced ? nil : "aa"
        #expect(found == expected)
    }
}
