import Binnacle
import Foundation
import Station
import TestSupport
import Testing

/// What was learned of gyroscopes, kept in a file.
@Suite struct GyroscopeMemoryFileTests {
    private static let hour: Int64 = 3_600_000_000_000
    private static let then: Int64 = 1_790_000_000_000_000_000

    private func state(_ device: String?, isLearned: Bool = true, x: Double = 0.01) -> GyroscopeState {
        let memory = FusionMemory(
            offset: SIMD3(x, -0.02, 0.03), sigmaDegrees: SIMD3(0.04, 0.05, 0.06), field: (44.5, -66.25))
        return GyroscopeState(
            device: device, memory: memory, isLearned: isLearned, isAtRest: true, secondsAlone: nil)
    }

    @Test func whatTurnsHaveShownIsKept() throws {
        let errors = SensorErrors(
            iron: SIMD3(12.5, -30.25, 4), ironSigma: SIMD3(0.5, 0.75, 1), scale: 1.0125, scaleSigma: 0.0015)
        let memory = FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.03), errors: errors)
        let book = GyroscopeMemoryFile(path: nil)
        func record(_ memory: FusionMemory, at time: Int64) {
            book.record(
                GyroscopeState(device: "chip", memory: memory, isLearned: true, isAtRest: true, secondsAlone: nil),
                at: time)
        }
        record(memory, at: 0)
        let read = try #require(GyroscopeMemoryFile.entries(of: book.removeContents()))
        #expect(read.map(\.memory.errors) == [errors])
        // What a detector without a magnetometer notes later leaves it as it is.
        record(FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.02)), at: 1)
        #expect(book.entries.map(\.memory.errors) == [errors])
        // What a compass without a gyroscope notes later is the iron alone.
        let iron = SensorErrors(iron: SIMD3(1, 2, 3), ironSigma: SIMD3(repeating: 2), scale: 1, scaleSigma: 1)
        let compass = GyroscopeState(
            device: "chip", memory: FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.5), errors: iron),
            isLearned: true, isAtRest: true, secondsAlone: nil, hasGyroscope: false)
        book.record(compass, at: 2)
        // The same iron again is nothing to write, and nothing gets older by it.
        _ = book.removeContents()
        book.record(compass, at: 86_400_000_000_000)
        #expect(!book.isChanged)
        #expect(book.entries.allSatisfy { abs($0.memory.sigmaDegrees.x - 0.02) < 1e-9 })
        #expect(book.entries.map(\.memory.errors?.iron) == [iron.iron])
        #expect(book.entries.map(\.memory.errors?.scale) == [1.0125])
        // A day later it is worth less, and no less after a year.
        let (day, year) = (memory.aged(seconds: 86_400), memory.aged(seconds: 3e7))
        #expect(day.errors == year.errors && (day.errors?.ironSigma.x ?? 0) > 2)
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gyroscopes.json"
        let book = GyroscopeMemoryFile(path: path)
        #expect(book.read() == nil && !book.isChanged)
        book.record(state("pci0000:00/\"chip\"/ü"), at: Self.then)
        book.record(state("other", x: 0.5), at: Self.then)
        book.record(state(nil), at: Self.then)
        book.record(state("guess", isLearned: false), at: Self.then)
        #expect(book.isChanged)
        try Data(book.removeContents()).write(to: URL(fileURLWithPath: path))
        #expect(!book.isChanged)
        let next = GyroscopeMemoryFile(path: path)
        #expect(next.read() == nil && next.entries == book.entries && next.entries.count == 2)
        // The same again is no change; something else replaces it.
        next.record(state("other", x: 0.5), at: Self.then + 1)
        #expect(!next.isChanged)
        next.record(state("other", x: 0.4), at: Self.then + 1)
        #expect(next.isChanged && next.entries.count == 2)
    }

    @Test func itIsWorthLessTheOlderItIs() throws {
        let book = GyroscopeMemoryFile(path: nil)
        book.record(state("chip"), at: Self.then)
        #expect(book.recall("other", at: Self.then) == nil)
        let fresh = try #require(book.recall("chip", at: Self.then))
        #expect(
            fresh.sigmaDegrees == SIMD3(0.04, 0.05, 0.06) && fresh.offset.x == 0.01 && fresh.field?.strength == 44.5)
        let later = try #require(book.recall("chip", at: Self.then + 100_000_000_000))
        #expect(abs(later.sigmaDegrees.x - (0.04 * 0.04 + 0.01).squareRoot()) < 1e-9 && later.offset == fresh.offset)
        #expect(book.recall("chip", at: Self.then + Self.hour)?.sigmaDegrees.x == 0.5)
        // A clock that is behind says nothing of the age.
        #expect(book.recall("chip", at: Self.then - 1)?.sigmaDegrees.x == 0.5)
    }

    @Test func atMostSixtyFourDevicesAreKept() {
        let book = GyroscopeMemoryFile(path: nil)
        for number in 0..<70 { book.record(state("chip \(number)"), at: Self.then) }
        #expect(book.entries.count == 64 && book.entries.first?.device == "chip 6")
    }

    @Test func aFileThatIsNoneIsToldAndReplaced() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gyroscopes.json"
        for text in [
            "", "{", "[]", "{\"version\":2,\"gyroscopes\":[]}", String(repeating: " ", count: 70_000), "\u{0}",
        ] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let book = GyroscopeMemoryFile(path: path)
            #expect(book.read()?.contains("cannot be read") == true, "\(text.prefix(40))")
            #expect(book.entries.isEmpty)
        }
        #expect(GyroscopeMemoryFile(path: folder.path).read()?.contains("directory") == true)
        #expect(GyroscopeMemoryFile(path: folder.path + "/none/gyroscopes.json").read() == nil)
    }

    @Test func anEntryThatMakesNoSenseIsLeftOut() throws {
        let book = GyroscopeMemoryFile(path: nil)
        book.record(state("chip"), at: Self.then)
        let text = String(decoding: book.removeContents(), as: UTF8.self)
        #expect(GyroscopeMemoryFile.entries(of: Array(text.utf8))?.count == 1)
        for (old, new) in [
            ("0.010000000", "2"), ("0.010000000", "1e999"), ("0.010000000", "\"0\""), ("0.040000", "-1"),
            ("\"chip\"", "null"), ("\"chip\"", "\"\""), ("\"time\":\"2", "\"time\":\"x"), ("[0.010000000,", "["),
        ] {
            let changed = text.replacing(old, with: new)
            #expect(changed != text)
            #expect(GyroscopeMemoryFile.entries(of: Array(changed.utf8)) == [], "\(changed)")
        }
        // A field that makes no sense costs the field alone.
        let entries = GyroscopeMemoryFile.entries(of: Array(text.replacing("44.5000", with: "0").utf8))
        #expect(entries?.count == 1 && entries?.first?.memory.field == nil)
    }
}
