/// The samples of a range at which the side of a threshold changed, as a kernel left them.
///
/// Sides alternate, so one side and the indices say everything. An index counts from the beginning of the range that the
/// kernel looked at. The list is reused from range to range: it grows before a kernel runs, never while it does.
///
/// It owns raw memory, which nobody else sees but the kernel that is filling it.
@usableFromInline
package struct CrossingList: ~Copyable {
    /// How many crossings there are.
    @usableFromInline package private(set) var count = 0
    /// Whether the first crossing, if there is one, leads *inside*; they alternate from there.
    @usableFromInline package private(set) var startsRising = true

    @usableFromInline var offsets: UnsafeMutablePointer<UInt32>
    private var capacity: Int

    /// What a kernel may overwrite behind the last crossing: `CK_CROSSING_ROOM`.
    private static let room = 64

    /// Creates an empty list.
    package init() {
        capacity = Self.room
        offsets = .allocate(capacity: capacity)
    }

    deinit {
        offsets.deallocate()
    }

    /// Whether there is no crossing.
    @inlinable package var isEmpty: Bool { count == 0 }

    /// The index of a crossing's first sample on the new side, counted from the beginning of the range.
    ///
    /// - Precondition: `position` is from 0 up to but not including ``count``.
    @inlinable
    package subscript(position: Int) -> Int {
        precondition(position >= 0 && position < count, "crossing \(position) of \(count)")
        return Int(offsets[position])
    }

    /// Whether a crossing leads *inside*.
    @inlinable
    package func isRising(_ position: Int) -> Bool {
        startsRising == position.isMultiple(of: 2)
    }

    /// Forgets every crossing and keeps the room.
    package mutating func removeAll() {
        count = 0
    }

    /// Replaces what is in the list by what a kernel finds.
    ///
    /// - Parameters:
    ///   - sampleCount: How many samples the kernel will look at: so many crossings fit, and what it may overwrite.
    ///   - isInside: The side before the first one; receives the side after the last one.
    ///   - find: The kernel: writes the crossings from the pointer on, returns their number and the side after them.
    @inline(__always)
    mutating func fill(
        forSamples sampleCount: Int, isInside: inout Bool,
        _ find: (UnsafeMutablePointer<UInt32>) -> (count: Int, isInside: Bool)
    ) {
        precondition(sampleCount <= UInt32.max, "a range of \(sampleCount) samples is too long")
        if sampleCount + Self.room > capacity {
            offsets.deallocate()
            capacity = sampleCount + Self.room
            offsets = .allocate(capacity: capacity)
        }
        startsRising = !isInside
        (count, isInside) = find(offsets)
    }
}
