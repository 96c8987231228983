import Foundation
import TestSupport
import Testing

/// Pipes, whose writers take their time, and commands, which take theirs.
@Suite struct LiveInputTests {
    private let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"

    /// A FIFO that the test has opened for writing, and a replay that reads it.
    private final class Feed {
        let path = NSTemporaryDirectory() + "binnacle-fifo-" + UUID().uuidString
        let process: Child
        let output: TemporaryFile
        let errors: TemporaryFile
        private let writer: FileHandle

        init(_ arguments: [String]) throws {
            try #require(mkfifo(path, 0o600) == 0)
            process = Binary.process(["replay", "--json"] + arguments + [path])
            output = try TemporaryFile()
            errors = try TemporaryFile()
            process.standardOutput = try output.writer()
            process.standardError = try errors.writer()
            try process.run()
            // Opening waits for the reader.
            writer = try #require(FileHandle(forWritingAtPath: path))
        }

        deinit {
            process.end()
            unlink(path)
        }

        func write(_ text: Substring) throws {
            try writer.write(contentsOf: Data(text.utf8))
        }

        func close() throws {
            try writer.close()
        }

        /// Waits until the output has a number of lines.
        func waitForLines(_ count: Int) throws {
            try output.wait { $0.split(separator: "\n").count >= count }
        }
    }

    private func parts(of path: String, at line: Int) throws -> (Substring, Substring) {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var index = text.startIndex
        for _ in 0..<line {
            let end = try #require(text[index...].firstIndex(of: "\n"))
            index = text.index(after: end)
        }
        return (text[..<index], text[index...])
    }

    @Test func eventsOfAPipeComeWhileItIsOpen() throws {
        let whole = try Binary.run("replay", "--json", broad05).output
        let feed = try Feed([])
        let (first, rest) = try parts(of: broad05, at: 3000)
        try feed.write(first)
        // The first motion begins in row 2,554; nothing says that the pipe will ever end.
        try feed.output.wait { $0.contains("motion.began") }
        try feed.write(rest)
        try feed.close()
        feed.process.waitUntilExit()
        #expect(feed.process.terminationStatus == 0)
        #expect(try feed.output.text() == whole)
    }

    @Test func whatIsThereIsNotHeldBackByALineWithoutASample() throws {
        let feed = try Feed([])
        try feed.write("time_s,ax_m_s2,ay_m_s2,az_m_s2\n0,0,0,90\n0.06,0,0,9.8\n\n# waiting\nx\n")
        try feed.waitForLines(1)
        #expect(try feed.output.text().contains("shock"))
        // A line that is being written when the wait is cancelled is no sample.
        try feed.write("0.07,0,0,1")
        kill(feed.process.processIdentifier, SIGINT)
        feed.process.waitUntilExit()
        #expect(feed.process.terminationStatus == 130)
        #expect(try feed.errors.text().contains("cancelled after 2 samples"))
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func aSignalEndsTheWaitForASilentPipe(signal: Int32, status: Int32) throws {
        let whole = try Binary.run("replay", "--json", broad05).output
        let feed = try Feed([])
        try feed.write(try parts(of: broad05, at: 3000).0)
        try feed.output.wait { $0.contains("motion.began") }
        kill(feed.process.processIdentifier, signal)
        feed.process.waitUntilExit()
        #expect(feed.process.terminationReason == .exit)
        #expect(feed.process.terminationStatus == status)
        let text = try feed.output.text()
        #expect(whole.hasPrefix(text) && text.hasSuffix("\n"))
        #expect(try feed.errors.text().contains("cancelled after"))
    }

    @Test func aSignalEndsACommandAndKeepsItsEvent() throws {
        let configuration = try TemporaryFile(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            [motion.moved]
            accelerometer = "chassis"
            [handler.slow]
            on = ["motion.began"]
            command = ["/bin/sleep", "1000"]
            """, suffix: ".toml")
        let process = Binary.process(["replay", "--json", "--handlers", "--config", configuration.path, broad05])
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        try output.wait { !$0.isEmpty }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
        #expect(try output.text().split(separator: "\n").count == 1)
        // It is left out if the signal comes between the event and the program's start.
        let words = try errors.text()
        #expect(words.contains(/sleep: (killed|1 event left out), because the replay was cancelled/), "\(words)")
    }

    @Test func aNonBlockingOutputLosesNothing() throws {
        let process = Binary.process(["replay", "--json", broad05])
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        try #require(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
        process.standardOutput = pipe.fileHandleForWriting
        try process.run()
        try pipe.fileHandleForWriting.close()
        try waitUntil("a full pipe") {
            var count: Int32 = 0
            _ = ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
            // What has no room any more is a line, which is shorter than a page.
            return count > 61_440
        }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: data, as: UTF8.self) == (try Binary.run("replay", "--json", broad05).output))
    }
}
