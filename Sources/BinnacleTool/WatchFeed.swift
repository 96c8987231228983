import Binnacle
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Synchronization

/// Readings and events of a socket, received on another thread for a view that fetches them when it draws.
///
/// Memory is bounded: readings that were not fetched are merged, and only the last lines are kept.
final class WatchFeed: Sendable {
    struct Content {
        /// Events, and messages about events, which are of no sensor.
        var lines: [(text: String, sensor: String?)] = []
        /// The number of headings, which are not listed: one line for each degree of a turn would hide other events.
        var headingCount = 0
        var readings: LiveValues?
        /// Why the daemon does not answer; `nil` in it when it answers again.
        var trouble: String??
        /// Why there will be no more content.
        fileprivate var failure: EventSubscriptionError?

        var isEmpty: Bool { lines.isEmpty && headingCount == 0 && readings == nil && trouble == nil }
    }

    private static let mostLines = 100

    private let state = Mutex(Content())
    private let stop: Waker
    private let waker: Waker
    private let isUTC: Bool

    /// Connects on another thread, also to a daemon that does not answer yet, and wakes the waker on new content.
    init(
        path: String, intervalNanoseconds: Int64, isUTC: Bool, waitsForDaemon: Bool, waking waker: Waker
    ) throws(SystemError) {
        self.waker = waker
        self.isUTC = isUTC
        stop = try Waker()
        var request = SubscriptionRequest()
        request.readings = LiveValuesRequest(intervalNanoseconds: intervalNanoseconds, hasSpectrum: true)
        let wanted = request
        try WorkerThread.start { [self] in
            let reader = SubscriptionReader(
                wanted, path: path, patience: waitsForDaemon ? .always : .afterFirstAnswer,
                cancelling: stop.descriptor
            ) { [self] change in
                // The daemon that this process starts needs a moment.
                guard !waitsForDaemon else { return }
                switch change {
                case .waiting(let error): leave { $0.trouble = .some(error.description.printable + "; waiting for it") }
                case .connected: leave { $0.trouble = .some(nil) }
                case .subscribed: break
                }
            }
            read(reader)
        }
    }

    func end() { stop.wake() }

    /// Why there will be no more content; `nil` before.
    var failure: EventSubscriptionError? { state.withLock { $0.failure } }

    /// Takes what came since the last call.
    func take() -> Content {
        state.withLock { state in
            defer { state = Content(failure: state.failure) }
            return state
        }
    }

    private func leave(_ change: (inout Content) -> Void) {
        state.withLock { change(&$0) }
        waker.wake()
    }

    private func read(_ reader: SubscriptionReader) {
        while true {
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .readings(let readings):
                    leave { $0.readings = $0.readings?.joined(with: readings) ?? readings }
                // Readings come as well, and are drawn.
                case .event(let event, _) where !EventKind.listed.contains(event.kind):
                    state.withLock { $0.headingCount += 1 }
                case .event(let event, _): leave(line: text(of: event), of: event.sensor)
                case .missed(let missed): leave(line: "missed events: \(missed.reason.printable)")
                case .end, nil: return
                // Not requested.
                default: break
                }
            } catch {
                return leave { $0.failure = error }
            }
        }
    }

    private func leave(line: String, of sensor: String? = nil) {
        leave { state in
            state.lines.append((line, sensor))
            if state.lines.count > Self.mostLines { state.lines.removeFirst() }
        }
    }

    private func text(of event: Event) -> String {
        let time = event.wallNanoseconds.map { wall in
            // The day needs no mention in a live view.
            let text = isUTC ? WallTime.text(wall) : LocalTime.text(wall)
            return String(text.drop { $0 != "T" && $0 != " " }.dropFirst().prefix(12))
        }
        return "\(time ?? "") \(TextHandler.words(event, isTable: false))"
    }
}
