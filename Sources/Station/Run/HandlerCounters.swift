import Binnacle

struct HandlerCounters {
    private(set) var finishedCount = 0
    /// Counts each attempt.
    private(set) var failedCount = 0
    private(set) var droppedCount = 0
    private(set) var durations = DurationHistogram()
    /// The present failure.
    var failure: String?

    mutating func count(_ event: Event) {
        if event.kind == .commandFinished || event.kind == .commandFailed, let seconds = event.number(.duration) {
            durations.record(seconds)
        }
        switch event.kind {
        case .commandFinished:
            finishedCount += 1
            failure = nil
        case .commandFailed:
            failedCount += 1
            failure = Self.reason(of: event)
        case .eventsDropped:
            if case .integer(let count) = event.figure(.count) { droppedCount += Int(count) }
        case .handlerFailed: failure = Self.reason(of: event)
        case .handlerRecovered: failure = nil
        default: break
        }
    }

    private static func reason(of event: Event) -> String {
        let reason = event.figure(.reason)?.description ?? event.kind.rawValue
        return event.figure(.program).map { "\($0): \(reason)" } ?? reason
    }
}
