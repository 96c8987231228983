/// The samples of a range at which the side of a threshold changed, as found by a kernel.
///
/// Sides alternate, so the first side and the indices suffice. Indices count from the start of the range. The list is reused from
/// range to range: it grows before a kernel runs, never during that.
///
/// It owns raw memory, which only the kernel that fills it can access.
@usableFromInline
package struct CrossingList: ~Copyable {
    /// The number of crossings.
    @usableFromInline package private(set) var count = 0
    /// Whether the first crossing leads to *inside*.
    @usableFromInline package private(set) var startsRising = true

    @usableFromInline var offsets: UnsafeMutablePointer<UInt32>
    private var capacity: Int

    /// The size of the memory after the last crossing that a kernel may overwrite: `CK_CROSSING_ROOM`.
    private static let room = 64

    package init() {
        capacity = Self.room
        offsets = .allocate(capacity: capacity)
    }

    deinit {
        offsets.deallocate()
    }

    /// The index of a crossing's first sample on the new side, counted from the beginning of the range.
    ///
    /// - Precondition: `position` is from 0 up to but not including ``count``.
    @inlinable
    package subscript(position: Int) -> Int {
        precondition(position >= 0 && position < count, "crossing \(position) of \(count)")
        return Int(offsets[position])
    }

    /// Replaces the contents by what a kernel finds: `find` writes the crossings to the pointer, and returns their number and
    /// the side after them.
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
