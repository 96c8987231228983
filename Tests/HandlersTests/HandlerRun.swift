import Binnacle
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// A handler with what it reports, which a test ends.
protocol HandlerRun {
    var handler: ThreadedHandler { get }
    var reports: Reports { get }
}

extension HandlerRun {
    /// Ends it and waits for that.
    ///
    /// - Returns: How many events were given up.
    @discardableResult
    func end(within duration: Duration = .seconds(20)) -> Int {
        handler.end(within: duration)
        return handler.waitForEnd(until: SystemClock.monotonic() + 120_000_000_000)
    }

    /// Waits until a failure was reported whose reason says something, or any failure; it is the reason.
    func waitForFailure(_ part: String? = nil) throws -> String {
        func found() -> String? { part.map { part in reasons.first { $0.contains(part) } } ?? reasons.first }
        try waitUntil("a failure with '\(part ?? "")'; told so far: \(reasons)") { found() != nil }
        return found() ?? ""
    }

    /// The reasons that were told, in their order.
    var reasons: [String] { reports.of(.handlerFailed).compactMap { $0.text(.reason) } }
}
