import Binnacle
import LinuxSystem
import Synchronization

/// Counts the events that a full queue has no room for, and tells of them: at once of the first, then once a second, and
/// of the rest when there is room again.
final class EventDrops: Sendable {
    private struct State {
        var totalCount = 0
        var untoldCount = 0
        var isSimulated = false
        var toldNanoseconds: Int64 = .min
    }

    private let handler: String
    private let capacity: Int
    private let report: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private static let intervalNanoseconds: Int64 = 1_000_000_000

    /// Creates a count of nothing.
    ///
    /// - Parameters:
    ///   - handler: The name of the handler that the events were for.
    ///   - capacity: How many events wait for it at most.
    ///   - report: Takes the reports, on any thread.
    init(handler: String, capacity: Int, report: @escaping @Sendable (Event) -> Void) {
        self.handler = handler
        self.capacity = capacity
        self.report = report
    }

    /// How many there were in all.
    var totalCount: Int { state.withLock { $0.totalCount } }

    /// How many nobody has been told of.
    var untoldCount: Int { state.withLock { $0.untoldCount } }

    /// Counts an event, and tells of it when that is due.
    func add(_ event: Event) {
        let now = SystemClock.monotonic()
        let count = state.withLock { state -> Int in
            state.totalCount += 1
            state.untoldCount += 1
            state.isSimulated = event.isSimulated
            let told = state.toldNanoseconds
            guard told == .min || now - told >= Self.intervalNanoseconds else { return 0 }
            state.toldNanoseconds = now
            return Self.take(&state)
        }
        tell(count, isSimulated: event.isSimulated)
    }

    /// Tells of what nobody has been told of; the next event that is dropped is told of at once.
    func tellRest() {
        let (count, isSimulated) = state.withLock { state in
            state.toldNanoseconds = .min
            return (Self.take(&state), state.isSimulated)
        }
        tell(count, isSimulated: isSimulated)
    }

    private static func take(_ state: inout State) -> Int {
        defer { state.untoldCount = 0 }
        return state.untoldCount
    }

    private func tell(_ count: Int, isSimulated: Bool) {
        guard count > 0 else { return }
        var told = Event(
            kind: .eventsDropped, timeNanoseconds: 0,
            figures: [
                Figure(.handler, .text(handler)), Figure(.count, .integer(Int64(count))),
                Figure(.reason, .text("more than \(capacity) events wait for it")),
            ])
        told.isSimulated = isSimulated
        report(told)
    }
}
