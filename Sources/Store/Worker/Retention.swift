/// What is known of how much the file holds, and what is being done about it.
struct Retention {
    /// What is looked at next, a step at a time.
    enum Stage {
        case count, size, age, space
    }

    /// Which events may be so old that they are removed.
    var ages: AgeMarks
    /// What is being done; `nil` when there is nothing to do.
    private(set) var stage: Stage?
    /// How many events are in the file; `nil` until they are counted.
    private(set) var eventCount: Int?
    /// The number up to which they are counted, and how many there are up to there.
    private(set) var counted: (through: Int64, count: Int) = (.min, 0)
    /// The number up to which there is nothing more to remove by age; those that stayed there have a time to come.
    var ageScanned: Int64 = .min
    /// When it is looked after the next time, on the monotonic clock, when nothing happens before.
    private(set) var nextNanoseconds: Int64 = .min

    private static let intervalNanoseconds: Int64 = 3_600_000_000_000

    /// Begins a run, without a file.
    init(startingBehind sequence: UInt64, at monotonicNanoseconds: Int64) {
        ages = AgeMarks(startingBehind: sequence, at: monotonicNanoseconds)
    }

    /// Whether there is something to do at once.
    var isBusy: Bool { stage != nil }

    /// Begins to look after the limits.
    mutating func begin() {
        guard stage == nil else { return }
        stage = .count
        ageScanned = .min
    }

    /// Goes on with the next limit.
    mutating func proceed(at monotonicNanoseconds: Int64) {
        switch stage {
        case .count: stage = .size
        case .size: stage = .age
        case .age: stage = .space
        case .space, nil:
            stage = nil
            nextNanoseconds = monotonicNanoseconds + Self.intervalNanoseconds
        }
    }

    /// Forgets how many events there are, because it is another file.
    mutating func forgetCount() {
        (eventCount, counted) = (nil, (.min, 0))
    }

    /// Takes note of some that were counted.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - last: The number of the last of them; `nil` when there are no more.
    mutating func didCount(_ count: Int, through last: Int64?) {
        counted.count += count
        if let last { counted.through = last } else { eventCount = counted.count }
    }

    /// Takes note of events that came to the file; as long as it is being counted, they will be, too.
    mutating func didAppend(_ count: Int) {
        eventCount? += count
    }

    /// Takes note of events that were removed.
    mutating func didRemove(_ count: Int) {
        eventCount? -= count
    }
}
