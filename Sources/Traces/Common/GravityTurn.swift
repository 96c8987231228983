import Binnacle
import Glibc
import SensorGeometry

/// The unit of a gyroscope's columns, which the recording's accelerometer has to confirm.
struct UnsettledRate {
    /// The names of the columns, for messages.
    let names: String
    /// The columns for `--map`, with a sign.
    let columns: [String]
    /// The stated unit, or else the assumed one.
    let unit: TraceUnit
    let isStated: Bool
    /// Whether the unit of the times is assumed.
    let isTimeAssumed: Bool
    /// Whether the first values are whole, as raw numbers of a sensor are, and no line before the rows says their unit.
    let mayBeCounts: Bool
    /// Why the assumed unit is likely; empty if it is only the usual one.
    let reason: String

    private static let units = Quantity.of(.gyroscope).units

    /// What the user has to know about a gyroscope that is left out after a verdict; `nil` for one that is played.
    ///
    /// `areWhole` is whether all values that the verdict has read are whole, and some are not 0.
    func leftOut(_ verdict: GravityTurn.Verdict, areWhole: Bool) -> String? {
        let areCounts = mayBeCounts && areWhole
        let why: String
        switch verdict {
        case .otherUnit(let unit):
            return
                "\(names) left out: gravity turns with them, and in no unit of a gyroscope as they say; "
                + "--map '\(mapping(unit, isReversed: false))' fits"
        // A larger unit is excluded, and whole numbers seldom have a smaller one.
        case .remains(let found) where areCounts:
            let larger = Self.units[found - 1].name
            why = "they are whole numbers, and gravity stays where it is, which \(larger) would turn"
        case .open where areCounts && !isStated, .exceeds where areCounts && !isStated:
            why = "they are whole numbers, and no turn of gravity says their unit"
        case .open, .fits, .remains, .exceeds: return nil
        }
        return
            "\(names) left out: \(why), so that they seem to be raw numbers of the sensor. Say with --map how many are one "
            + "°/s, as in '\(mapping("deg/s/131", isReversed: false))', or name their unit there (deg/s, mdps, mrad/s)"
    }

    /// The unit after a verdict, and what the user has to know.
    func settled(_ verdict: GravityTurn.Verdict) -> (unit: TraceUnit, message: String?) {
        let known = Self.units.firstIndex { abs($0.unit.factor / unit.factor - 1) < 0.3 }
        var (index, isReversed, why) = (known ?? 0, false, "")
        switch verdict {
        case .open where isStated, .otherUnit where isStated, .exceeds where isStated: return (unit, nil)
        case .open where reason.isEmpty:
            let map = mapping(Self.units[1].option, isReversed: false)
            return (
                unit,
                "no unit for \(names): taken as \(Self.units[0].name), an assumption: no turn of gravity confirms it. If they are in "
                    + "\(Self.units[1].name), say so with --map '\(map)'"
            )
        case .open:
            return (unit, "no unit for \(names): taken as \(Self.units[index].name), \(reason) (override with --map)")
        case .otherUnit(let option):
            return (
                unit,
                "no unit for \(names): taken as \(Self.units[index].name), in which they do not turn as gravity does; "
                    + "--map '\(mapping(option, isReversed: false))' fits"
            )
        case .exceeds(let found):
            (index, why) = (
                found, "because no gyroscope measures as much as the largest in \(Self.units[found - 1].name)"
            )
        case .fits(let found, let isOther):
            (index, isReversed, why) = (found, isOther, "because then they turn as gravity does")
        case .remains(let found) where !isStated:
            let (unit, map) = (Self.units[found], mapping("deg/s/131", isReversed: false))
            return (
                unit.unit,
                "no unit for \(names): taken as \(unit.name), an assumption: \(Self.units[found - 1].name) would turn gravity, which "
                    + "stays, and no turn of it confirms another unit. If they are raw numbers of the sensor, say with --map how "
                    + "many are one °/s, as in '\(map)'"
            )
        case .remains(let found):
            // Smaller stated units are not excluded.
            if known.map({ $0 >= found }) ?? true { return (unit, nil) }
            (index, why) = (found, "because gravity stays where it is, which \(Self.units[found - 1].name) would turn")
        }
        var messages: [String] = []
        let name = Self.units[index].name
        if !isStated {
            messages.append("no unit for \(names): taken as \(name), \(why) (override with --map)")
        } else if index != known {
            messages.append(
                isTimeAssumed
                    ? "\(names): the stated unit does not fit the times, whose unit is assumed: say which it is with --map "
                        + "'time=COLUMN:UNIT'"
                    : "\(names): the stated unit does not fit; \(name) does, \(why) (override with --map)")
        }
        if isReversed {
            messages.append(
                "\(names): gravity turns the other way, so that the axes are left-handed or have the other sign: if it is so, "
                    + "--map '\(mapping(Self.units[index].option, isReversed: true))' reverses them")
        }
        return (isStated ? unit : Self.units[index].unit, messages.isEmpty ? nil : messages.joined(separator: ". "))
    }

    private func mapping(_ unit: String, isReversed: Bool) -> String {
        zip(["gx", "gy", "gz"], columns).map { target, column in
            let isNegative = column.hasPrefix("-")
            let name = isNegative ? String(column.dropFirst()) : column
            return "\(target)=\(isNegative != isReversed ? "-" : "")\(name):\(unit)"
        }.joined(separator: ",")
    }
}

/// Decides the unit of a gyroscope without one by the accelerometer of the same recording: turned by the gyroscope, gravity has to
/// come out where the accelerometer has it.
///
/// A window of 0.3 s counts for a unit if gravity would turn by more than 7° in it. A unit fits if it explains most of the turns
/// that are measured. It is excluded if gravity would turn, and stays: a gyroscope in °/s that lies still, read in rad/s, does so.
struct GravityTurn {
    /// What follows from the samples.
    enum Verdict: Equatable {
        /// They do not tell.
        case open
        /// The unit at this index of the gyroscope's ``Quantity/units`` explains how gravity turns, or, reversed, does so with
        /// all axes the other way round.
        case fits(Int, isReversed: Bool)
        /// All units before this one would turn gravity, which stays.
        case remains(Int)
        /// Gravity turns with the gyroscope, in another unit, such as raw numbers: the unit for `--map`.
        case otherUnit(String)
        /// No gyroscope measures as much as the largest value is in the units before this one.
        case exceeds(Int)

        /// Whether gravity was seen to turn with the gyroscope.
        var isTurn: Bool { if case .fits = self { true } else { false } }
    }

    /// How far gravity turned and would have turned in the windows of one unit, as sums of squares.
    private struct Evidence {
        var windowCount = 0
        var predicted = 0.0
        var measured = 0.0
        /// What is left unexplained with the axes as they are, and reversed.
        var left = [0.0, 0.0]

        var unexplained: Double { min(left[0], left[1]) / max(measured, .leastNonzeroMagnitude) }
        /// A single turn by a right angle is enough: units differ by more than gravity is disturbed.
        var isFitting: Bool { windowCount >= 12 || windowCount >= 6 && measured > 0.5 ? unexplained < 0.3 : false }
        var isExcluded: Bool {
            windowCount >= 12 && predicted > 4 * measured && min(left[0], left[1]) > measured
        }
    }

    private static let windowNanoseconds: Int64 = 300_000_000
    /// The acceleration at both ends of a window is a mean over twice this time.
    private static let meanNanoseconds: Int64 = 40_000_000
    /// Scales in rad/s of raw numbers, none of them near that of a unit; each fits within a third.
    private static let otherScales = [
        4e-5, 6e-5, 9e-5, 1.35e-4, 2e-4, 3e-4, 4.5e-4, 6.8e-4, 1e-3, 1.5e-3, 2.3e-3, 3.4e-3, 5e-3, 7.6e-3,
    ]
    /// The smallest predicted turn that counts; the offset of a cheap gyroscope, 0.35 rad/s, turns less.
    private static let leastTurn = 0.12
    private static let gravity = (0.75 * Gravity.standard)...(1.25 * Gravity.standard)

    let verdict: Verdict

    /// Compares an accelerometer, in m/s², with a gyroscope, in any unit.
    init(acceleration: [Sample], rate: [Sample]) {
        let evidence = Self.evidence(acceleration, rate, Quantity.of(.gyroscope).units.map(\.unit.factor))
        let fitting = evidence.indices.filter { evidence[$0].isFitting }
        if let best = fitting.min(by: { evidence[$0].unexplained < evidence[$1].unexplained }) {
            verdict = .fits(best, isReversed: evidence[best].left[1] < evidence[best].left[0])
        } else if let index = evidence.firstIndex(where: { !$0.isExcluded }), index > 0 {
            verdict = Self.otherUnit(acceleration, rate).map { .otherUnit($0) } ?? .remains(index)
        } else {
            verdict = .open
        }
    }

    /// The unit for `--map` in which raw numbers turn as gravity does; `nil` if there is none.
    private static func otherUnit(_ acceleration: [Sample], _ rate: [Sample]) -> String? {
        func best(_ scales: [Double]) -> Double? {
            zip(scales, evidence(acceleration, rate, scales)).filter(\.1.isFitting)
                .min { $0.1.unexplained < $1.1.unexplained }?.0
        }
        guard let rough = best(otherScales), let scale = best((-20...20).map { rough * pow(1.02, Double($0)) }) else {
            return nil
        }
        func isNear(_ other: Double) -> Bool { abs(scale / other - 1) < 0.03 }
        if isNear(1e-3) { return "mrad/s" }
        let counts = [16.4, 32.8, 65.5, 131].first { isNear(.pi / 180 / $0) } ?? (.pi / 180 / scale)
        return "deg/s/\(VectorStatistics.optionText(counts))"
    }

    /// What speaks for each of some scales, in rad/s.
    private static func evidence(_ acceleration: [Sample], _ rate: [Sample], _ scales: [Double]) -> [Evidence] {
        var evidence = scales.map { _ in Evidence() }
        var begin = 0
        while begin < acceleration.count {
            let first = acceleration[begin].timeNanoseconds
            let end = (begin..<acceleration.count).partitionPoint {
                acceleration[$0].timeNanoseconds < Units.later(first, by: Self.windowNanoseconds)
            }
            let next = (begin..<acceleration.count).partitionPoint {
                acceleration[$0].timeNanoseconds < Units.later(first, by: Self.windowNanoseconds / 2)
            }
            defer { begin = max(next, begin + 1) }
            guard end < acceleration.count, case let last = acceleration[end].timeNanoseconds,
                last < Units.later(first, by: 2 * Self.windowNanoseconds),
                let before = Self.direction(acceleration, at: first),
                let after = Self.direction(acceleration, at: last)
            else { continue }
            let turns = Self.rates(rate, from: first, to: last)
            guard turns.count > 2 else { continue }
            for (index, scale) in scales.enumerated() {
                let predicted = [1.0, -1.0].map { sign in
                    // A direction that stays in the world turns back in the device's axes.
                    turns.reduce(before) {
                        Quaternion(rate: $1, seconds: -sign * scale).rotate($0)
                    }
                }
                let turn = length(predicted[0] - before)
                guard turn > Self.leastTurn else { continue }
                evidence[index].windowCount += 1
                evidence[index].predicted += turn * turn
                evidence[index].measured += (after - before).squaredLength
                for side in 0...1 { evidence[index].left[side] += (after - predicted[side]).squaredLength }
            }
        }
        return evidence
    }

    /// The direction of the acceleration around a stamp; `nil` where it is not about as large as gravity.
    private static func direction(_ samples: [Sample], at time: Int64) -> Vector3? {
        let from = Units.later(time, by: -meanNanoseconds)
        let to = Units.later(time, by: meanNanoseconds)
        let first = samples.indices.partitionPoint { samples[$0].timeNanoseconds < from }
        let end = samples.indices.partitionPoint { samples[$0].timeNanoseconds <= to }
        guard first < end else { return nil }
        let sum = samples[first..<end].reduce(Vector3.zero) { $0 + $1.vector }
        let size = length(sum)
        return gravity.contains(size / Double(end - first)) ? sum / size : nil
    }

    /// The turns between a gyroscope's samples, in its unit times seconds; none where samples are missing.
    private static func rates(_ samples: [Sample], from first: Int64, to last: Int64) -> [Vector3] {
        let begin = samples.indices.partitionPoint { samples[$0].timeNanoseconds <= first }
        let end = samples.indices.partitionPoint { samples[$0].timeNanoseconds < last }
        guard begin > 0, begin <= end, end < samples.count else { return [] }
        var turns: [Vector3] = []
        for index in begin...end {
            let (one, other) = (samples[index - 1], samples[index])
            guard other.timeNanoseconds < Units.later(one.timeNanoseconds, by: windowNanoseconds / 2) else { return [] }
            let nanoseconds = min(other.timeNanoseconds, last) - max(one.timeNanoseconds, first)
            turns.append((one.vector + other.vector) * (0.5e-9 * Double(nanoseconds)))
        }
        return turns
    }
}

extension Sample {
    fileprivate var vector: Vector3 { Vector3(Double(x), Double(y), Double(z)) }
}
