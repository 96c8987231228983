import Binnacle

/// Holds the last valid heading while there is none, and decides when it is reported again and when it counts as lost.
struct HeadingHold {
    /// What a heading was found from.
    struct Source {
        let pointing: HeadingFinder.Pointing
        let accuracyDegrees: Double
        let timeNanoseconds: Int64
        /// How fast it grows, in °/s; `nil` without a gyroscope.
        var turnRateDegrees: Double?
    }

    enum Change {
        /// The held heading is reported, with its age.
        case held(Source)
        /// It is too old, or there never was one.
        case lost(Source?)
    }

    /// The last valid heading; `nil` when there is none, or it is lost.
    private(set) var last: Source?
    /// Whether it was told that there is none.
    private(set) var isLost = false
    private let holdNanoseconds: Int64
    /// Since when there is none: the last valid one, or the first sample.
    private var sinceNanoseconds: Int64?
    private var nextNanoseconds: Int64 = 0

    /// The interval at which a held heading is reported.
    private static let intervalNanoseconds: Int64 = 1_000_000_000

    init(settings: NorthSettings) {
        holdNanoseconds = Units.nanoseconds(settings.holdTime)
    }

    /// Takes a valid heading; returns whether it had been lost.
    mutating func update(_ source: Source) -> Bool {
        last = source
        sinceNanoseconds = source.timeNanoseconds
        nextNanoseconds = Units.later(source.timeNanoseconds, by: Self.intervalNanoseconds)
        defer { isLost = false }
        return isLost
    }

    /// Takes a moment without a heading.
    mutating func updateMissing(at timeNanoseconds: Int64) -> Change? {
        guard !isLost else { return nil }
        guard let since = sinceNanoseconds else {
            sinceNanoseconds = timeNanoseconds
            return nil
        }
        // Stamps start again: an age is unknown.
        guard timeNanoseconds >= since else {
            sinceNanoseconds = timeNanoseconds
            nextNanoseconds = Units.later(timeNanoseconds, by: Self.intervalNanoseconds)
            return nil
        }
        guard !isOverdue(at: timeNanoseconds) else { return .lost(lose()) }
        guard let last, timeNanoseconds >= nextNanoseconds else { return nil }
        nextNanoseconds = Units.later(timeNanoseconds, by: Self.intervalNanoseconds)
        return .held(last)
    }

    /// Whether there has been none for so long that it counts as lost, and that is not told yet.
    func isOverdue(at timeNanoseconds: Int64) -> Bool {
        guard !isLost, let since = sinceNanoseconds else { return false }
        return timeNanoseconds >= Units.later(since, by: holdNanoseconds)
    }

    /// Gives the heading up at once; returns the one that was held.
    mutating func lose() -> Source? {
        defer {
            isLost = true
            last = nil
        }
        return last
    }
}
