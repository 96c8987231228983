/// The length of gravity in the samples of one accelerometer: 1 g, or what one with a wrong scale shows at rest.
///
/// The scale that a driver tells is wrong or missing for some devices of screens. An orientation needs the direction alone,
/// so another length is taken for gravity when a vector stays as it is for ``patience``. Neither a shake nor a free fall
/// does, nor the crest of a wave; and once gravity has been seen at a length, a bend of a road or a turn of an aircraft
/// is too short for another one. 1 g needs no such proof: it is what most devices show, so it counts again as soon as it
/// has lasted, also in a hand.
package struct GravityLength {
    package private(set) var lengthG: Float = 1
    private let gateG: Float
    private let isLearned: Bool
    /// The squares of the total acceleration between which it is near that length, in (m/s²)².
    private var gate: ClosedRange<Float>
    /// The same for half of the gate, in which the samples of a device with that length are most of the time.
    private var core: ClosedRange<Float>
    /// The same as ``gate`` for 1 g.
    private let unit: ClosedRange<Float>
    /// Whether the length was seen for ``settlingNanoseconds``, so that it is no accident.
    private var isSettled = false
    /// Since when the samples are in ``core`` without a break, and since when near 1 g while another length counts.
    private var coreSince: Int64?
    private var unitSince: Int64?
    /// The vector that may be gravity, and since when.
    private var candidate: (vector: SIMD3<Float>, timeNanoseconds: Int64)?

    /// How long a vector of another length has to last before the length counts: at the start, and when another one is
    /// settled.
    ///
    /// The crest of a wave of 8 s that shows 1.3 g is steady for 1.5 s.
    private static let patience = (
        nanoseconds: Int64(OrientationSettings.lengthPatienceSeconds) * 1_000_000_000,
        settledNanoseconds: Int64(30_000_000_000)
    )
    /// How long a vector has to last before its direction counts while no length is known: two readings of a polled device.
    private static let directionNanoseconds = Int64(OrientationSettings.directionPatienceSeconds * 1e9)
    /// How long a length has to be seen before it is settled.
    private static let settlingNanoseconds: Int64 = 500_000_000
    /// How long 1 g has to be seen before it counts again.
    private static let returnNanoseconds: Int64 = 1_000_000_000
    /// By how much a vector that lasts may differ meanwhile, as a part of its length, and its least length in g: what is
    /// left in a free fall is no gravity.
    private static let steady = (part: Float(0.05), leastG: Float(0.2))

    package init(gateG: Float, isLearned: Bool) {
        self.gateG = gateG
        self.isLearned = isLearned
        unit = Units.squares(near: gateG)
        gate = unit
        core = Units.squares(near: gateG / 2)
    }

    /// Whether the length of a vector is near gravity's.
    ///
    /// Neither a value that is no number nor one that is too large for a square is.
    package mutating func accepts(_ force: SIMD3<Float>, squared: Float, at time: Int64) -> Bool {
        guard isLearned else { return gate.contains(squared) }
        if lengthG != 1, Self.hasLasted(Self.returnNanoseconds, unit.contains(squared), since: &unitSince, time) {
            use(1)
        }
        if Self.hasLasted(Self.settlingNanoseconds, core.contains(squared), since: &coreSince, time) {
            isSettled = true
        }
        guard !gate.contains(squared) else {
            candidate = nil
            return true
        }
        let length = squared.squareRoot() / Units.standardGravity
        guard squared.isFinite, length >= Self.steady.leastG else {
            candidate = nil
            return false
        }
        if let candidate {
            let change = force - candidate.vector
            if (change * change).sum() <= squared * Self.steady.part * Self.steady.part {
                let patience = isSettled ? Self.patience.settledNanoseconds : Self.patience.nanoseconds
                guard time >= Units.later(candidate.timeNanoseconds, by: patience) else { return false }
                use(length)
                return gate.contains(squared)
            }
        }
        candidate = (force, time)
        return false
    }

    /// Whether a vector that was not accepted shows where up is nonetheless: it lasts, and no length is known yet.
    ///
    /// A direction needs no length, and a wrong one would be mended by the samples that follow.
    func showsDirection(at time: Int64) -> Bool {
        guard isLearned, lengthG == 1, !isSettled, let candidate else { return false }
        return time >= Units.later(candidate.timeNanoseconds, by: Self.directionNanoseconds)
    }

    /// Begins again with a vector that may be gravity, after a gap.
    package mutating func interrupt() { (candidate, coreSince, unitSince) = (nil, nil, nil) }

    /// Whether something holds, and has held for a time.
    private static func hasLasted(_ nanoseconds: Int64, _ holds: Bool, since: inout Int64?, _ time: Int64) -> Bool {
        guard holds else {
            since = nil
            return false
        }
        let first = min(since ?? time, time)
        since = first
        return time >= Units.later(first, by: nanoseconds)
    }

    private mutating func use(_ length: Float) {
        interrupt()
        (lengthG, isSettled) = (length, false)
        let scale = length * length
        gate = unit.lowerBound * scale...unit.upperBound * scale
        let half = Units.squares(near: gateG / 2)
        core = half.lowerBound * scale...half.upperBound * scale
    }
}
