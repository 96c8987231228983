public import SensorGeometry

/// Decides whether samples give a calibration, and which.
public struct MagnetometerJudge: Sendable {
    /// The model that is asked for; what the coverage allows without one.
    public var model: MagnetometerFit.Model?
    /// The strength of the Earth's field at the place, in µT, when it is known.
    public var expectedMicrotesla: Double?

    /// Fewer samples than this are refused.
    package static let leastSamples = 50
    /// A greater fit error is refused.
    package static let greatestErrorPercent = 5.0
    /// A good calibration has a smaller fit error.
    private static let goodErrorPercent = 1.5
    /// The centre of a good calibration is off by no more than this share of the field.
    package static let goodCentre = 0.005
    /// A centre that may be off by more than this share of the field is refused: at a dip of 70° no heading is within 45°.
    package static let greatestCentre = 0.15
    /// The strengths, in µT, that the Earth's field has at its surface, with room on both sides.
    package static let earthMicrotesla = 20.0...70.0
    /// The field may be off the one of the place by this share.
    package static let placeShare = 0.15
    /// Soft iron that stretches one axis by more than this, compared with another, is none that a compass lives with.
    private static let greatestStretch = 2.5

    /// Asks for whatever the coverage allows, anywhere on Earth.
    public init() {}

    /// A calibration, and what it is worth.
    public struct Finding: Sendable, Equatable {
        /// The calibration.
        public let calibration: MagnetometerFit
        /// How well the samples are spread.
        package let coverage: Coverage
        /// From which directions samples have come.
        package let map: DirectionMap
        /// How many samples were used.
        package let sampleCount: Int
        /// How many samples were left out, because they are far off all others.
        package let glitchCount: Int
        /// The standard deviation of |m| before the calibration, in percent of its mean.
        package let spreadBeforePercent: Double
        /// The same after the calibration.
        package let spreadAfterPercent: Double
        /// How far the centre may be off.
        package let centre: CentreError
        /// Why it is a sphere although none was asked for.
        package let sphereReason: SphereReason?

        /// How wrong a calibrated field is, in µT: the root mean square of what the fit leaves on one axis, and of how far the
        /// centre is off.
        public var errorMicrotesla: Double {
            let centre = centre.expected * calibration.fieldMicrotesla
            let error = (calibration.residualMicrotesla * calibration.residualMicrotesla + centre * centre).squareRoot()
            return min(error, calibration.fieldMicrotesla)
        }

        /// Whether samples came from everywhere, and fit.
        private var isSound: Bool {
            map.missing.isEmpty && coverage.model == .ellipsoid
                && calibration.fitErrorPercent < MagnetometerJudge.goodErrorPercent
        }
        /// Whether the centre is off by no more than 0.5 % of the field.
        package var isGood: Bool { isSound && centre.limit <= MagnetometerJudge.goodCentre }
        /// Whether more samples of the same kind would make it good.
        package var lacksSamples: Bool { isSound && !isGood && calibration.model == .ellipsoid }
    }

    /// Why it is a sphere.
    package enum SphereReason: Sendable, Equatable {
        /// The coverage allows no more.
        case coverage
        /// Nothing has come from some regions, where an ellipsoid would be a guess.
        case regions
        /// No sensible ellipsoid fits.
        case shape
    }

    /// Fits samples, in µT, and looks at what comes of it.
    ///
    /// - Throws: When the result should not be used, an error that says why, and what to do about it.
    public func judge(_ samples: [Vector3]) throws -> Finding { try finding(of: samples) }

    /// `seen` is the number of samples of which these are left after a thinning.
    package func finding(of samples: [Vector3], seen: Int = 0) throws(MagnetometerRefusal) -> Finding {
        let finite = samples.filter(\.isFinite)
        let samples = Self.withoutGlitches(finite, seen: seen)
        guard samples.count >= Self.leastSamples else { throw .samples(samples.count) }
        try Self.requireRange(samples)
        guard let coverage = Coverage(samples) else { throw .samples(0) }
        let missing = Self.map(samples).missing
        guard coverage.model != nil else { throw .coverage(coverage.condition, missing: missing) }
        let allowed = Self.allowed(coverage, missing)
        if model == .ellipsoid, allowed == .sphere { throw .sphereAtMost(coverage.condition, missing: missing) }
        guard let sphere = MagnetometerFit.sphere(samples) else { throw .shape(.sphere) }
        let ellipsoid = (model ?? allowed) == .ellipsoid ? Self.ellipsoid(samples) : nil
        if model == .ellipsoid, ellipsoid == nil { throw .shape(.ellipsoid) }
        let calibration = ellipsoid ?? sphere
        do {
            try check(calibration)
        } catch {
            // The iron of the device itself stretches the sphere, and only an ellipsoid, for which samples are missing, undoes it.
            guard case .fit(let percent, .sphere) = error, model == nil, allowed == .sphere,
                let stretched = MagnetometerFit.ellipsoid(samples),
                stretched.fitErrorPercent < Self.greatestErrorPercent
            else { throw error }
            throw .softIron(percent, missing: missing)
        }
        let centre = CentreError(of: calibration, samples)
        // Written so that NaN is refused as well.
        guard centre.greatest <= Self.greatestCentre else {
            throw .centre(centre.greatest * calibration.fieldMicrotesla, missing: missing)
        }
        return Finding(
            calibration: calibration, coverage: coverage,
            map: DirectionMap(samples, centre: calibration.hardIronMicrotesla), sampleCount: samples.count,
            glitchCount: finite.count - samples.count,
            spreadBeforePercent: Self.spread(samples),
            spreadAfterPercent: Self.spread(samples.map(calibration.apply)),
            centre: centre,
            sphereReason: model != nil || ellipsoid != nil ? nil : reason(allowed, coverage))
    }

    /// The share of the samples that has an axis at the end of its range, and by how many times these are more than those with the next
    /// number: of a sphere, the last step of a coarse sensor has as many as the step before.
    private static let (endShare, endFactor) = (0.05, 6)

    /// Throws where an axis is frozen, or at the end of its range.
    private static func requireRange(_ samples: [Vector3]) throws(MagnetometerRefusal) {
        for (axis, name) in ["x", "y", "z"].enumerated() {
            let values = samples.map { $0[axis] }.sorted()
            for values in [values, values.reversed()] {
                let count = values.prefix { $0 == values[0] }.count
                guard count < values.count else { throw .frozen(axis: name, values[0]) }
                let next = values.dropFirst(count).prefix { $0 == values[count] }.count
                let share = Double(count) / Double(values.count)
                guard share > endShare, count > endFactor * next else { continue }
                throw .range(axis: name, values[0], percent: 100 * share)
            }
        }
    }

    private func reason(_ allowed: MagnetometerFit.Model?, _ coverage: Coverage) -> SphereReason {
        allowed == .ellipsoid ? .shape : coverage.model == .ellipsoid ? .regions : .coverage
    }

    /// What may be fitted; `nil` when nothing may.
    ///
    /// A half of an ellipsoid is the half of many: with one missing the condition number may be small, the fit good, and the
    /// centre almost 5 µT off.
    package static func allowed(
        _ coverage: Coverage, _ missing: [DirectionRegion]
    ) -> MagnetometerFit.Model? {
        coverage.model == .ellipsoid && !missing.isEmpty ? .sphere : coverage.model
    }

    private func check(_ calibration: MagnetometerFit) throws(MagnetometerRefusal) {
        // Written so that NaN is refused as well.
        guard calibration.fitErrorPercent < Self.greatestErrorPercent else {
            throw .fit(calibration.fitErrorPercent, calibration.model)
        }
        let field = calibration.fieldMicrotesla
        guard Self.earthMicrotesla.contains(field) else { throw .field(field) }
        if let expected = expectedMicrotesla, !((field - expected).magnitude <= Self.placeShare * expected) {
            throw .place(field, expected: expected)
        }
    }

    private static func ellipsoid(_ samples: [Vector3]) -> MagnetometerFit? {
        guard let found = MagnetometerFit.ellipsoid(samples), found.stretch <= greatestStretch else {
            return nil
        }
        return found
    }

    /// From which directions samples have come, as well as that can be told before a calibration.
    ///
    /// Without enough coverage a fitted centre may be anywhere; the middle of the samples' box is at least among them.
    package static func map(_ samples: [Vector3]) -> DirectionMap {
        if let coverage = Coverage(samples), coverage.model != nil,
            let sphere = MagnetometerFit.sphere(samples)
        {
            return DirectionMap(samples, centre: sphere.hardIronMicrotesla)
        }
        guard var least = samples.first else { return DirectionMap([], centre: .zero) }
        var most = least
        for sample in samples {
            least = least.replacing(with: sample, where: sample .< least)
            most = most.replacing(with: sample, where: sample .> most)
        }
        return DirectionMap(samples, centre: (least + most) / 2)
    }

    /// Samples without the few that a bus has garbled: one in a hundred at most, off the fit by more than a fifth of the field and
    /// by far more than the others are.
    ///
    /// Least squares weigh a lone sample far outside like a direction, and one of them spoils the fit of thousands.
    ///
    /// A thinning of `seen` samples discards good ones and keeps nearly all garbled ones. They are a tenth of the rest at most, so that
    /// a long rest does not excuse iron near a short turn.
    package static func withoutGlitches(_ samples: [Vector3], seen: Int = 0) -> [Vector3] {
        let most = max(1, samples.count / 100, min(seen / 100, samples.count / 10))
        // The Earth's field turns no sample further than its diameter, stretched; a sample far beyond that is its own fit.
        let middle = Vector3(median(samples.map(\.x)), median(samples.map(\.y)), median(samples.map(\.z)))
        let near = samples.filter { ($0 - middle).length <= earthMicrotesla.upperBound * 2 * greatestStretch }
        var kept = samples.count - near.count <= most ? near : samples
        while kept.count >= leastSamples, let fit = ellipsoid(kept) ?? MagnetometerFit.sphere(kept) {
            let errors = kept.map { (fit.apply($0).length / fit.fieldMicrotesla - 1).magnitude }
            let limit = max(glitchShare, glitchFactor * median(errors))
            let rest = zip(kept, errors).filter { $1 <= limit }.map(\.0)
            guard rest.count < kept.count, samples.count - rest.count <= most else { break }
            kept = rest
        }
        return kept
    }

    private static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    /// The share of the field by which a glitch is off at least, and how many times as much as the median.
    private static let (glitchShare, glitchFactor) = (0.2, 12.0)

    private static func spread(_ samples: [Vector3]) -> Double {
        let lengths = samples.map(\.length)
        let mean = lengths.reduce(0, +) / Double(lengths.count)
        let square = lengths.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(lengths.count)
        return 100 * square.squareRoot() / mean
    }
}
