import Glibc
import PlainText

/// What is normal for a machine: how often each band had which value, in each state of the machine.
///
/// Values are counted by their logarithm, in steps of an eighth of an octave from 2⁻¹² to 2¹² mm/s or g: that is the same
/// memory for a minute and for a month. Quantiles are interpolated within a step.
struct VibrationLearning {
    /// For each band, for each state, the number of seconds in each step.
    private var counts: [[[UInt32]]]
    /// What the counts are about; learned for something else, they are of no use.
    private let subjects: [String]
    private let secondsWanted: Double
    private let spreads: Double

    private static let steps = 192
    private static let stepsPerOctave = 8.0
    /// The seconds of a state without which nothing is unusual in it.
    static let fewest = 60.0
    /// Of a normal distribution, in standard deviations.
    private static let quartileDistance = 1.349

    init(_ settings: VibrationSettings, days: Double) {
        secondsWanted = days * 86_400
        spreads = settings.learnedSpreads
        let none = Array(repeating: Array(repeating: UInt32(0), count: Self.steps), count: MachineState.allCases.count)
        counts = Array(repeating: none, count: settings.bands.count)
        let states = "\(settings.runningG ?? 0) \(settings.spinningG ?? 0)"
        subjects = settings.bands.map {
            "\($0.name) \($0.fromHz) \($0.toHz) \($0.unit) \(settings.axes.rawValue) \(states)"
        }
    }

    /// How much of the time has been learned, up to 100.
    var percent: Double { min(100, 100 * seconds / secondsWanted) }
    private var seconds: Double {
        counts.map { $0.reduce(0) { $0 + $1.reduce(0) { $0 + Double($1) } } }.max() ?? 0
    }

    /// Learns the value of a band in a second; once enough is learned, nothing more is.
    mutating func add(_ value: Double, of band: Int, in state: Int) {
        guard value >= 0, value.isFinite, percent < 100 else { return }
        // Nothing at all, as a coarse sensor at rest has, is the least.
        let step = ((log2(value) + 12) * Self.stepsPerOctave).rounded(.down)
        counts[band][state][Int(min(Double(Self.steps - 1), max(0, step)))] &+= 1
    }

    /// The value above which a band is unusual in a state; `nil` while that is not learned.
    ///
    /// It is the median times 2 to the power of the wanted number of robust standard deviations, the distance of the
    /// quartiles divided by 1.349, of the logarithms; that is at least a step.
    func limit(of band: Int, in state: Int) -> Double? {
        let steps = counts[band][state]
        let total = steps.reduce(0) { $0 + Double($1) }
        guard percent >= 100, total >= Self.fewest else { return nil }
        func quantile(_ share: Double) -> Double {
            var below = 0.0
            for (step, count) in steps.enumerated() where count > 0 {
                if below + Double(count) >= share * total {
                    return (Double(step) + (share * total - below) / Double(count)) / Self.stepsPerOctave - 12
                }
                below += Double(count)
            }
            return 0
        }
        let spread = max(1 / Self.stepsPerOctave, (quantile(0.75) - quantile(0.25)) / Self.quartileDistance)
        return exp2(quantile(0.5) + spreads * spread)
    }

    /// What was learned, as JSON; `nil` before the first second.
    var json: String? {
        guard seconds > 0 else { return nil }
        var object = JSONObject()
        for (subject, states) in zip(subjects, counts) {
            object.add(subject, list: states.map { "[" + $0.map(String.init).joined(separator: ",") + "]" })
        }
        return object.text
    }

    /// Takes what was learned before of the same bands; anything else in a file is left out.
    ///
    /// `false` when a band has nothing.
    mutating func recall(_ learned: JSONValue) -> Bool {
        var isWhole = true
        for (band, subject) in subjects.enumerated() {
            let states = learned[subject]?.elements { $0.elements { $0.integer.flatMap(UInt32.init(exactly:)) } }
            if let states, states.map(\.count) == counts[band].map(\.count) {
                counts[band] = states
            } else {
                isWhole = false
            }
        }
        return isWhole
    }
}
