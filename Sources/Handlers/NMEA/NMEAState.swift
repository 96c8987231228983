package import Binnacle
import PlainText
import Synchronization

/// The figures of a sender.
package struct NMEAStatistics: Sendable, Equatable {
    /// The port of the server; `nil` while it does not listen.
    package var port: Int?
    /// Why nothing can be sent; `nil` when it can, as far as is known.
    package var failure: String?
    /// The sentences that were sent, each counted once, whatever the number of receivers.
    package var sentCount = 0
    /// The open connections.
    package var clientCount = 0
    /// The connections that were closed because there were too many.
    package var refusedCount = 0
    /// The connections that were closed because they took nothing for too long.
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
        /// How far it may be off, in degrees; 0 when that is not known.
        var accuracyDegrees = 0.0
        var detector: String?
        var statistics = NMEAStatistics()
    }

    private let state = Mutex(State())
    private let accuracyLimitDegrees: Double

    /// Creates a state without a heading; one that may be off by more than the limit counts as none.
    package init(accuracyLimitDegrees: Double = 180) {
        self.accuracyLimitDegrees = accuracyLimitDegrees
    }

    // MARK: - The event thread

    /// Stores a heading, or clears it.
    package func apply(_ event: Event) -> Bool {
        switch event.kind {
        case .heading: put(NMEAHeading(event), event.number(.accuracy) ?? 0, of: event.detector)
        // It may tell only that there will be a heading.
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

    /// Begins with the heading that another one has: an unchanged heading is not sent again.
    package func inherit(from other: any LatestState) {
        guard let other = other as? NMEAState else { return }
        let (heading, accuracy, detector) = other.state.withLock { ($0.heading, $0.accuracyDegrees, $0.detector) }
        _ = put(heading, accuracy, of: detector)
    }

    /// Clears the heading, unless it is of one of these detectors.
    package func detectorsChanged(to detectors: Set<String>) {
        state.withLock { state in
            if !(state.detector.map(detectors.contains) ?? false) { (state.heading, state.detector) = (nil, nil) }
        }
    }

    /// Replaces the heading; `true` when there was none before, and the sender has to be woken.
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
