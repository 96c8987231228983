import Foundation
import LinuxSystem
import TestSupport
import Testing

/// A writer of lines whose device refuses some of them.
@Suite struct LineWriterTests {
    @Test func whatIsNotWrittenIsCountedAndTheRestFollows() throws {
        let file = try TemporaryFile("")
        let reading = open(file.path, O_RDONLY)
        let writing = open(file.path, O_WRONLY | O_APPEND)
        defer {
            close(reading)
            close(writing)
        }
        // Nothing can be written to a descriptor for reading, as to a full disk.
        let descriptor = dup(reading)
        defer { close(descriptor) }
        let writer = LineWriter(descriptor: descriptor)
        writer.write("one")
        writer.write("two")
        writer.flush()
        #expect(writer.failure != nil)
        writer.write("three")
        writer.flush()
        #expect(writer.lostLineCount == 3)
        writer.retry()
        writer.write("four")
        writer.flush()
        #expect(writer.failure != nil && writer.lostLineCount == 4)
        dup2(writing, descriptor)
        writer.retry()
        writer.write("five")
        writer.flush()
        #expect(writer.failure == nil && writer.lostLineCount == 4)
        #expect(try file.text() == "five\n")
    }
}
