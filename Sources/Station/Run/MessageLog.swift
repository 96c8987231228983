import Binnacle
import Glibc
import Handlers
import LinuxSystem
import PlainText
import Synchronization

/// The daemon's log on standard error, or on another descriptor, written by a thread of its own, because the reader may be slow.
final class MessageLog {
    private enum Entry: Sendable {
        case line(String, LogLevel)
        case event(Event)
    }

    private let courier: Courier<BoundedQueue<Entry>>
    private let lastFailure: LastFailure
    private let isStandard: Bool
    private var lostCount = 0

    /// Why the log cannot be written; `nil` while it can.
    private final class LastFailure: Sendable {
        let reason = Mutex<String?>(nil)
    }

    init(to descriptor: Int32) throws(SystemError) {
        let lastFailure = LastFailure()
        self.lastFailure = lastFailure
        let isStandard = descriptor == STDERR_FILENO
        self.isStandard = isStandard
        courier = try Courier(BoundedQueue(capacity: 1024))
        try courier.startBatches {
            let isJournal = isStandard && JournalSocket.isStandardError
            let writer = LineWriter(descriptor: descriptor)
            let write = { (text: String, level: LogLevel) in
                // The journal reads the level from the front of the line (sd-daemon(3)).
                writer.write((isJournal ? "<\(level.rawValue)>" : "") + "binnacle: \(text.printable)")
            }
            var journal: JournalHandler?
            if isStandard, let socket = JournalSocket.ofStandardError() {
                let level = { (kind: EventKind) in kind.row.level }
                journal = JournalHandler(name: "binnacle", journal: socket, level: level) { error in
                    write("the journal: \(error.reason)", .warning)
                }
            }
            return { entries in
                writer.retry()
                for entry in entries {
                    switch entry {
                    case .line(let text, let level): write(text, level)
                    case .event(let event):
                        guard let journal else {
                            write(TextHandler.words(event, isTable: false), event.kind.row.level)
                            continue
                        }
                        writer.flush()
                        journal.handle(event)
                    }
                }
                writer.flush()
                let reason = writer.failure?.reason
                lastFailure.reason.withLock { $0 = reason }
            }
        }
    }

    /// Why the log cannot be written; `nil` while it can.
    var failure: String? { lastFailure.reason.withLock { $0 } }

    /// Logs a text, each line as one message.
    func say(_ text: String, level: LogLevel = .info) {
        for line in text.split(separator: "\n") { put(.line(String(line), level)) }
    }

    /// Logs what runs and who asks, on standard error alone: the reader of another log has started the daemon, and asks.
    func announce(_ text: String, level: LogLevel = .info) {
        if isStandard { say(text, level: level) }
    }

    /// Logs an event, with its figures as fields in the journal.
    func report(_ event: Event) { put(.event(event)) }

    /// Messages without room are counted and reported later.
    private func put(_ entry: Entry) {
        let notice = Entry.line("\(lostCount) messages are missing here", .warning)
        if lostCount > 0, courier.put(notice) == .taken { lostCount = 0 }
        if lostCount > 0 || courier.put(entry) != .taken { lostCount += 1 }
    }

    /// Writes what waits, until a time on CLOCK_MONOTONIC at most.
    func finish(until deadline: Int64) {
        courier.requestStop()
        _ = courier.waitForEnd(until: deadline)
    }
}
