import Binnacle
import SensorGeometry

/// Decides when what has hardly turned is reported again: when an accuracy, or how fast it turns, has left what was reported.
///
/// A worse accuracy is reported at once, because readers rely on the better one; a better one at most
/// once a second. So is another rate of turn, which only a gyroscope measures: without that, the rate of a turn would stay told
/// when it is over.
struct FigureChanges {
    private var accuracies = SIMD2<Double>.zero
    /// The rate of turn, smoothed, in °/s; `nil` when none is measured.
    private var rate: Vector3?
    private var timeNanoseconds: Int64 = 0
    private var reported = (accuracies: SIMD2<Double>.zero, rate: Vector3.zero, timeNanoseconds: Int64(0))

    /// An accuracy is another one when it differs by this share of the one reported before, and by ``leastAccuracyChange``.
    private static let accuracyShare = 0.25
    /// In degrees.
    private static let leastAccuracyChange = 1.0
    /// A rate of turn is another one when it differs by this share of the one reported before, and by ``leastRateChange``.
    private static let rateShare = 0.5
    /// In °/s.
    private static let leastRateChange = 1.0
    /// The noise of a gyroscope is no change.
    private static let rateSmoothingSeconds = 0.5
    private static let intervalNanoseconds: Int64 = 1_000_000_000

    /// Takes the figures of a sample.
    ///
    /// - Parameters:
    ///   - accuracies: In degrees; 0 for one that there is not.
    ///   - rate: In °/s; `nil` when none is measured.
    ///   - time: The sample's stamp.
    mutating func follow(_ accuracies: SIMD2<Double>, rate: Vector3?, at time: Int64) {
        var smoothed = rate
        if let rate, let last = self.rate {
            let seconds = max(Units.seconds(from: timeNanoseconds, to: time), 0)
            smoothed = last + (rate - last) * (seconds / (Self.rateSmoothingSeconds + seconds))
        }
        (self.accuracies, self.rate, timeNanoseconds) = (accuracies, smoothed, time)
    }

    /// Whether the figures of the last sample are to be reported.
    var areOther: Bool {
        let isDue = timeNanoseconds >= Units.later(reported.timeNanoseconds, by: Self.intervalNanoseconds)
        for index in 0..<2 {
            let before = reported.accuracies[index]
            let change = accuracies[index] - before
            let isOther = abs(change) > max(Self.leastAccuracyChange, Self.accuracyShare * before)
            if isOther, change > 0 || isDue { return true }
        }
        guard isDue, let rate else { return false }
        return length(rate - reported.rate) > max(Self.leastRateChange, Self.rateShare * length(reported.rate))
    }

    /// The figures of the last sample are reported.
    mutating func report() { reported = (accuracies, rate ?? .zero, timeNanoseconds) }

    /// Makes the next rate of turn the first one again.
    mutating func reset() { rate = nil }
}
