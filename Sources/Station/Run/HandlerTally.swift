import Binnacle

/// What a handler has told of itself so far.
struct HandlerTally {
    /// How many of its programs ended as they should.
    private(set) var finishedCount = 0
    /// How many failed, each attempt counted.
    private(set) var failedCount = 0
    /// How many events did not get to it.
    private(set) var droppedCount = 0
    /// Why it does not work, when it did not the last time.
    private(set) var failure: String?

    /// Takes note of an event that a handler told of itself.
    mutating func count(_ event: Event) {
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
        event.figure(.reason)?.description ?? event.kind.rawValue
    }
}
