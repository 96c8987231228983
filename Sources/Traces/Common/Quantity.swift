import Binnacle
import Glibc
import PlainText
import SensorGeometry

/// The quantities of recordings, a row for each kind of sensor: its names, units and plausible values.
struct Quantity {
    /// A unit, with the magnitudes that a sensor reads in it at rest or in ordinary motion.
    struct Unit {
        let name: String
        let option: String
        let unit: TraceUnit
        /// The range of median magnitudes that confirms the unit.
        let typical: ClosedRange<Double>

        /// Whether a magnitude is in the range, or up to twice beyond it.
        func isNear(_ magnitude: Double) -> Bool {
            (typical.lowerBound / 2...typical.upperBound * 2).contains(magnitude)
        }
    }

    let kind: SampleKind
    /// The first letter of the targets of `--map`.
    let letter: String
    /// The quantity in words.
    let measures: String
    /// The units; the first is the one of samples, and the default.
    let units: [Unit]
    /// The range of median magnitudes in the unit of samples; others contradict a stated unit.
    let possible: ClosedRange<Double>
    /// The range of median magnitudes of a sensor without errors, which alone confirm an assumed unit; `nil` for any.
    var confirming: ClosedRange<Double>?
    /// Whether the vector has nearly the same length in all orientations, so that its length identifies the unit.
    ///
    /// Small values of such a sensor lack the constant part, such as gravity.
    let hasGravity: Bool
    /// The quantity that such a sensor measures, for messages about values that do not fit.
    let reference: String
    /// Whether values identify the kind of sensor; small rates of turn fit any kind.
    var isKnownByValues = true

    static let all: [Quantity] = [
        Quantity(
            kind: .accelerometer, letter: "a", measures: "acceleration",
            units: [
                Unit(name: "m/s²", option: "m/s2", unit: .measured(.accelerometer, 1), typical: 6...20),
                Unit(name: "g", option: "g", unit: .measured(.accelerometer, Gravity.standard), typical: 0.6...1.7),
                Unit(
                    name: "mg", option: "mg", unit: .measured(.accelerometer, Gravity.standard * 1e-3),
                    typical: 600...1700),
            ],
            possible: 3...30, hasGravity: true, reference: "gravity alone is 9.81"),
        Quantity(
            kind: .magnetometer, letter: "m", measures: "a magnetic field",
            units: [
                Unit(name: "µT", option: "uT", unit: .measured(.magnetometer, 1), typical: 10...149),
                Unit(name: "gauss", option: "gauss", unit: .measured(.magnetometer, 100), typical: 0.15...1.2),
                Unit(name: "mgauss", option: "mgauss", unit: .measured(.magnetometer, 0.1), typical: 150...900),
                Unit(name: "nT", option: "nT", unit: .measured(.magnetometer, 1e-3), typical: 15_000...120_000),
                Unit(name: "mT", option: "mT", unit: .measured(.magnetometer, 1e3), typical: 0.01...0.12),
                // As ROS has it.
                Unit(name: "T", option: "T", unit: .measured(.magnetometer, 1e6), typical: 1e-5...1.49e-4),
            ],
            possible: 10...500, confirming: 20...70, hasGravity: false, reference: "the Earth's field is 20 to 70"),
        Quantity(
            kind: .gyroscope, letter: "g", measures: "a rate of turn",
            units: [
                Unit(name: "rad/s", option: "rad/s", unit: .measured(.gyroscope, 1), typical: 0...8),
                Unit(name: "°/s", option: "deg/s", unit: .measured(.gyroscope, .pi / 180), typical: 8...2100),
                Unit(name: "m°/s", option: "mdps", unit: .measured(.gyroscope, .pi / 180e3), typical: 2100...2.1e6),
            ],
            possible: 0...40, hasGravity: false, reference: "no gyroscope measures more than 35",
            isKnownByValues: false),
    ]

    /// The quantities by which columns without names can be recognised.
    static let knownByValues = all.filter(\.isKnownByValues)

    static func of(_ kind: SampleKind) -> Quantity {
        // The table has a row for each kind.
        all.first { $0.kind == kind } ?? all[0]
    }

    var usual: Unit { units[0] }

    /// The conclusion from a sensor's values about their unit.
    enum Verdict: Equatable {
        /// There are too few values.
        case unknown
        /// The unit at this index of ``units``.
        case unit(Int)
        /// An acceleration without gravity, or a sensor that measures nothing.
        case withoutGravity
        /// Raw counts, with the most probable number for 1 g.
        case counts(perG: Double)
        /// Values outside the range of such a sensor.
        case implausible
    }

    /// What values say of their unit; `mayMove` is whether the mean of a movement may be gravity, and thus say it.
    func judge(_ values: VectorStatistics, mayMove: Bool = true) -> Verdict {
        guard values.isEnough else { return .unknown }
        let median = values.medianMagnitude
        let mean = mayMove && !values.isConstant ? unitOfMean(values) : nil
        let fitting = units.firstIndex { $0.typical.contains(median) } ?? mean
        if lacksGravity(values, in: units[fitting ?? 0].unit) { return .withoutGravity }
        // At rest there is gravity alone.
        if hasGravity, values.spread < 0.05, let fitting {
            let ratio = median * units[fitting].unit.factor / Gravity.standard
            let error = values.isWhole ? Self.mostError.whole : Self.mostError.scaled
            if abs(ratio - 1) > error { return .counts(perG: Self.countsPerG(median)) }
        }
        if let index = fitting, index == 0 || !hasGravity || values.isConstant || index == mean {
            return .unit(index)
        }
        guard hasGravity else { return .implausible }
        if median < possible.lowerBound { return .withoutGravity }
        if median > possible.upperBound, values.isConstant {
            // The mean of a movement in one attitude is gravity, and most of its lengths are others.
            return .counts(perG: Self.countsPerG(values.isSteady ? median : values.meanLength))
        }
        return .implausible
    }

    /// The unit in which the mean of a movement is gravity, as in one attitude.
    private func unitOfMean(_ values: VectorStatistics) -> Int? {
        guard hasGravity else { return nil }
        return units.firstIndex {
            abs(values.meanLength * $0.unit.factor / Gravity.standard - 1) < Self.mostError.whole
        }
    }

    /// How far the length of gravity may be from 1 g by the errors of chips; numbers with decimals have been scaled, and are no counts.
    private static let mostError = (whole: 0.12, scaled: 0.25)

    /// Whether a movement is all that is in the values: their mean and their calmest moments are near 0.
    func lacksGravity(_ values: VectorStatistics, in unit: TraceUnit) -> Bool {
        guard hasGravity, let calmest = values.calmestLength else { return false }
        return max(calmest, values.meanLength) * unit.factor < 0.35 * Gravity.standard
    }

    /// The power of two at the median, because sensors use one for 1 g and may err by some per cent, or else the median.
    private static func countsPerG(_ median: Double) -> Double {
        var power = 1.0
        while power * 1.4142 < median { power *= 2 }
        return max(power / median, median / power) < 1.05 ? power : median.rounded()
    }
}

extension SampleKind {
    /// The sensor's name with its article.
    var withArticle: String { self == .accelerometer ? "an \(rawValue)" : "a \(rawValue)" }
}

/// The lengths and directions of the first vectors of a stream.
struct VectorStatistics {
    private(set) var count = 0
    private(set) var medianMagnitude = 0.0
    /// The distance between the quartiles of the magnitude, relative to the median.
    private(set) var spread = 0.0
    /// The mean of those vectors that are not far longer than most, as numbers for missing values are.
    private(set) var mean: [Double] = [0, 0, 0]
    private var steadiness = 0.0
    private(set) var meanLength = 0.0
    /// The length of the mean of those neighbouring vectors that differ least; `nil` when there are too few.
    private(set) var calmestLength: Double?

    private(set) var isWhole = true
    /// Whether all vectors are equal, as those of a sensor that is never read.
    private(set) var areEqual = true

    private static let fewest = 10
    private static let blockCount = 20

    /// Whether there are enough vectors for a verdict.
    var isEnough: Bool { count >= Self.fewest }
    /// Whether the length or the direction is constant, as gravity's is and that of a movement is not.
    var isConstant: Bool { isSteady || steadiness > 0.75 }
    /// Whether the length is constant.
    var isSteady: Bool { spread < 0.35 }

    /// Examines the columns of x, y and z; rows with a value that is not finite are left out.
    init(_ x: [Double], _ y: [Double], _ z: [Double]) {
        var magnitudes: [Double] = []
        var sum = 0.0
        var vectors: [Vector3] = []
        var block: [Vector3] = []
        var leastSpread = Double.infinity
        for row in 0..<min(x.count, y.count, z.count) {
            let magnitude = (x[row] * x[row] + y[row] * y[row] + z[row] * z[row]).squareRoot()
            guard magnitude.isFinite else { continue }
            magnitudes.append(magnitude)
            sum += magnitude
            let vector = Vector3(x[row], y[row], z[row])
            if isWhole { isWhole = [x[row], y[row], z[row]].allSatisfy { $0 == $0.rounded() } }
            if areEqual, let first = vectors.first { areEqual = vector == first }
            vectors.append(vector)
            block.append(vector)
            guard block.count == Self.blockCount else { continue }
            let center = block.reduce(Vector3.zero, +) / Double(block.count)
            let spread = block.reduce(0) { $0 + ($1 - center).squaredLength }
            if spread < leastSpread { (leastSpread, calmestLength) = (spread, length(center)) }
            block.removeFirst(Self.blockCount / 2)
        }
        count = magnitudes.count
        guard count > 0 else { return }
        magnitudes.sort()
        medianMagnitude = magnitudes[count / 2]
        spread = medianMagnitude > 0 ? (magnitudes[count * 3 / 4] - magnitudes[count / 4]) / medianMagnitude : 0
        let usual = vectors.filter { length($0) <= 10 * medianMagnitude }
        let center = usual.reduce(Vector3.zero, +) / Double(max(1, usual.count))
        mean = [center.x, center.y, center.z]
        meanLength = length(vectors.reduce(Vector3.zero, +) / Double(count))
        steadiness = sum > 0 ? meanLength / (sum / Double(count)) : 0
    }

    /// A number with three digits, for messages.
    static func text(_ value: Double) -> String {
        guard value.magnitude >= 1e-3, value.magnitude < 1e6 else {
            guard value.isFinite, value.magnitude > 1e-300 else { return value == 0 ? "0" : "\(value)" }
            let exponent = Int(log10(value.magnitude).rounded(.down))
            return "\((value / pow(10, Double(exponent))).text(2))e\(exponent)"
        }
        var decimals = 0
        var limit = 100.0
        while decimals < 5, value.magnitude < limit {
            decimals += 1
            limit /= 10
        }
        return value.text(decimals)
    }

    /// A number as short as possible, for a command.
    static func optionText(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e9 ? "\(Int(value))" : text(value)
    }

    var shown: String { Self.text(medianMagnitude) }
}
