import Binnacle
import Glibc
import Handlers
import LinuxSystem
import PlainText

/// The daemon's log on standard error, written by a thread of its own, because the reader may be slow.
final class MessageLog {
    private let courier: Courier<BoundedQueue<String>>
    private var lostCount = 0

    init() throws(SystemError) {
        let isJournal = JournalSocket.isStandardError
        courier = try Courier(BoundedQueue(capacity: 1024))
        try courier.startBatches {
            let writer = LineWriter(descriptor: STDERR_FILENO)
            return { lines in
                for line in lines { writer.write(isJournal ? line : Self.withoutLevel(line)) }
                writer.flush()
            }
        }
    }

    /// Logs a text, each line as one message.
    func say(_ text: String, level: LogLevel = .info) {
        // The journal reads the level from the front of the line (sd-daemon(3)).
        for line in text.split(separator: "\n") {
            put(String(line), level)
        }
    }

    /// Messages without room are counted and reported later.
    private func put(_ line: String, _ level: LogLevel) {
        let notice = Self.text("\(lostCount) messages are missing here", .warning)
        if lostCount > 0, courier.put(notice) == .taken { lostCount = 0 }
        if lostCount > 0 || courier.put(Self.text(line, level)) != .taken { lostCount += 1 }
    }

    private static func text(_ line: String, _ level: LogLevel) -> String {
        "<\(level.rawValue)>binnacle: \(line.printable)"
    }

    /// Writes what waits.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    func finish(until deadlineNanoseconds: Int64) {
        courier.requestStop()
        _ = courier.waitForEnd(until: deadlineNanoseconds)
    }

    private static func withoutLevel(_ line: String) -> String {
        String(line.dropFirst(3))
    }
}
