/// Why samples give no calibration of a magnetometer that anybody should use.
package enum MagnetometerRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Too few samples that differ.
    case samples(Int)
    /// An axis reads one number in µT in all samples.
    case frozen(axis: String, Double)
    /// An axis reads no more than a number in µT, and reads that in so many percent of the samples.
    case range(axis: String, Double, percent: Double)
    /// The directions do not suffice, not even for a sphere.
    case coverage(Double, missing: [DirectionRegion])
    /// The directions suffice for a sphere, and an ellipsoid was asked for.
    case sphereAtMost(Double, missing: [DirectionRegion])
    /// No sphere or ellipsoid fits at all, or one that no iron makes of the Earth's field.
    case shape(MagnetometerFit.Model)
    /// The samples do not lie on what was fitted, in percent.
    case fit(Double, MagnetometerFit.Model)
    /// The samples do not lie on a sphere, by so many percent, but on an ellipsoid, for which regions are missing.
    case softIron(Double, missing: [DirectionRegion])
    /// The centre may be off by so many µT that no heading would be good enough.
    case centre(Double, missing: [DirectionRegion])
    /// The field is none that the Earth has, in µT.
    case field(Double)
    /// The field is not the one of the place, both in µT.
    case place(Double, expected: Double)

    /// A word for programs.
    package var name: String {
        switch self {
        case .samples: "samples"
        case .frozen: "frozen"
        case .range: "range"
        case .coverage: "coverage"
        case .sphereAtMost: "sphere_at_most"
        case .shape: "shape"
        case .fit: "fit"
        case .softIron: "soft_iron"
        case .centre: "centre"
        case .field: "field"
        case .place: "place"
        }
    }

    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .samples(let count):
            "only \(count) samples that differ, of \(MagnetometerJudge.leastSamples) at least: turn the device while it is "
                + "measured, and longer where the sensor is slow"
        case .frozen(let axis, let value):
            "\(axis) reads \(Self.text(value)) µT in all samples: turn the device about all axes, and where it was, this axis "
                + "of the sensor is frozen, or the column is another one's"
        case .range(let axis, let value, let percent):
            "\(axis) reads \(Self.text(value)) µT in \(Self.text(percent)) % of the samples, and nothing beyond: the end of the sensor's range, at "
                + "which no heading is right; choose a larger range, or move the sensor away from the iron"
        case .coverage(let condition, let missing):
            "the device was not turned through enough directions: coverage \(Self.text(condition)), and a sphere needs "
                + "\(Int(Coverage.sphereLimit)) or less; \(Self.advice(missing))"
        case .sphereAtMost(let condition, let missing):
            "coverage \(Self.text(condition)) allows a sphere at most, an ellipsoid needs \(Int(Coverage.ellipsoidLimit)) or "
                + "less and samples from everywhere; \(Self.advice(missing)), or ask for a sphere"
        case .shape(let model):
            "no \(model.rawValue) that a magnetic field could make fits the samples: was a magnet or iron moved near the "
                + "device?"
        case .fit(let percent, let model):
            "the samples are off the \(model.rawValue) by \(Self.text(percent)) %, at most "
                + "\(Int(MagnetometerJudge.greatestErrorPercent)) % is good enough: keep away from iron and magnets while "
                + "turning"
        case .softIron(let percent, let missing):
            "the samples are off a sphere by \(Self.text(percent)) %, as iron in the device itself makes them: an ellipsoid undoes "
                + "that, and needs samples from everywhere; \(Self.advice(missing))"
        case .centre(let error, let missing):
            "the centre may be off by \(Self.text(error)) µT, and no heading would be good enough with it; "
                + Self.advice(missing)
        case .field(let field):
            "the field would be \(Self.text(field)) µT, and the Earth's is from "
                + "\(Int(MagnetometerJudge.earthMicrotesla.lowerBound)) to "
                + "\(Int(MagnetometerJudge.earthMicrotesla.upperBound)) µT: something else is measured, or the scale is wrong"
        case .place(let field, let expected):
            "the field would be \(Self.text(field)) µT, and \(Self.text(expected)) µT is expected here: more than "
                + "\(Int(100 * MagnetometerJudge.placeShare)) % off; go where there is less iron, or check the sensor's scale"
        }
    }

    /// What a person is to do to have the missing regions.
    package static func advice(_ missing: [DirectionRegion]) -> String {
        switch missing.count {
        case 0: "keep turning, through all directions"
        case 1: "keep turning: \(missing[0].rawValue) is missing"
        case DirectionRegion.allCases.count: "keep turning: directions are missing on all sides"
        default:
            "keep turning: \(missing.dropLast().map(\.rawValue).joined(separator: ", ")) and "
                + "\(missing[missing.count - 1].rawValue) are missing"
        }
    }

    private static func text(_ value: Double) -> String {
        guard value < 1e6 else { return "beyond all measure" }
        let tenths = (value * 10).rounded() / 10
        return "\(tenths)"
    }
}
