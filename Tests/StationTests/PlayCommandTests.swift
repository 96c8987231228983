import Foundation
import Station
import Testing
import Workbench

@Suite struct PlayCommandTests {
    @Test(
        arguments: [
            ("unplug", .unplug), (" plug\t", .plug), ("quit\r", .quit), ("count", .count),
            ("stall 2", .stall(2_000_000_000)),
            ("gap 0.25", .gap(250_000_000)), ("", nil), ("   ", nil), ("# a word", nil),
        ] as [(String, PlayCommand?)])
    func aLineIsACommand(line: String, command: PlayCommand?) throws {
        #expect(try PlayCommand.parse(line) == command)
    }

    @Test(
        arguments: [
            ("unplugg", "did you mean `unplug`?"), ("stop", "one of `unplug`, `plug`, `stall`, `gap`, `count`, `quit`"),
            ("stall", "stall needs a number of seconds"), ("gap 0", "gap needs a number of seconds"),
            ("gap -1", "gap needs"), ("stall nan", "stall needs"), ("stall 86401", "stall needs"),
            ("stall 1 2", "stall needs"), ("plug in", "plug takes no 'in'"), ("\u{1B}[2J", "no command '\\u{1b}[2J'"),
        ] as [(String, String)])
    func whatIsNoneIsExplained(line: String, message: String) {
        let error = #expect(throws: PlayCommand.SyntaxError.self) { try PlayCommand.parse(line) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func linesComeInPieces() throws {
        let pipe = Pipe()
        var lines = CommandLines(descriptor: pipe.fileHandleForReading.fileDescriptor)
        func write(_ text: String) { pipe.fileHandleForWriting.write(Data(text.utf8)) }
        write("unpl")
        #expect(lines.read().isEmpty)
        write("ug\nplug\nqu")
        #expect(lines.read() == ["unplug", "plug"])
        write("it")
        #expect(lines.read().isEmpty)
        try pipe.fileHandleForWriting.close()
        // The last line needs no end.
        #expect(lines.read() == ["quit"])
        #expect(lines.descriptor == nil)
        #expect(lines.read().isEmpty)
    }

    @Test func aLineWithoutEndIsNotGathered() throws {
        let pipe = Pipe()
        var lines = CommandLines(descriptor: pipe.fileHandleForReading.fileDescriptor)
        pipe.fileHandleForWriting.write(Data(repeating: 0x61, count: 3000))
        #expect(lines.read().map(\.count) == [1024])
    }
}
