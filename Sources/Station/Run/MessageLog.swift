import Binnacle
import Glibc
import Handlers
import LinuxSystem
import PlainText

/// The daemon's log, by default on standard error, written by its own thread because the reader may be slow.
final class MessageLog {
    private enum Entry: Sendable {
        case line(String, LogLevel)
        case event(Event)
    }

    private let courier: Courier<BoundedQueue<Entry>>
    private let lastFailure = Gauges<String?>(nil)
    private let isStandard: Bool
    private var lostCount = 0

    init(to descriptor: Int32) throws(SystemError) {
        let isStandard = descriptor == STDERR_FILENO
        self.isStandard = isStandard
        courier = try Courier(BoundedQueue(capacity: 1024))
        try courier.startBatches { [lastFailure] in
            let isJournal = isStandard && JournalSocket.isStandardError
            let writer = LineWriter(descriptor: descriptor)
            let write = { (text: String, level: LogLevel) in
                // The level prefix of sd-daemon(3).
                writer.write((isJournal ? "<\(level.rawValue)>" : "") + "binnacle: \(text.printable)")
            }
            let journal = isStandard ? JournalSocket.ofStandardError() : nil
            var hasFailed = false
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
                        do throws(SystemError) {
                            try journal.write(event, of: "binnacle", level: event.kind.row.level)
                            hasFailed = false
                        } catch {
                            if !hasFailed { write("the journal: \(error.reason)", .warning) }
                            hasFailed = true
                        }
                    }
                }
                writer.flush()
                let reason = writer.failure?.reason
                lastFailure.change { $0 = reason }
            }
        }
    }

    /// Why writing fails; `nil` while it succeeds.
    var failure: String? { lastFailure.values }

    func say(_ text: String, level: LogLevel = .info) {
        for line in text.split(separator: "\n") { put(.line(String(line), level)) }
    }

    /// Logs a text on standard error only: the reader of another log has started the daemon and knows it.
    func announce(_ text: String, level: LogLevel = .info) {
        if isStandard { say(text, level: level) }
    }

    /// Logs an event; in the journal, its figures are fields.
    func report(_ event: Event) { put(.event(event)) }

    /// A full queue drops messages; their count is logged later.
    private func put(_ entry: Entry) {
        let notice = Entry.line("\(lostCount) messages are missing here", .warning)
        if lostCount > 0, courier.put(notice) == .taken { lostCount = 0 }
        if lostCount > 0 || courier.put(entry) != .taken { lostCount += 1 }
    }

    /// Writes queued messages until a time on CLOCK_MONOTONIC.
    func finish(until deadline: Int64) {
        courier.requestStop()
        _ = courier.waitForEnd(until: deadline)
    }
}
