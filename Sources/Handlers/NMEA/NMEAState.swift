package import Binnacle
import PlainText
import Synchronization

/// How a handler that sends sentences is doing.
package struct NMEAStatistics: Sendable, Equatable {
    /// The port at which connections come in; `nil` when none do.
    package var port: Int?
    /// Why nothing can be sent; `nil` when it can, as far as it is known.
    package var failure: String?
    /// The sentences that were sent, each counted once, however many receivers it had.
    package var sentCount = 0
    /// The connections that are open.
    package var clientCount = 0
    /// The connections that were closed because all places were taken.
    package var refusedCount = 0
    /// The connections that were closed because they took nothing for too long.
    package var slowCount = 0

    /// What `binnacle status` tells.
    var json: String {
        var object = JSONObject()
        object.add("sentences", raw: String(sentCount))
        object.add("connections", raw: String(clientCount))
        object.add("refused", raw: String(refusedCount))
        object.add("slow", raw: String(slowCount))
        return object.text
    }
}

/// What the thread of the events and the thread of a sender share: the latest heading, and figures.
package final class NMEAState: LatestState {
    private struct State {
        var heading: NMEAHeading?
        /// The detector that found it.
        var detector: String?
        var statistics = NMEAStatistics()
    }

    private let state = Mutex(State())

    /// Creates a state without a heading.
    package init() {}

    // MARK: - The thread of the events

    /// Takes in a heading, or that there is none any more.
    package func take(_ event: Event) -> Bool {
        switch event.kind {
        case .heading: put(NMEAHeading(event), of: event.detector)
        // It may tell only that there will be a heading.
        case .headingFound: event.figure(.heading) != nil && put(NMEAHeading(event), of: event.detector)
        case .headingLost, .detectorFailed, .detectorUnavailable: put(nil, of: event.detector)
        default: false
        }
    }

    /// Begins with the heading that another one has: an unchanged heading is not told again.
    package func inherit(from other: any LatestState) {
        guard let other = other as? NMEAState else { return }
        let (heading, detector) = other.state.withLock { ($0.heading, $0.detector) }
        _ = put(heading, of: detector)
    }

    /// Forgets the heading, unless it is of one of these detectors.
    package func detectorsChanged(to detectors: Set<String>) {
        state.withLock { state in
            if !(state.detector.map(detectors.contains) ?? false) { (state.heading, state.detector) = (nil, nil) }
        }
    }

    /// Puts a heading in the place of the one before, or none.
    ///
    /// - Returns: Whether it is the first: a sender that has one looks again when it is time to send.
    private func put(_ heading: NMEAHeading?, of detector: String?) -> Bool {
        state.withLock { state in
            defer { (state.heading, state.detector) = (heading, detector) }
            return state.heading == nil && heading != nil
        }
    }

    /// The figures.
    package var statistics: NMEAStatistics { state.withLock { $0.statistics } }

    // MARK: - The sender's thread

    /// The heading to send; `nil` when there is none that is valid.
    var heading: NMEAHeading? { state.withLock { $0.heading } }

    /// Changes the figures.
    func update(_ change: (inout NMEAStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }
}
