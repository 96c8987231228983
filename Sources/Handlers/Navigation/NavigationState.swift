package import Binnacle
import PlainText
import Synchronization

/// The figures of a sender.
package struct NMEAStatistics: Sendable, Equatable {
    /// The port of the server; `nil` while it does not listen.
    package var port: Int?
    /// Why nothing can be sent; `nil` without a known failure.
    package var failure: String?
    /// The number of sentences sent, each counted once for all receivers.
    package var sentCount = 0
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
        return object.text
    }
}

/// The latest heading and the figures, shared by the event thread and the sender's thread.
package final class NMEAState: LatestState {
    private struct State {
        var heading: NMEAHeading?
        /// The possible error in degrees; 0 when unknown.
        var accuracyDegrees = 0.0
        var detector: String?
        var statistics = NMEAStatistics()
    }

    private let state = Mutex(State())
    private let accuracyLimitDegrees: Double

    /// Creates a state without a heading; a heading whose error may be larger than the limit counts as invalid.
    package init(accuracyLimitDegrees: Double = 180) {
        self.accuracyLimitDegrees = accuracyLimitDegrees
    }

    // MARK: - The event thread

    /// Stores a heading, or clears it.
    package func apply(_ event: Event) -> Bool {
        switch event.kind {
        case .heading: put(NMEAHeading(event), event.number(.accuracy) ?? 0, of: event.detector)
        // It may only announce that there will be a heading.
        case .headingFound:
            event.figure(.heading) != nil
                && put(NMEAHeading(event), event.number(.accuracy) ?? 0, of: event.detector)
        case .headingLost, .detectorFailed, .detectorUnavailable: put(nil, 0, of: event.detector)
        default: false
        }
    }

    /// The heading, if it is within the limit, which a reload may change.
    private func accurateHeading(_ state: State) -> NMEAHeading? {
        state.accuracyDegrees <= accuracyLimitDegrees ? state.heading : nil
    }

    /// Copies the heading of another state; an unchanged heading causes no new event.
    package func inherit(from other: any LatestState) {
        guard let other = other as? NMEAState else { return }
        let (heading, accuracy, detector) = other.state.withLock { ($0.heading, $0.accuracyDegrees, $0.detector) }
        _ = put(heading, accuracy, of: detector)
    }

    /// Clears a heading of any detector but these.
    package func detectorsChanged(to detectors: Set<String>) {
        state.withLock { state in
            if !(state.detector.map(detectors.contains) ?? false) { (state.heading, state.detector) = (nil, nil) }
        }
    }

    /// Replaces the heading; `true` when there was none before, so that the sender has to be woken.
    private func put(_ heading: NMEAHeading?, _ accuracyDegrees: Double, of detector: String?) -> Bool {
        state.withLock { state in
            let hadNone = accurateHeading(state) == nil
            (state.heading, state.accuracyDegrees, state.detector) = (heading, accuracyDegrees, detector)
            return hadNone && accurateHeading(state) != nil
        }
    }

    /// The figures.
    package var statistics: NMEAStatistics { state.withLock { $0.statistics } }

    // MARK: - The sender's thread

    /// The heading to send; `nil` when none is valid.
    var heading: NMEAHeading? { state.withLock { accurateHeading($0) } }

    func update(_ change: (inout NMEAStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }
}
