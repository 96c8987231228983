/// The length of gravity in the samples of one accelerometer: 1 g, or what one with a wrong scale shows at rest.
///
/// The scale that a driver tells is wrong or missing for some devices of screens. An orientation needs the direction alone,
/// so another length is taken for gravity after it has lasted: the vector has to stay as it is for a time, which neither a
/// shake nor a free fall does.
struct GravityLength {
    /// The length, in g.
    private(set) var lengthG: Float = 1
    private let gateG: Float
    private let isLearned: Bool
    /// The squares of the total acceleration between which it is near that length, in (m/s²)².
    private var gate: ClosedRange<Float>
    /// The vector that may be gravity, and since when.
    private var candidate: (vector: SIMD3<Float>, timeNanoseconds: Int64)?

    /// How long a vector has to last, by how much it may differ meanwhile, as a part of its length, and its least length in
    /// g: what is left in a free fall is no gravity.
    private static let steady = (nanoseconds: Int64(300_000_000), part: Float(0.05), leastG: Float(0.2))

    init(gateG: Float, isLearned: Bool) {
        self.gateG = gateG
        self.isLearned = isLearned
        gate = Units.squares(near: gateG)
    }

    /// Whether a square of a length is near that of gravity, which learns nothing of it.
    func isNear(_ squared: Float) -> Bool { gate.contains(squared) }

    /// Whether the length of a vector is near gravity's.
    ///
    /// Neither a value that is no number nor one that is too large for a square is.
    mutating func accepts(_ force: SIMD3<Float>, squared: Float, at time: Int64) -> Bool {
        guard !gate.contains(squared) else {
            candidate = nil
            return true
        }
        guard isLearned, squared.isFinite else { return false }
        let length = squared.squareRoot() / Units.standardGravity
        guard length >= Self.steady.leastG else {
            candidate = nil
            return false
        }
        if let candidate {
            let change = force - candidate.vector
            if (change * change).sum() <= squared * Self.steady.part * Self.steady.part {
                guard time - candidate.timeNanoseconds >= Self.steady.nanoseconds else { return false }
                learn(length)
                return gate.contains(squared)
            }
        }
        candidate = (force, time)
        return false
    }

    /// Begins again with a vector that may be gravity.
    mutating func interrupt() { candidate = nil }

    private mutating func learn(_ length: Float) {
        candidate = nil
        lengthG = length
        let ends = Units.squares(near: gateG)
        gate = ends.lowerBound * length * length...ends.upperBound * length * length
    }
}
