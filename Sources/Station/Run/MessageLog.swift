import Binnacle
import Glibc
import Handlers
import LinuxSystem

/// The daemon's own words on standard error, written by a thread of its own: whoever reads them may be slow.
final class MessageLog {
    private let queue: WorkQueue<String>

    init() throws(SystemError) {
        let isJournal = JournalSocket.isStandardError
        queue = try WorkQueue(capacity: 1024) {
            let writer = LineWriter(descriptor: STDERR_FILENO)
            return { lines in
                for line in lines { writer.write(isJournal ? line : Self.withoutLevel(line)) }
                writer.flush()
            }
        }
    }

    /// Says something; of several lines each is one message.
    func say(_ text: String, level: LogLevel = .info) {
        // The journal reads the level from the front of the line (sd-daemon(3)).
        for line in text.split(separator: "\n") {
            _ = queue.put("<\(level.rawValue)>binnacle: \(String(line).printable)")
        }
    }

    /// Writes what waits.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    func finish(until deadlineNanoseconds: Int64) {
        queue.finish()
        _ = queue.waitForEnd(until: deadlineNanoseconds)
    }

    private static func withoutLevel(_ line: String) -> String {
        String(line.dropFirst(3))
    }
}
