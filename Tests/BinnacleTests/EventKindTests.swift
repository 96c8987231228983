import Binnacle
import Testing

@Suite struct EventKindTests {
    @Test func messageIDsAreRandomAndNeverShared() {
        let ids = EventKind.allCases.map(\.row.messageID)
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.utf8.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "\(id)") }
        #expect(EventKind.shock.row.messageID == "b47a4ad8626a43d2a120b1369982b514", "an id never changes")
    }

    @Test func aRowNamesEachFigureOnceAndSaysWhatTheKindMeans() {
        for kind in EventKind.allCases {
            #expect(Set(kind.row.figures).count == kind.row.figures.count, "\(kind)")
            #expect(kind.text.hasSuffix(".") && kind.text.first?.isUppercase == true, "\(kind)")
        }
    }

    @Test func theNameOfAFigureEndsWithItsUnit() {
        for name in Figure.Name.allCases {
            #expect(name.text.hasSuffix("."), "\(name)")
            #expect(name.unit != .ratio || name.rawValue.hasPrefix("q") || name == .cadence, "\(name)")
            if let unit = name.unit { #expect(name.rawValue.hasSuffix(unit.rawValue), "\(name)") }
        }
        let units = Dictionary(grouping: Figure.Name.allCases) { $0.unit }.mapValues(\.count)
        #expect(units[.g] == 5 && units[.metresPerSecondSquared] == 9 && units[.microtesla] == 2)
        #expect(units[.degrees] == 12 && units[.seconds] == 4)
    }

    @Test func everyFigureIsOfAKindOrAddedByADecorator() {
        let known = Set(EventKind.allCases.flatMap(\.row.figures))
        #expect(Set(Figure.Name.allCases).subtracting(known) == [.ordinal, .joined])
        // The name of a handler is also that of one that is armed.
        #expect(
            Figure.Name.ofReports == [.program, .trigger, .status, .signal, .attempt, .retry, .output])
    }

    @Test func aWordThatIsReadBackHasItsTypeAgain() throws {
        let line =
            #"{"seq":1,"kind":"heading","detector":"north","sensor":"lid","time_ns":5,"heading_deg":12.30,"#
            + #""reference":"true","axis":"+y","reason":"true","count":3}"#
        let event = try Event(json: line)
        #expect(event.figure(.reference) == .word(HeadingReference.true))
        #expect(event.figure(.axis) == .word(DeviceAxis.plusY))
        #expect(event.figure(.reason) == .text("true"))
        #expect(event.number(.heading) == 12.3 && event.number(.count) == 3 && event.number(.axis) == nil)
        #expect(event.json == line)
        let unknown = try Event(json: line.replacing("+y", with: "up"))
        #expect(unknown.figure(.axis) == .text("up"), "a newer version may know more words")
    }
}
