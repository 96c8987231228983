/// The integrated rotation at the last stamps of the gyroscope, so that a sample of another sensor is turned by the one at its
/// own stamp.
package struct OrientationHistory {
    private struct Entry {
        var timeNanoseconds: Int64 = .min
        var rotation = Quaternion.identity
    }

    private var entries = [Entry](repeating: Entry(), count: Self.capacity)
    private var newest = 0
    private var count = 0

    private static let capacity = 256
    /// Entries are at least so far apart, so that they reach back for 0.25 s at any rate.
    private static let leastDistance: Int64 = 1_000_000

    mutating func removeAll() { count = 0 }

    mutating func append(_ rotation: Quaternion, at timeNanoseconds: Int64) {
        // The newest entry always is the last sample's; it is replaced while it is near the one before it.
        let before = (newest + Self.capacity - 1) % Self.capacity
        let isNear = count > 1 && timeNanoseconds &- entries[before].timeNanoseconds < Self.leastDistance
        if !isNear {
            newest = (newest + 1) % Self.capacity
            count = min(count + 1, Self.capacity)
        }
        entries[newest] = Entry(timeNanoseconds: timeNanoseconds, rotation: rotation)
    }

    /// The rotation at a stamp; `nil` before the oldest one.
    package func rotation(at timeNanoseconds: Int64) -> Quaternion? {
        guard count > 0 else { return nil }
        var later = entries[newest]
        if timeNanoseconds >= later.timeNanoseconds { return later.rotation }
        for back in 1..<max(count, 1) {
            let entry = entries[(newest + Self.capacity - back) % Self.capacity]
            if entry.timeNanoseconds <= timeNanoseconds {
                let share =
                    Units.seconds(from: entry.timeNanoseconds, to: timeNanoseconds)
                    / Units.seconds(from: entry.timeNanoseconds, to: later.timeNanoseconds)
                return entry.rotation.interpolated(to: later.rotation, share: share)
            }
            later = entry
        }
        return nil
    }
}
