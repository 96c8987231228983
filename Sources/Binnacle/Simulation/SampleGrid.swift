/// The stamps of a stream whose rate is exact: sample n is due n/rate after the start.
///
/// A stamp is computed from its index and never from the stamp before it, so that nothing adds up: it is the nearest
/// nanosecond after any number of days.
struct SampleGrid {
    let startNanoseconds: Int64
    let rateHz: Double

    /// Beyond it seconds do not fit into a stamp (292 years).
    private static let mostSeconds = 9.2e9

    /// The stamp of a sample; stays at the end of the range instead of overflowing.
    func timeNanoseconds(at index: Int64) -> Int64 {
        let seconds = (Double(index) / rateHz).rounded(.down)
        guard seconds < Self.mostSeconds else { return .max }
        // One rounding for the product and the difference: what is left has no error, also after years.
        let rest = Double(index).addingProduct(-seconds, rateHz) / rateHz
        let offset = Int64(seconds) * 1_000_000_000 + Int64((rest * 1e9).rounded())
        return Units.later(startNanoseconds, by: offset)
    }

    /// The last sample that is due at a time; −1 before the start.
    func lastIndex(notAfter timeNanoseconds: Int64) -> Int64 {
        guard timeNanoseconds >= startNanoseconds else { return -1 }
        // The last stamp of all is that of every later sample.
        let time = min(timeNanoseconds, .max - 1)
        let elapsedSeconds = Units.seconds(from: startNanoseconds, to: time)
        // The product is rounded, and the stamps are: so it is off by one here and there.
        var index = Int64(min(elapsedSeconds * rateHz, Self.mostSeconds * rateHz))
        while index > 0, self.timeNanoseconds(at: index) > time { index -= 1 }
        while self.timeNanoseconds(at: index + 1) <= time { index += 1 }
        return index
    }
}
