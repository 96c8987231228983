import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Plays the daemon: the product's own socket server in this process.
final class SocketDouble {
    let folder: TemporaryFolder
    let path: String
    private(set) var server: SocketServer?
    private var next: UInt64 = 1

    /// Starts a server.
    init(folder: TemporaryFolder? = nil, startingBehind sequence: UInt64 = 0) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        path = folder.path + "/s"
        try start(behind: sequence)
    }

    deinit {
        stop()
    }

    /// Starts it, again after ``stop()``.
    func start(behind sequence: UInt64 = 0, _ change: (inout SocketSettings) -> Void = { _ in }) throws {
        var settings = SocketSettings(path: path)
        change(&settings)
        server = try SocketServer(settings, history: history, startingBehind: sequence)
        next = sequence + 1
    }

    /// Ends it, as a daemon that is stopped does.
    func stop() {
        server?.finish(within: .zero)
        #expect(server?.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000) != false)
        server = nil
    }

    /// Everything that was published, also by those before.
    let history = Published()

    /// Publishes an event with the next number.
    func publish(_ kind: EventKind = .motionBegan, sensor: String = "lid", peak: Double = 0.25) {
        var event = Event(kind: kind, detector: "moved", sensor: sensor, timeNanoseconds: Int64(next) * 1_000_000)
        event.sequence = next
        event.wallNanoseconds = 1_763_737_200_000_000_000 + Int64(next) * 1_000_000_000
        event.figures = [Figure(.peak, .number(peak, decimals: 4))]
        next += 1
        let published = PublishedEvent(event)
        history.add(published)
        server?.publish([published])
    }

    /// Waits until a client has subscribed.
    func waitForSubscriber() throws {
        try waitUntil("a subscriber") { server?.statistics.subscribers.isEmpty == false }
    }

    /// A history in memory.
    final class Published: EventHistory {
        let identity = "double"
        private let events = Mutex<[PublishedEvent]>([])

        func add(_ event: PublishedEvent) {
            events.withLock { $0.append(event) }
        }

        func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
            let all = events.withLock { $0 }
            let wanted = all.filter { published in
                published.event.sequence > query.after && query.filter.accepts(published.event)
                    && query.sinceNanoseconds.map { (published.event.wallNanoseconds ?? .max) >= $0 } ?? true
            }
            let lines = wanted.map { EventLine(sequence: $0.event.sequence, json: $0.json) }
            let through = max(query.after, all.last?.event.sequence ?? 0)
            Thread.detachNewThread { reply(EventPage(lines: lines, through: through, first: 1)) }
        }
    }
}

/// Runs the program as an account that may not connect to a socket of root's, until it ends.
func runAsStranger(_ arguments: [String]) throws -> (status: Int32, errors: String) {
    let errors = try TemporaryFile()
    let child = Child(["/usr/bin/setpriv", "--reuid=3", "--regid=3", "--clear-groups", Binary.path] + arguments)
    child.standardError = try errors.writer()
    // This account may not write where a sanitizer reports.
    child.environment = ["ASAN_OPTIONS": "", "TSAN_OPTIONS": ""]
    try child.run()
    child.waitUntilExit()
    return (child.terminationStatus, try errors.text())
}
