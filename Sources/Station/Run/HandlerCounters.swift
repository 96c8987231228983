package import Binnacle

package struct HandlerCounters {
    private(set) var finishedCount = 0
    /// Counts each attempt.
    private(set) var failedCount = 0
    private(set) var droppedCount = 0
    private(set) var durations = DurationHistogram()
    /// The failure of the handler itself, until it recovers, and that of its last program, until one succeeds.
    var failures: (handler: String?, program: String?) = (nil, nil)
    /// The present failure.
    package var failure: String? { failures.handler ?? failures.program }

    package init() {}

    package mutating func count(_ event: Event) {
        if event.kind == .commandFinished || event.kind == .commandFailed, let seconds = event.number(.duration) {
            durations.record(seconds)
        }
        switch event.kind {
        case .commandFinished:
            finishedCount += 1
            failures.program = nil
        case .commandFailed:
            failedCount += 1
            failures.program = Self.reason(of: event)
        case .eventsDropped:
            if case .integer(let count) = event.figure(.count) { droppedCount += Int(count) }
        case .handlerFailed: failures.handler = Self.reason(of: event)
        case .handlerRecovered: failures.handler = nil
        default: break
        }
    }

    private static func reason(of event: Event) -> String {
        let reason = event.figure(.reason)?.description ?? event.kind.rawValue
        return event.figure(.program).map { "\($0): \(reason)" } ?? reason
    }
}
