import Binnacle
import Foundation
import Handlers
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// A handler that appends events to a file: every event has a whole line, whatever happens to the file.
@Suite struct FileTests {
    /// A handler with short pauses, what it reports and what it acknowledges.
    private final class Run {
        let reports = Reports()
        let path: String
        let handler: ThreadedHandler
        private let tickets: Tickets

        private final class Tickets: Sendable {
            let list = Mutex<[Int64]>([])
        }

        init(_ path: String) throws {
            self.path = path
            let tickets = Tickets()
            self.tickets = tickets
            handler = try ThreadedHandler(
                name: "lines", FileAppender.plan(path, RetryPauses(first: 10_000_000, longest: 50_000_000)),
                report: reports.add, acknowledge: { ticket in tickets.list.withLock { $0.append(ticket) } })
        }

        var acknowledged: [Int64] { tickets.list.withLock { $0 } }
        var reasons: [String] { reports.of(.handlerFailed).compactMap { $0.text(.reason) } }

        func write(_ numbers: ClosedRange<UInt64>) throws {
            for number in numbers { handler.handle(event(number)) }
            try waitUntil("what was written; told: \(reasons)") { handler.unfinishedCount == 0 }
        }
    }

    private static func lines(_ path: String) -> [String] {
        (contents(of: path) ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The numbers of the events in a file that ends with a whole line.
    private static func numbers(_ path: String) throws -> [UInt64] {
        let lines = lines(path)
        #expect(lines.last == "")
        return try lines.dropLast().map { try Event(json: $0).sequence }
    }

    @Test func eachEventIsALine() throws {
        let folder = try TemporaryFolder([:])
        let run = try Run(folder.path + "/events.jsonl")
        for number in UInt64(1)...1000 { run.handler.handle(event(number)) }
        run.handler.end(within: .seconds(60))
        #expect(run.handler.waitForEnd(until: .max) == 0)
        #expect(try Self.numbers(run.path) == Array(1...1000))
        #expect(Self.lines(run.path).first == event(1).json)
        var status = stat()
        #expect(stat(run.path, &status) == 0 && status.st_mode & 0o7777 & ~0o640 == 0)
        #expect(run.reports.all.isEmpty)
    }

    @Test func aFileThatWasRotatedIsOpenedAnew() throws {
        let folder = try TemporaryFolder([:])
        let run = try Run(folder.path + "/events.jsonl")
        try run.write(1...3)
        #expect(rename(run.path, run.path + ".1") == 0)
        try run.write(4...5)
        #expect(unlink(run.path) == 0)
        try run.write(6...6)
        #expect(try Self.numbers(run.path + ".1") == [1, 2, 3])
        #expect(try Self.numbers(run.path) == [6])
        // As logrotate's copytruncate does it.
        #expect(truncate(run.path, 0) == 0)
        try run.write(7...8)
        #expect(try Self.numbers(run.path) == [7, 8])
        #expect(run.reports.all.isEmpty)
    }

    @Test(arguments: [
        ("{\"seq\":1}\n{\"seq\":2,\"ki", "{\"seq\":1}\n"), ("{\"se", ""),
        ("{\"seq\":1}", "{\"seq\":1}\n"), ("{\"seq\":1}\n", "{\"seq\":1}\n"),
        ("a line of somebody else", "a line of somebody else\n"), ("\n", "\n"),
    ])
    func aLineThatWasCutShortIsRemoved(before: String, kept: String) throws {
        let folder = try TemporaryFolder(["events.jsonl": before])
        let run = try Run(folder.path + "/events.jsonl")
        try run.write(7...7)
        #expect(contents(of: run.path) == kept + event(7).json + "\n")
    }

    @Test func aLongLineThatWasCutShortIsRemoved() throws {
        let folder = try TemporaryFolder(["events.jsonl": event(1).json + "\n" + largeEvent.json.dropLast(1)])
        let run = try Run(folder.path + "/events.jsonl")
        try run.write(2...2)
        #expect(try Self.numbers(run.path) == [1, 2])
    }

    /// A power cut may leave zeros, of any length.
    @Test(arguments: [("", 1 << 26), ("{\"seq\":1", 5 << 20)])
    func aTailThatIsLongerThanAnyLineStays(begin: String, size: Int) throws {
        let folder = try TemporaryFolder(["events.jsonl": begin])
        let run = try Run(folder.path + "/events.jsonl")
        #expect(truncate(run.path, size) == 0)
        try run.write(7...7)
        let file = try #require(FileHandle(forReadingAtPath: run.path))
        try file.seek(toOffset: UInt64(size))
        #expect(try file.readToEnd() == Data("\n\(event(7).json)\n".utf8))
    }

    @Test func aLinkIsNotWrittenThrough() throws {
        let folder = try TemporaryFolder(["precious": "a line"])
        for (link, target) in [("link", "precious"), ("dangling", "none")] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(link)", withDestinationPath: target)
            let run = try Run("\(folder.path)/\(link)")
            run.handler.deliver([Delivery(event: event(1), ticket: 1)])
            try run.reports.wait("a failure") { !$0.isEmpty }
            #expect(
                run.reasons == [
                    "\(run.path): it is a symbolic link, which is not written through: name the file that it leads to"
                ])
            // The file that the administrator puts there is written.
            #expect(unlink(run.path) == 0)
            try waitUntil("the acknowledgement") { run.acknowledged.count == 1 }
        }
        #expect(contents(of: folder.path + "/precious") == "a line")
        #expect(access(folder.path + "/none", F_OK) != 0)
    }

    /// The handler that a reload has exchanged had failed.
    @Test func theFirstSuccessEndsTheFailureOfThePredecessor() throws {
        let folder = try TemporaryFolder([:])
        let run = try Run(folder.path + "/events.jsonl")
        run.handler.inheritFailure()
        run.handler.handle(event(1))
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
        try run.write(2...3)
        run.handler.end(within: .seconds(60))
        #expect(run.handler.waitForEnd(until: .max) == 0)
        #expect(run.reports.all.map(\.kind) == [.handlerRecovered])
    }

    @Test func aFolderThatComesLater() throws {
        let folder = try TemporaryFolder([:])
        let run = try Run(folder.path + "/log/events.jsonl")
        run.handler.deliver((1...3).map { Delivery(event: event($0), ticket: Int64($0)) })
        try run.reports.wait("a failure") { !$0.isEmpty }
        // Further attempts are not told of, and nothing counts them.
        usleep(200_000)
        #expect(run.reasons == [run.path + ": its folder does not exist"], "reported once")
        #expect(run.acknowledged.isEmpty)
        #expect(mkdir(folder.path + "/log", 0o700) == 0)
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
        try waitUntil("the acknowledgements") { run.acknowledged.count == 3 }
        #expect(try Self.numbers(run.path) == [1, 2, 3])
        #expect(run.acknowledged == [1, 2, 3])
        // A further failure is reported as well.
        #expect(rename(folder.path + "/log", folder.path + "/gone") == 0)
        run.handler.handle(event(4))
        try run.reports.wait("a second failure") { $0.count { $0.kind == .handlerFailed } == 2 }
    }

    @Test func whatIsNoRegularFileIsRefused() throws {
        let folder = try TemporaryFolder([:])
        let path = folder.path + "/events.jsonl"
        #expect(mkfifo(path, 0o600) == 0)
        let run = try Run(path)
        run.handler.handle(event(1))
        try run.reports.wait("a failure") { !$0.isEmpty }
        #expect(run.reasons == [path + ": it is no regular file"])
        #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
        try run.reports.wait("another failure") { $0.count == 2 }
        #expect(run.reasons.last == path + ": it is a directory")
        run.handler.end(within: .zero)
        #expect(run.handler.waitForEnd(until: .max) == 1)
    }

    /// In a process of its own, because the limit is the process's.
    @Test func aFullDiskLeavesNoHalfLine() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder([:])
            let run = try Run(folder.path + "/events.jsonl")
            signal(SIGXFSZ, SIG_IGN)
            let length = event(1).json.utf8.count + 1
            var limit = rlimit(rlim_cur: rlim_t(length * 3 + length / 2), rlim_max: .max)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            run.handler.deliver((1...9).map { Delivery(event: event($0), ticket: Int64($0)) })
            try run.reports.wait("a failure") { !$0.isEmpty }
            #expect(run.reasons == [run.path + ": File too large"])
            try await waitUntil("whole lines") { run.acknowledged == [1, 2, 3] }
            try await waitUntil("whole lines") { FileTests.lines(run.path).last == "" }
            #expect(try FileTests.numbers(run.path) == [1, 2, 3])
            limit.rlim_cur = .max
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
            #expect(try FileTests.numbers(run.path) == Array(1...9))
            #expect(run.acknowledged == Array(1...9))
            #expect(run.reasons.count == 1)
        }
    }

    @Test func withoutAStoreTheNewestIsDroppedAndTold() throws {
        let folder = try TemporaryFolder([:])
        var plan = FileAppender.plan(folder.path + "/log/events.jsonl", RetryPauses(first: 60_000_000_000))
        plan.capacity = 10
        let reports = Reports()
        let handler = try ThreadedHandler(name: "lines", plan, report: reports.add)
        for number in UInt64(1)...25 { handler.handle(event(number)) }
        #expect(handler.droppedCount == 15)
        handler.end(within: .zero)
        #expect(handler.waitForEnd(until: .max) == 10)
        #expect(reports.droppedCount == 15)
    }

    @Test func aReplayWaitsForEachLine() throws {
        let folder = try TemporaryFolder(["log": ""])
        let descriptor = try Descriptor(path: folder.path + "/log", flags: O_RDWR)
        let log = LineWriter(descriptor: descriptor.raw)
        let path = folder.path + "/events.jsonl"
        let handler = try AwaitedHandler(FileAppender.plan(path), HandlerContext(name: "lines", log: log))
        for number in UInt64(1)...6000 { handler.handle(event(number)) }
        handler.finish()
        log.flush()
        #expect(try Self.numbers(path) == Array(1...6000))
        #expect(contents(of: folder.path + "/log") == "")
    }
}
