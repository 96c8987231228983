import Binnacle

/// The smoothed field at the last magnetometer samples, so that a pair can be found by time.
///
/// A live accelerometer may deliver sixteen samples at a time, after the magnetometer has gone on. Its samples are
/// still paired with the field as it was known at their own time, not with a newer one.
struct FieldHistory {
    /// The field as it is known at a sample, in µT.
    struct Field {
        /// The smoothed field.
        let vector: SIMD3<Float>
        /// The field without the lag of the smoothing.
        let recent: SIMD3<Float>
        /// The smoothed strength.
        ///
        /// In a turn the smoothed vector is shorter: it is a mean of several directions.
        let strength: Float
        /// The hard iron that was taken from it.
        let iron: SIMD3<Float>
        /// The stamp of its last sample.
        let timeNanoseconds: Int64

        /// It with other iron taken from it.
        func without(_ iron: SIMD3<Float>) -> Field {
            guard iron != self.iron else { return self }
            let change = self.iron - iron
            return Field(
                vector: vector + change, recent: recent + change,
                strength: SmoothedVector.length(strength, of: vector, shiftedBy: change), iron: iron,
                timeNanoseconds: timeNanoseconds)
        }
    }

    /// The entries in a ring; the oldest one is overwritten.
    private var entries: [Field] = []
    private var newest = -1
    /// Some 10 s at 100 Hz: so far may the accelerometer lag behind, or a file be ordered in blocks.
    private static let capacity = 1024
    /// Beyond it a slow magnetometer counts as missing as well.
    private static let longestSeconds = 0.75

    mutating func append(_ field: Field) {
        newest = (newest + 1) % Self.capacity
        if newest < entries.count {
            entries[newest] = field
        } else {
            entries.append(field)
        }
    }

    /// The latest field not newer than a stamp; `nil` when there is none, or it is older by more than `maximumAge` nanoseconds.
    ///
    /// A magnetometer may be slower than that: one and a half of its last interval is no sign of a missing sample.
    func latest(notAfter timeNanoseconds: Int64, maximumAge: Int64) -> Field? {
        for back in 0..<entries.count {
            let entry = entry(back)
            guard entry.timeNanoseconds <= timeNanoseconds else { continue }
            var limit = maximumAge
            if back + 1 < entries.count {
                let interval = Units.seconds(from: self.entry(back + 1).timeNanoseconds, to: entry.timeNanoseconds)
                // Stamps may go back by centuries.
                limit = max(limit, Int64(1e9 * min(max(1.5 * interval, 0), Self.longestSeconds)))
            }
            return Units.later(entry.timeNanoseconds, by: limit) >= timeNanoseconds ? entry : nil
        }
        return nil
    }

    /// The newest entry but `back`.
    private func entry(_ back: Int) -> Field { entries[(newest - back + Self.capacity) % Self.capacity] }
}
