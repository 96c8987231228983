/// A value that changes only after the change has lasted.
@usableFromInline package struct Dwell<Value: Equatable> {
    /// The value that counts.
    @usableFromInline package internal(set) var value: Value
    @usableFromInline let delayNanoseconds: Int64
    @usableFromInline var candidate: (value: Value, sinceNanoseconds: Int64)?

    @inlinable package init(_ value: Value, delayNanoseconds: Int64) {
        self.value = value
        self.delayNanoseconds = delayNanoseconds
    }

    /// Looks at the value of a sample; returns whether another value has lasted long enough to be accepted.
    @inlinable package mutating func isDue(_ found: Value, at timeNanoseconds: Int64) -> Bool {
        guard found != value else {
            candidate = nil
            return false
        }
        guard let candidate, candidate.value == found, candidate.sinceNanoseconds <= timeNanoseconds else {
            candidate = (found, timeNanoseconds)
            return delayNanoseconds == 0
        }
        return timeNanoseconds >= Units.later(candidate.sinceNanoseconds, by: delayNanoseconds)
    }

    /// Makes a value count at once.
    @inlinable package mutating func accept(_ found: Value) {
        value = found
        candidate = nil
    }

    /// Forgets a change that has not lasted long enough.
    @inlinable package mutating func interrupt() { candidate = nil }
}
