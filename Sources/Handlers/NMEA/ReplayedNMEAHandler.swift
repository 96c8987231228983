package import Binnacle
package import LinuxSystem
import Synchronization

/// Sends the headings of a replay, which are those of the moment when the replay keeps the recording's pace.
///
/// What goes wrong is said in lines for people.
package final class ReplayedNMEAHandler: EventHandler {
    private let name: String
    private let handler: NMEAHandler
    private let reasons: Reasons
    private let log: LineWriter

    private final class Reasons: Sendable {
        let list = Mutex<[String]>([])
    }

    /// Begins to listen, or makes the socket.
    ///
    /// - Parameters:
    ///   - name: What messages call the handler.
    ///   - settings: What is sent, and where.
    ///   - log: Where it is said what went wrong.
    /// - Throws: ``SystemError`` when there is no thread or no descriptor left.
    package init(name: String, settings: NMEASettings, log: LineWriter) throws(SystemError) {
        let reasons = Reasons()
        self.reasons = reasons
        self.name = name
        self.log = log
        handler = try NMEAHandler(name: name, settings: settings) { event in
            guard case .text(let reason)? = event.figure(.reason) else { return }
            reasons.list.withLock { $0.append(reason) }
        }
    }

    /// Takes note of a heading, or that there is none any more.
    package func handle(_ event: Event) {
        handler.handle(event)
        tell()
    }

    /// Closes all connections.
    package func finish() {
        handler.end(within: .zero)
        _ = handler.waitForEnd(until: SystemClock.monotonic() + 1_500_000_000)
        tell()
    }

    private func tell() {
        let told = reasons.list.withLock { list in
            defer { list = [] }
            return list
        }
        for reason in told { log.write("\(name): \(reason)") }
    }
}
