import Binnacle
import Configuration
import PlainText
import Testing

/// The words for kinds of events in `on`, and text for terminals.
@Suite struct KindWordTests {
    private static func kinds(_ on: String, _ action: String = "log = true") throws -> [EventKind] {
        try parse("[handler.h]\non = [\(on)]\n\(action)\n").handlers[0].kinds
    }

    @Test func aGroupIsAllKindsThatBeginSo() throws {
        #expect(try Self.kinds("\"motion.*\"") == [.motionBegan, .motionEnded])
        #expect(try Self.kinds("\"shake\", \"sector.*\", \"sector.left\"") == [.shake, .sectorEntered, .sectorLeft])
        #expect(try Self.kinds("\"motion.*\", \"motion.moving\"") == [.motionBegan, .motionEnded, .motionMoving])
    }

    @Test func anyIsAllButRepeatedStates() throws {
        let all = EventKind.allCases.filter { !EventKind.repeated.contains($0) }
        #expect(try Self.kinds("\"any\"") == all)
        #expect(try Self.kinds("\"any\", \"north.facing\"") == all + [.northFacing])
        // A program that fails would be run for its own failure.
        #expect(
            try Self.kinds("\"any\"", "command = [\"/bin/true\"]") == all.filter { !EventKind.reports.contains($0) })
    }

    @Test(
        arguments: [
            ("\"command.*\"", "command = [\"/bin/true\"]", "reports on handlers"),
            ("\"shak.*\"", "log = true", "cannot be"),
            ("\"*\"", "log = true", "cannot be"), ("\"motion.\"", "log = true", "cannot be"),
            ("\"any\", \"any\"", "log = true", "twice"), ("\"nort.*\"", "log = true", "did you mean `north.*`?"),
        ])
    func otherWordsAreRefused(on: String, action: String, message: String) {
        let found = problems("[handler.h]\non = [\(on)]\n\(action)\n")
        #expect(found.count == 1 && "\(found)".contains(message), "\(found)")
    }

    @Test func textIsBrokenBetweenWords() {
        #expect(WrappedText.lines("a bb ccc", width: 4, first: "- ", indent: 2) == ["- a", "  bb", "  ccc"])
        #expect(WrappedText.lines("", width: 4) == [""])
        #expect(
            WrappedText.paragraphs("one two\nthree\n\n  term  what it means\nrest", width: 14)
                == ["one two three", "", "  term  what", "        it", "        means", "rest"])
    }

    @Test func localTimeIsReadAsItIsWritten() throws {
        for time in [0, 1_763_737_200_123_000_000, 1_753_000_000_000_000_000, -86_400_000_000_000] as [Int64] {
            let text = LocalTime.text(time)
            let day = String(text.map { $0 == " " ? "T" : $0 }.prefix(19))
            #expect(LocalTime.nanoseconds(day) == time - time % 1_000_000_000, "\(text)")
        }
        #expect(LocalTime.nanoseconds("2025-02-30") == nil)
    }
}
