import LinuxSystem
import Synchronization

/// What the thread of the events and the thread of a sender share: the latest heading, the word to stop, and figures.
///
/// There is room for one heading, because nobody wants an older one. So nothing is ever dropped.
final class NMEAInbox: Sendable {
    private struct State {
        var heading: NMEAHeading?
        /// The detector that found it.
        var detector: String?
        var isStopping = false
        var isEnded = false
        var statistics = NMEAStatistics()
    }

    /// Wakes the sender.
    let waker: Waker

    private let ownerWaker: Waker
    private let state = Mutex(State())

    /// Creates an inbox without a heading.
    ///
    /// - Throws: ``SystemError`` when the system has no descriptor left.
    init() throws(SystemError) {
        waker = try Waker()
        ownerWaker = try Waker()
    }

    // MARK: The thread of the events

    /// Puts a heading in the place of the one before, or none.
    func put(_ heading: NMEAHeading?, of detector: String?) {
        let isFirst = state.withLock { state in
            defer { (state.heading, state.detector) = (heading, detector) }
            return state.heading == nil && heading != nil
        }
        // Who has a heading comes by himself, when it is time to send.
        if isFirst { waker.wake() }
    }

    /// The heading, and the detector that found it.
    var latest: (heading: NMEAHeading?, detector: String?) { state.withLock { ($0.heading, $0.detector) } }

    /// Forgets the heading, unless it is of one of these detectors.
    func forget(except detectors: Set<String>) {
        state.withLock { state in
            if !(state.detector.map(detectors.contains) ?? false) { (state.heading, state.detector) = (nil, nil) }
        }
    }

    /// Tells the sender to stop.
    func requestStop() {
        state.withLock { $0.isStopping = true }
        waker.wake()
    }

    /// Whether the sender has ended.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Waits for the sender's end, or for the end of a time; for one thread.
    func waitForChange(timeoutMilliseconds: Int32) {
        ownerWaker.wait(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The figures.
    var statistics: NMEAStatistics { state.withLock { $0.statistics } }

    // MARK: The sender's thread

    /// The heading to send; `nil` when there is none that is valid.
    var heading: NMEAHeading? { state.withLock { $0.heading } }

    /// Whether the sender is to stop.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Changes the figures.
    func count(_ change: (inout NMEAStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    /// Takes note that the sender has ended.
    func end() {
        state.withLock { state in
            state.isEnded = true
            state.statistics.clientCount = 0
            state.statistics.port = nil
        }
        ownerWaker.wake()
    }
}
