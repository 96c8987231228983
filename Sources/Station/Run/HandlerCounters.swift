package import Binnacle
import PlainText

package struct HandlerCounters {
    private(set) var finishedCount = 0
    /// Counts each attempt.
    private(set) var failedCount = 0
    private(set) var droppedCount = 0
    private(set) var durations = DurationHistogram()
    var failures = HandlerFailures()
    package var failure: String? { failures.present }

    package init() {}

    /// Counts a report of the handler, or of one that it has replaced, whose failures are its own.
    package mutating func count(_ event: Event, ofPredecessor: Bool = false) {
        if !ofPredecessor { failures.follow(event) }
        if event.kind == .commandFinished || event.kind == .commandFailed, let seconds = event.number(.duration) {
            durations.record(seconds)
        }
        switch event.kind {
        case .commandFinished: finishedCount += 1
        case .commandFailed: failedCount += 1
        case .eventsDropped:
            if case .integer(let count) = event.figure(.count) { droppedCount += Int(count) }
        default: break
        }
    }
}

/// The failures of a handler, the last of which stays that of its name when a reload exchanges it.
struct HandlerFailures {
    /// That of the handler itself, until it recovers.
    private var own: String?
    /// That of its last program, until one succeeds.
    private var program: String?
    /// That of the handler before it, until this one recovers or has one of its own.
    private var before: String?

    /// Begins with what the handler had whose place this one takes.
    init(after others: HandlerFailures? = nil) {
        before = others.flatMap { $0.own ?? $0.program ?? $0.before }
    }

    var present: String? {
        own ?? program ?? before.map { "nothing has succeeded since the last reload; before it: \($0)" }
    }

    mutating func follow(_ event: Event) {
        switch event.kind {
        case .commandFinished: program = nil
        case .commandFailed: program = Self.reason(of: event)
        case .handlerFailed: (own, before) = (Self.reason(of: event), nil)
        case .handlerRecovered: (own, before) = (nil, nil)
        default: break
        }
    }

    static func reason(of event: Event) -> String {
        let reason = event.figure(.reason)?.description ?? event.kind.rawValue
        return event.figure(.program).map { "\($0): \(reason)" } ?? reason
    }
}

/// A histogram of the run times of programs.
struct DurationHistogram {
    static let limits = [0.01, 0.1, 1, 10, 60]

    private var counts = Array(repeating: 0, count: limits.count)
    private var count = 0
    private var sumSeconds = 0.0

    mutating func record(_ seconds: Double) {
        guard seconds.isFinite, seconds >= 0 else { return }
        count += 1
        sumSeconds += seconds
        for (place, limit) in Self.limits.enumerated() where seconds <= limit { counts[place] += 1 }
    }

    /// JSON; `buckets` are pairs of a limit in seconds and a cumulative count.
    var text: String {
        var object = JSONObject()
        object.add("buckets", list: zip(Self.limits, counts).map { "[\($0),\($1)]" })
        object.add("sum_s", raw: sumSeconds.text(3))
        object.add("count", raw: String(count))
        return object.text
    }
}
