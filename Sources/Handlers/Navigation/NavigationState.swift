package import Binnacle
import PlainText
import Synchronization

package struct NavigationStatistics: Sendable, Equatable {
    /// The port of the server; `nil` while it does not listen.
    package var port: Int?
    /// The number of messages sent, each counted once for all receivers.
    package var sentCount = 0
    /// The number of messages left out because a serial line was still busy with those before.
    package var skippedCount = 0
    /// The number of open connections.
    package var clientCount = 0
    /// The number of connections closed because there were too many.
    package var refusedCount = 0
    /// The number of connections closed because they accepted no data for too long.
    package var slowCount = 0

    /// The object in the output of `binnacle status`.
    var json: String {
        var object = JSONObject()
        object.add("sentences", raw: String(sentCount))
        object.add("connections", raw: String(clientCount))
        object.add("refused", raw: String(refusedCount))
        object.add("slow", raw: String(slowCount))
        object.add("skipped", raw: String(skippedCount))
        return object.text
    }
}

/// The latest reading and the figures, shared by the event thread and the sender's thread.
package final class NavigationState: LatestState {
    private struct State {
        var reading: NavigationReading?
        var detector: String?
        var statistics = NavigationStatistics()
    }

    private let state = Mutex(State())
    private let accuracyLimitDegrees: Double

    /// Creates a state without a reading; what may be off by more than the limit counts as invalid.
    package init(accuracyLimitDegrees: Double = 180) {
        self.accuracyLimitDegrees = accuracyLimitDegrees
    }

    // MARK: - The event thread

    /// Stores a reading, or clears it.
    package func apply(_ event: Event) -> Bool {
        switch event.kind {
        case .headingLost, .detectorFailed, .detectorUnavailable: return put(nil, of: event.detector)
        // It may only announce that there will be a heading.
        case .headingFound where event.figure(.heading) == nil: return false
        default: break
        }
        guard event.kind.row.heading != nil else { return false }
        return put(NavigationReading(event), of: event.detector)
    }

    /// Copies the reading of another state; an unchanged heading causes no new event.
    package func inherit(from other: any KeptState) {
        guard let other = other as? NavigationState else { return }
        let before = other.state.withLock { ($0.reading, $0.detector) }
        state.withLock { ($0.reading, $0.detector) = before }
    }

    /// Clears a reading of a detector that does not run on.
    package func configurationDidChange(_ change: HandledChange) {
        state.withLock { state in
            if !(state.detector.map(change.kept.contains) ?? false) { (state.reading, state.detector) = (nil, nil) }
        }
    }

    /// Replaces the reading; `true` when there was none before, so that the sender has to be woken.
    private func put(_ reading: NavigationReading?, of detector: String?) -> Bool {
        state.withLock { state in
            let hadNone = state.reading?.within(accuracyLimitDegrees) == nil
            (state.reading, state.detector) = (reading, detector)
            return hadNone && reading?.within(accuracyLimitDegrees) != nil
        }
    }

    package var statistics: NavigationStatistics { state.withLock { $0.statistics } }

    // MARK: - The sender's thread

    /// What there is to send, within the limit, which a reload may change; `nil` when nothing is valid.
    var reading: NavigationReading? { state.withLock { $0.reading?.within(accuracyLimitDegrees) } }

    func update(_ change: (inout NavigationStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }
}
