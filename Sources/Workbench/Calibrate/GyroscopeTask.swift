import Binnacle
import PlainText
import SensorGeometry

/// Measures a gyroscope's offset: the mean rate of a device at rest for ten seconds.
final class GyroscopeTask: CalibrationTask {
    /// A time at rest.
    private struct Stretch {
        var startNanoseconds: Int64 = 0
        var lastNanoseconds: Int64 = 0
        var sum = Vector3.zero
        var squares = Vector3.zero
        var count = 0
        var first = Vector3.zero
        /// Whether a sample differs from the first: the squares of constant values leave a noise by their rounding.
        var hasChanged = false
        /// Sum and count since the last comparison.
        var recent = (sum: Vector3.zero, count: 0, startNanoseconds: Int64(0))

        var seconds: Double { count > 0 ? Units.seconds(from: startNanoseconds, to: lastNanoseconds) : 0 }
        var mean: Vector3 { count > 0 ? sum / Double(count) : .zero }
        /// The largest standard deviation of the three axes, in rad/s.
        var noise: Double {
            let variance = squares / Double(max(count, 1)) - mean * mean
            return max(variance.max(), 0).squareRoot()
        }
    }

    private var stretch = Stretch()
    private var longest = Stretch()
    private var smoothed = Vector3.zero
    private var count = 0

    private static let radian = Double.pi / 180
    private static let neededSeconds = 10.0
    /// A sample further from the smoothed rate is motion, in rad/s.
    private static let motion = 2 * radian
    /// A one-second mean further from that of the stretch is the slow begin of a turn, in rad/s.
    private static let drift = 0.3 * radian
    /// Limit for a plausible offset, in rad/s.
    private static let largestOffset = 10 * radian
    private static let smoothingSeconds = 0.5
    private static let longestGap = 0.5

    func add(_ sample: Sample) {
        let rate = Vector3(sample)
        guard rate.isFinite else { return }
        count += 1
        let time = sample.timeNanoseconds
        let step = Units.seconds(from: stretch.lastNanoseconds, to: time)
        guard stretch.count > 0, step > 0, step <= Self.longestGap else {
            if stretch.count == 0 || step != 0 { begin(rate, at: time) }
            return
        }
        smoothed += (rate - smoothed) * (step / (Self.smoothingSeconds + step))
        guard length(rate - smoothed) < Self.motion else { return begin(rate, at: time) }
        stretch.sum += rate
        stretch.squares += rate * rate
        stretch.count += 1
        stretch.hasChanged = stretch.hasChanged || rate != stretch.first
        stretch.lastNanoseconds = time
        stretch.recent.sum += rate
        stretch.recent.count += 1
        if Units.seconds(from: stretch.recent.startNanoseconds, to: time) >= 1 {
            let mean = stretch.recent.sum / Double(stretch.recent.count)
            guard length(mean - stretch.mean) < Self.drift else { return begin(rate, at: time) }
            stretch.recent = (.zero, 0, time)
        }
        if stretch.seconds > longest.seconds { longest = stretch }
    }

    private func begin(_ rate: Vector3, at time: Int64) {
        smoothed = rate
        stretch = Stretch(
            startNanoseconds: time, lastNanoseconds: time, sum: rate, squares: rate * rate, count: 1, first: rate,
            recent: (rate, 1, time))
    }

    var isComplete: Bool { longest.seconds >= Self.neededSeconds }

    var fraction: Double { min(stretch.seconds / Self.neededSeconds, 1) }

    var advice: String {
        guard count > 0 else { return "waiting for the gyroscope" }
        guard !isComplete else { return "enough" }
        let left = Int((Self.neededSeconds - stretch.seconds).rounded(.up))
        return "leave it lying still: \(left) s more"
    }

    func finish() throws(CalibrationRefusal) -> CalibrationResult {
        let offset = longest.mean
        var figures = JSONObject()
        figures.add("samples_seen", raw: "\(count)")
        figures.add("still_s", raw: longest.seconds.text(1))
        guard isComplete else {
            throw CalibrationRefusal(
                name: "moving",
                description: count == 0
                    ? "no sample of the gyroscope has come"
                    : "the device was still for \(longest.seconds.text(2)) s in a row, and ten are needed: "
                        + "leave it lying on something that does not move",
                figures: figures)
        }
        guard max(abs(offset.x), abs(offset.y), abs(offset.z)) <= Self.largestOffset else {
            throw CalibrationRefusal(
                name: "turning",
                description:
                    "the mean rate is \(CalibrationText.words(offset / Self.radian, 1)) °/s, which is a steady turn and no "
                    + "offset; or the gyroscope's scale is wrong ('binnacle doctor --guide')",
                figures: figures)
        }
        return result(offset, figures)
    }

    private func result(_ offset: Vector3, _ figures: JSONObject) -> CalibrationResult {
        let noise = longest.noise / Self.radian
        let fit = [
            ("offset_rad_s", CalibrationText.list(offset, 6)), ("noise_dps", noise.text(3)),
        ]
        var figures = figures
        for (key, value) in fit { figures.add(key, raw: value) }
        figures.add("offset_dps", raw: CalibrationText.list(offset / Self.radian, 3))
        let table =
            fit.map { "\($0) = \($1)" } + [
                "seconds = \(longest.seconds.text(1))", "samples = \(longest.count)",
            ]
        let quality =
            !longest.hasChanged
            ? "doubtful: the values never changed: does it measure?"
            : noise < 0.3 ? "good" : "fair: there was noise or vibration"
        let report = [
            "  offset          \(CalibrationText.words(offset / Self.radian, 3)) °/s",
            "  noise           \(noise.text(3)) °/s, \(longest.count) samples in "
                + "\(longest.seconds.text(1)) s",
            "verdict: \(quality)",
        ]
        return CalibrationResult(name: "gyroscope", table: table, report: report, figures: figures)
    }
}
