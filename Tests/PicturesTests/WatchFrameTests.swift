import Binnacle
import Foundation
import PlainText
import TestSupport
import Testing

import Pictures

/// The live view in a terminal: what it draws depends on readings, size and style alone.
@Suite struct WatchFrameTests {
    private static let folder = Binary.tests.appendingPathComponent("Screens").path

    /// Readings that a daemon sent, one for each line of a file.
    private static func readings() throws -> [LiveValues] {
        try String(contentsOfFile: "\(folder)/readings.jsonl", encoding: .utf8).split(separator: "\n").map { line in
            let value = try JSONReader.value(of: line.utf8)
            let object = try #require(value["readings"])
            return try #require(LiveValues(object))
        }
    }

    private static func state() throws -> WatchState {
        var state = WatchState(source: "/run/binnacle/binnacle.sock")
        for readings in try readings() { state.update(readings) }
        state.append(line: "19:34:14.462 motion.began  moved  peak 0.2521 g  (simulated)")
        state.append(line: "19:34:15.112 heading.lost  compass  reason accelerating")
        state.append(line: "19:34:16.003 motion.ended  moved  peak 0.2992 g  duration 1.510 s")
        return state
    }

    private static func plain(_ isUnicode: Bool = true) -> TerminalStyle {
        var style = TerminalStyle()
        style.hasColour = false
        style.isUnicode = isUnicode
        return style
    }

    private static func width(of line: String) -> Int {
        line.unicodeScalars.reduce(0) { $0 + TerminalLine.columns(of: $1) }
    }

    @Test(arguments: [(80, 24), (120, 40), (40, 12)]) func screensAreAsTheyWereLookedAt(columns: Int, rows: Int) throws
    {
        let lines = WatchFrame(try Self.state(), columns: columns, rows: rows, style: Self.plain()).lines
        let text =
            lines.map { $0.trimmingCharacters(in: .init(charactersIn: " ")).isEmpty ? "" : $0 }
            .joined(separator: "\n") + "\n"
        let path = "\(Self.folder)/\(columns)x\(rows).txt"
        if ProcessInfo.processInfo.environment["BINNACLE_WRITE_SCREENS"] != nil {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text, "\n\(text)")
    }

    @Test func aSensorThatDeliversNothingIsSaid() throws {
        var state = WatchState(source: "x", sensor: "none")
        let readings = try #require(try Self.readings().last)
        state.update(readings)
        let names = Set(readings.streams.map(\.sensor))
        #expect(state.trouble?.hasPrefix("no sensor `none` delivers (") == true, "\(state.trouble ?? "")")
        #expect(names.allSatisfy { state.trouble?.contains($0) == true }, "\(state.trouble ?? "")")
        state = WatchState(source: "x", sensor: names.first)
        state.update(readings)
        #expect(state.trouble == nil)
    }

    /// A list of events that leaves headings out says so above them, with how to see them.
    @Test(arguments: [(80, 24), (120, 40), (60, 12)])
    func headingsThatAreLeftOutAreCounted(columns: Int, rows: Int) throws {
        var state = try Self.state()
        func lines() -> [String] { WatchFrame(state, columns: columns, rows: rows, style: Self.plain()).lines }
        #expect(!lines().joined().contains("left out"))
        state.headingCount = 1876
        let note = try #require(LeftOutHeadings.note(1876))
        let place = try #require(lines().firstIndex { $0.contains(note) }, "\(lines())")
        #expect(lines()[place + 1].contains("motion.") || lines()[place + 1].contains("heading.lost"))
        #expect(WatchFrame.text(state).contains(note))
        #expect(
            LeftOutHeadings.note(1)?.hasPrefix("1 heading or attitude left out") == true
                && LeftOutHeadings.note(0) == nil)
    }

    /// What comes while the picture is held is shown with the next one, and not in the held one.
    @Test func eventsOfAHeldPictureFollow() throws {
        var state = try Self.state()
        let before = state.events
        _ = state.press(.hold)
        let late = (1...150).map { "19:35:00.\(100 + $0) shake  moved" }
        for line in late { state.append(line: line) }
        #expect(state.events == before)
        _ = state.press(.hold)
        #expect(state.events == Array(late.suffix(100)))
    }

    @Test func eventsAreThoseOfTheShownSensor() throws {
        var state = WatchState(source: "x", sensor: "box")
        state.update(try #require(try Self.readings().last))
        state.append(line: "1 shake", of: "box")
        state.append(line: "2 shake", of: "lid")
        state.append(line: "3 missed events")
        #expect(state.events == ["1 shake", "3 missed events"])
        _ = state.press(.nextSensor)
        #expect(state.sensor == nil && state.events == ["1 shake", "2 shake", "3 missed events"])
    }

    @Test func readingsThatAreOldAreSaidToBe() throws {
        var state = try Self.state()
        func head() -> String { WatchFrame(state, columns: 120, rows: 24, style: Self.plain()).lines[0] }
        #expect(!head().contains("no reading"))
        state.silentSeconds = 13
        #expect(head().contains("no reading for 13 s: what is shown is old"))
    }

    /// Any size is kept, whatever the state: a line that is too long would scroll the screen.
    @Test(arguments: [true, false]) func noSizeIsExceeded(isUnicode: Bool) throws {
        var states = [WatchState(source: "x"), try Self.state()]
        var hostile = try Self.state()
        hostile.silentSeconds = .max
        hostile.trouble = String(repeating: "日本語\u{1B}[2J\u{202E}", count: 40)
        hostile.append(line: String(repeating: "e\u{301}👩‍👩‍👧", count: 50))
        states.append(hostile)
        for state in states {
            for columns in 1...130 {
                for rows in [1, 2, 3, 5, 9, 12, 24, 50] {
                    let lines = WatchFrame(state, columns: columns, rows: rows, style: Self.plain(isUnicode)).lines
                    #expect(lines.count <= rows)
                    for line in lines {
                        #expect(Self.width(of: line) <= columns, "\(columns)x\(rows): \(line)")
                        #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
                        if !isUnicode { #expect(line.utf8.allSatisfy { $0 < 0x80 }, "\(line)") }
                    }
                }
            }
        }
    }

    @Test func coloursAreTheOnlyDifferenceOfStyles() throws {
        let state = try Self.state()
        let coloured = WatchFrame(state, columns: 80, rows: 24, style: TerminalStyle()).lines
        let plain = WatchFrame(state, columns: 80, rows: 24, style: Self.plain()).lines
        #expect(coloured != plain)
        let stripped = coloured.map { line in
            line.replacing(/\u{1B}\[[0-9]+m/, with: "")
        }
        #expect(stripped == plain)
    }

    @Test func aPeakIsHeldForThreeSecondsOfTheReadings() throws {
        func readings(_ time: Int64, _ value: Float) -> LiveValues {
            var readings = LiveValues(timeNanoseconds: time * 1_000_000_000, intervalNanoseconds: 100_000_000)
            var detector = LiveValues.Detector(name: "m", kind: "motion", isRunning: true)
            detector.measures = [LiveValues.Span(least: 0, greatest: value, last: value)].compactMap { $0 }.map {
                LiveValues.Measure("user_g", $0)
            }
            readings.detectors = [detector]
            return readings
        }
        var state = WatchState(source: "x")
        func peak() throws -> Float? {
            let detector = try #require(state.readings?.detectors.first)
            return state.peak(detector, "user_g")
        }
        for (time, value, expected) in [
            (1, 0.5, 0.5), (2, 0.1, 0.5), (3, 0.7, 0.7), (5, 0.2, 0.7), (6, 0.2, 0.2), (7, 0.1, 0.2),
        ] as [(Int64, Float, Float)] {
            state.update(readings(time, value))
            #expect(try peak() == expected, "at \(time) s")
        }
        _ = state.press(.resetPeaks)
        #expect(try peak() == nil)
    }

    @Test func keysAreReadInPieces() {
        var keys = TerminalKeys()
        func read(_ bytes: some Sequence<UInt8>) -> [WatchState.Key] { keys.read(bytes) }
        #expect(read("x+-0p q".utf8) == [.larger, .smaller, .resetScale, .resetPeaks, .hold, .quit])
        #expect(read([0x1B]) == [])
        #expect(read([0x5B]) == [])
        #expect(read([0x43]) == [.nextSensor])
        #expect(read("\u{1B}[1;5D\u{1B}OC\u{1B}[Z".utf8) == [.previousSensor, .nextSensor, .previousSensor])
        #expect(read("\u{1B}[99999999999999999999999999".utf8) == [])
        #expect(read("q".utf8) == [.quit])
    }

    @Test func sensorsAreChosenInTurn() throws {
        var state = try Self.state()
        #expect(state.sensor == nil && state.shown == state.readings)
        for (key, sensor) in [
            (WatchState.Key.nextSensor, "box"), (.nextSensor, nil), (.previousSensor, "box"), (.previousSensor, nil),
        ] as [(WatchState.Key, String?)] {
            let goesOn = state.press(key)
            #expect(goesOn && state.sensor == sensor)
        }
        let goesOn = state.press(.quit)
        #expect(!goesOn)
    }

    @Test func aTapeHasTheHeadingInItsMiddle() {
        let tape = Array(TerminalBars.tape(90, width: 60))
        #expect(tape[30] == "▼" && tape.count == 60)
        #expect(String(tape).contains("NE") && String(tape).contains("SE") && !String(tape).contains("W"))
    }
}
