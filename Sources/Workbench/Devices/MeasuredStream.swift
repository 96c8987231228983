package import Binnacle
import Glibc
import LinuxSensors
import PlainText

/// What a stream of a sensor at rest showed, beside what its chip claims.
package struct MeasuredStream {
    /// What a driver or a data sheet says; `nil` where it says nothing.
    package struct Claims {
        package var rateHz: Double?
        /// The greatest value of each axis, in the samples' unit.
        package var range: Double?
        /// In the unit of the words below.
        package var noiseDensity: Double?

        package init() {}
    }

    /// One thing that is judged; `nil` when it cannot be.
    package struct Check {
        package let name: String
        package let passes: Bool?
        package let text: String

        fileprivate var json: String {
            var object = JSONObject()
            object.add("name", name)
            object.add("passes", raw: passes.map { String($0) } ?? "null")
            object.add("text", text)
            return object.text
        }
    }

    /// How a kind's values are shown.
    private struct Words {
        /// Factors from the samples' unit: of values, and of noise.
        let (value, unit, noise, noiseUnit): (Double, String, Double, String)
        /// The length of a vector at rest.
        let rest: ClosedRange<Double>
        /// How far the means of seconds of a sensor at rest may be apart.
        let still: Double

        init(_ kind: SampleKind) {
            noise = SensorCalibration.noiseKey(of: kind).factor
            switch kind {
            case .accelerometer:
                (value, unit, noiseUnit) = (1, "m/s²", "µg")
                (rest, still) = (9.2...10.4, 0.1)
            case .gyroscope:
                (value, unit, noiseUnit) = (180 / .pi, "°/s", "°/s")
                (rest, still) = (0...5, 1)
            case .magnetometer:
                (value, unit, noiseUnit) = (1, "µT", "nT")
                (rest, still) = (20...70, 2)
            }
        }
    }

    package let sensor: String
    package let kind: SampleKind
    package let claims: Claims
    private var times: [Int64] = []
    private var axes: [[Float]] = [[], [], []]
    private var lostCount = 0
    /// An hour at 1 kHz, in 70 MB.
    private static let mostSamples = 3_600_000

    package init(sensor: String, kind: SampleKind, claims: Claims) {
        self.sensor = sensor
        self.kind = kind
        self.claims = claims
    }

    /// Adds a sample; those beyond an hour at 1 kHz are left out, and what is no number is lost.
    package mutating func add(_ sample: Sample) {
        guard times.count < Self.mostSamples else { return }
        guard sample.x.isFinite, sample.y.isFinite, sample.z.isFinite else { return lose(1) }
        times.append(sample.timeNanoseconds)
        for (axis, value) in [sample.x, sample.y, sample.z].enumerated() { axes[axis].append(value) }
    }

    package mutating func lose(_ count: Int) { lostCount += count }

    var count: Int { times.count }
    /// How long the samples last.
    var seconds: Double { times.last.map { Units.seconds(from: times[0], to: $0) } ?? 0 }

    /// What the samples show of stamps, rest and noise, in the words' units.
    private struct Findings {
        var (period, jitter, longest) = (0.0, 0.0, 0.0)
        var gaps = 0
        var allan: [AllanDeviation] = []
        var means: [Double] = []
        /// What shows that the device moved, which noise does not explain.
        var movement: String?
        /// That of the noisiest axis.
        var density: Double?
        /// How many samples are far off all others for a moment, as those that a bus has garbled.
        var garbled = 0
    }

    /// `nil` of too few samples, and where most stamps stand still.
    private func findings(_ words: Words) -> Findings? {
        guard times.count >= Self.leastCount else { return nil }
        let intervals = zip(times, times.dropFirst()).map { Units.seconds(from: $0, to: $1) }
        let usual = intervals.sorted()[intervals.count / 2]
        guard usual > 0 else { return nil }
        let regular = intervals.filter { $0 < 1.5 * usual }
        var found = Findings()
        found.period = regular.reduce(0, +) / Double(regular.count)
        let period = found.period
        let spread = (regular.reduce(0) { $0 + ($1 - period) * ($1 - period) } / Double(regular.count)).squareRoot()
        // What remains of sums of equal intervals is no jitter: stamps have whole nanoseconds.
        found.jitter = spread < 1e-11 ? 0 : spread
        found.gaps = intervals.count - regular.count
        found.longest = intervals.max() ?? 0
        let (axes, garbled) = withoutGarbled(words)
        found.garbled = garbled
        found.allan = axes.map { AllanDeviation($0, intervalSeconds: period) }
        found.density = found.allan.compactMap(\.noiseDensity).max().map { $0 * words.noise }
        found.means = axes.map { $0.reduce(0) { $0 + Double($1) } / Double($0.count) * words.value }
        let second = Int(max(1, min(1 / period, Double(times.count))))
        let moves = axes.indices.map { move(of: axes[$0], second, found.allan[$0], words) }
        if moves.contains(where: { $0.drift > $0.most }) {
            let drift = moves.map(\.drift).max() ?? 0
            found.movement = "the means of seconds are \(Self.shown(drift)) \(words.unit) apart"
        } else if let most = axes.indices.compactMap({ swing(of: axes[$0], found.allan[$0], period, words) }).max() {
            found.movement = "an axis swings by \(Self.shown(most)) \(words.unit)"
        }
        return found
    }

    /// The axes with their medians in place of the values that are far off for one sample or two, and the number of such samples; a
    /// longer stretch is movement.
    ///
    /// One of them has more variance than the noise of thousands. More than one in a hundred stay.
    private func withoutGarbled(_ words: Words) -> (axes: [[Float]], count: Int) {
        func median(_ values: [Float]) -> Float { values.sorted()[values.count / 2] }
        var cleaned = axes
        var garbled: Set<Int> = []
        for (axis, values) in axes.enumerated() {
            let middle = median(values)
            let most = max(
                Self.farFactor * median(values.map { ($0 - middle).magnitude }), Float(words.still / words.value))
            let isFar = values.map { ($0 - middle).magnitude > most }
            var start = 0
            while start < values.count {
                var end = start + 1
                while isFar[start], end < values.count, isFar[end] { end += 1 }
                if isFar[start], end - start <= 2 {
                    for index in start..<end { cleaned[axis][index] = middle }
                    garbled.formUnion(start..<end)
                }
                start = end
            }
        }
        return (garbled.count * 100 <= count ? cleaned : axes, garbled.count)
    }

    /// How many times the median deviation a garbled value is off: eight standard deviations of white noise.
    private static let farFactor: Float = 12

    /// How far the means of seconds of an axis are apart, and how far they may be at rest.
    private func move(
        of values: [Float], _ second: Int, _ allan: AllanDeviation, _ words: Words
    ) -> (drift: Double, most: Double) {
        let values = values.map(Double.init)
        // The last second of all overlaps the one before: nothing is left out.
        let starts = Array(stride(from: 0, to: values.count - second, by: second)) + [values.count - second]
        let means = starts.map { values[$0..<$0 + second].reduce(0, +) / Double(second) }
        let mean = means.reduce(0, +) / Double(means.count)
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)
        // Of white noise the differences of neighbours show all, and of movement little.
        let white = allan.points.first?.deviation ?? 0
        let noise = 2 * white * white > variance ? Self.sigmas * white / Double(second).squareRoot() : 0
        let drift = (means.max() ?? 0) - (means.min() ?? 0)
        return (drift * words.value, max(words.still, noise * words.value))
    }

    /// Twice the deviation of an axis that swings more slowly than a machine vibrates; `nil` where its neighbours differ as by noise.
    ///
    /// The means of whole seconds do not show a periodic movement.
    private func swing(of values: [Float], _ allan: AllanDeviation, _ period: Double, _ words: Words) -> Double? {
        // A vibration that lasts counts as noise, however fast it is sampled.
        guard let point = allan.points.last(where: { $0.seconds < 0.0101 }) ?? allan.points.first else { return nil }
        let count = max(1, Int((point.seconds / period).rounded()))
        let means = stride(from: 0, through: values.count - count, by: count).map { start in
            values[start..<start + count].reduce(0.0) { $0 + Double($1) } / Double(count)
        }
        let mean = means.reduce(0, +) / Double(means.count)
        let variance = means.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(means.count)
        let swing = 2 * variance.squareRoot() * words.value
        let isNoise = allan.noiseDensity != nil && variance < Self.swings * point.deviation * point.deviation
        return swing > words.still && !isNoise ? swing : nil
    }

    /// How many times the variance of white noise that of a movement is: a sine of 7 Hz has as much, in steps of 10 ms.
    private static let swings = 10.0
    /// The means of an hour's seconds are no further apart by noise, in standard deviations.
    private static let sigmas = 10.0
    /// The fewest samples that show a rate and noise.
    private static let leastCount = 100
    /// The shortest time in which noise is measured, and what its samples last, the first of which comes after its begin.
    package static let leastDuration = Duration.seconds(10)
    private static let leastSeconds = leastDuration / .seconds(1) - 0.5

    /// The density of the noise on the noisiest axis of a sensor at rest, in the words' unit; a keyword and a text where there is none.
    func noise() -> (density: Double, refusal: (name: String, text: String)?) {
        let words = Words(kind)
        guard seconds >= Self.leastSeconds, let found = findings(words) else {
            let few = "\(count) samples in \(Self.shown(seconds)) s are too few, and 10 s are needed"
            return (0, ("samples", few + ": leave it lying for longer"))
        }
        if let movement = found.movement {
            return (0, ("moving", "the device moved, \(movement): leave it lying on something that does not move"))
        }
        // A device that reports changes alone has no noise between them.
        guard found.gaps * 10 < count else {
            return (0, ("gaps", "\(found.gaps) of \(count) samples come late, so that their noise cannot be judged"))
        }
        guard found.garbled * 100 <= count else {
            let many = "\(found.garbled) of \(count) samples are far off all others, as if a bus garbled them"
            return (0, ("garbled", many + ": check the wiring and the bus's speed"))
        }
        let none = ("none", "no noise is seen: it is below the step of the values, and nothing has to be kept")
        return found.density.map { ($0, nil) } ?? (0, none)
    }

    static func shown(_ value: Double) -> String { SysfsNumber.text(rounded(value)) }

    /// The noise densities of chips by the names of their drivers, in µg/√Hz and °/s/√Hz: the data sheets' typical values.
    package static func claimedNoise(_ name: String, _ kind: SampleKind) -> Double? {
        switch (name, kind) {
        case ("mpu6050", .accelerometer), ("adxl345", .accelerometer): 400
        case ("mpu6050", .gyroscope): 0.005
        default: nil
        }
    }

    /// The figures and checks of what was added, as text and as JSON.
    package func result() -> (lines: [String], json: String, passes: Bool) {
        let words = Words(kind)
        var object = JSONObject()
        object.add("sensor", sensor)
        object.add("kind", kind.rawValue)
        object.add("samples", raw: String(times.count))
        let shown = Self.shown
        func add(_ name: String, _ value: Double?) { object.add(name, raw: value.map(shown) ?? "null") }
        guard let found = findings(words) else {
            let text =
                count < Self.leastCount
                ? "\(count) samples in \(shown(seconds)) s are too few, \(Self.leastCount) are needed: measure for longer"
                : "most of \(count) stamps stand still"
            object.add("checks", list: [Check(name: "samples", passes: false, text: text).json])
            return (["\(sensor.printable), \(kind.rawValue): FAIL: \(text)"], object.text, false)
        }
        let (period, jitter, gaps) = (found.period, found.jitter, found.gaps)
        let (allan, means, density) = (found.allan, found.means, found.density)
        add("rate_hz", 1 / period)
        add("claimed_rate_hz", claims.rateHz)
        add("jitter_s", jitter)
        add("longest_interval_s", found.longest)
        object.add("gaps", raw: String(gaps))
        object.add("lost_samples", raw: String(lostCount))

        let length = means.reduce(0) { $0 + $1 * $1 }.squareRoot()
        let most = axes.joined().reduce(0) { max($0, abs($1)) }
        object.add("unit", words.unit)
        object.add("noise_unit", words.noiseUnit)
        object.add("mean", list: means.map(shown))
        add("claimed_range", claims.range.map { $0 * words.value })
        add("claimed_noise_density", claims.noiseDensity)
        object.add(
            "axes",
            list: zip(["x", "y", "z"], allan).map { name, allan in
                var axis = JSONObject()
                func add(_ key: String, _ value: Double?) {
                    axis.add(key, raw: value.map { shown($0 * words.noise) } ?? "null")
                }
                axis.add("axis", name)
                add("noise_density", allan.noiseDensity)
                add("random_walk", allan.randomWalk)
                add("bias_instability", allan.instability?.value)
                axis.add("bias_instability_s", raw: allan.instability.map { shown($0.seconds) } ?? "null")
                axis.add(
                    "allan", list: allan.points.map { "[\(shown($0.seconds)),\(shown($0.deviation * words.noise))]" })
                return axis.text
            })

        let isStill = found.movement == nil
        let moved = "not judged: it moved" + (found.movement.map { ", \($0)" } ?? "")
        var checks = [
            Check(
                name: "rate", passes: claims.rateHz.map { abs(1 / period - $0) <= 0.1 * $0 },
                text: "\(shown(1 / period)) Hz"
                    + (claims.rateHz.map { ", its driver says \(shown($0)) Hz (± 10 %)" } ?? ", its driver says none")),
            Check(
                name: "stamps", passes: jitter <= 0.1 * period,
                text:
                    "jitter \(shown(jitter * 1e6)) µs, \(shown(100 * jitter / period)) % of the interval (at most 10 %)"
            ),
            Check(
                name: "gaps", passes: gaps + lostCount == 0,
                text: "\(gaps) gaps, the longest \(shown(found.longest * 1e3)) ms; \(lostCount) samples lost"),
            Check(
                name: "rest", passes: isStill ? words.rest.contains(length) : nil,
                text: isStill
                    ? "\(means.map(shown).joined(separator: ", ")) \(words.unit), in all \(shown(length)) "
                        + "(\(shown(words.rest.lowerBound)) to \(shown(words.rest.upperBound)))" : moved),
            Check(
                name: "noise",
                passes: isStill ? claims.noiseDensity.flatMap { claim in density.map { $0 <= 1.5 * claim } } : nil,
                text: !isStill
                    ? moved
                    : (density.map { "\(shown($0)) \(words.noiseUnit)/√Hz" }
                        ?? "none: it is below the step of the values")
                        + (claims.noiseDensity.map { ", its data sheet says \(shown($0)) (half more passes)" }
                            ?? ", no claim of this chip is known")
                        + (found.garbled > 0 ? "; \(found.garbled) samples are far off all others" : "")),
        ]
        if let range = claims.range {
            checks.append(
                Check(
                    name: "range", passes: Double(most) < 0.99 * range,
                    text: "up to \(shown(Double(most) * words.value)) of \(shown(range * words.value)) \(words.unit)"))
        }
        object.add("checks", list: checks.map(\.json))
        var lines = ["\(sensor.printable), \(kind.rawValue): \(times.count) samples"]
        lines += checks.map { check in
            let word = check.passes.map { $0 ? "pass" : "FAIL" } ?? "-"
            return "    \(word)".padded(to: 10) + check.name.padded(to: 8) + check.text
        }
        if isStill {
            for (name, axis) in zip(["x", "y", "z"], allan) {
                guard let instability = axis.instability else { continue }
                let walk = axis.randomWalk.map { "\(shown($0 * words.noise)) \(words.noiseUnit)/√s" } ?? "none seen"
                lines.append(
                    "    \(name): noise \(axis.noiseDensity.map { shown($0 * words.noise) } ?? "none") \(words.noiseUnit)/√Hz, "
                        + "bias instability at most \(shown(instability.value * words.noise)) \(words.noiseUnit) "
                        + "(at \(shown(instability.seconds)) s), random walk \(walk)")
            }
        }
        return (lines, object.text, checks.allSatisfy { $0.passes ?? true })
    }

    /// Four digits.
    private static func rounded(_ value: Double) -> Double {
        guard value != 0, value.isFinite else { return 0 }
        let scale = pow(10, 3 - log10(value.magnitude).rounded(.down))
        return (value * scale).rounded() / scale
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
