package import SensorGeometry

/// Finds when an accelerometer was held still, and what it read then.
///
/// A still phase is a second in which no sample leaves the mean of the phase by more than 0.5 m/s², which is 3° of tilt and
/// many times a sensor's noise.
package struct StillPhases: Sendable {
    /// What was read with one side up.
    package struct Rest: Sendable, Equatable {
        /// The mean, in m/s².
        package let mean: Vector3
        /// How many samples it is the mean of.
        package let count: Int
    }

    /// The longest rest of each position.
    package private(set) var rests: [Face: Rest] = [:]
    /// The position that is being held, if it is one and it is still.
    package private(set) var current: Face?
    /// The positions that the device was in, still or not.
    package private(set) var seen: Set<Face> = []
    /// How many samples were looked at.
    package private(set) var count = 0

    private var start: Int64?
    private var last: Int64 = 0
    private var sum = Vector3.zero
    private var phaseCount = 0
    /// Since when no other position than this was seen, still or not.
    private var stay: (face: Face, since: Int64)?

    private static let restNanoseconds: Int64 = 1_000_000_000
    /// What happened in a second without samples is not known.
    private static let gapNanoseconds: Int64 = 1_000_000_000
    private static let leastCount = 4
    private static let toleranceMetresPerSecondSquared = 0.5
    /// What a resting accelerometer reads, in m/s², if it is one.
    private static let range = 6.0...14.0

    package init() {}

    /// Takes the next sample.
    ///
    /// - Parameters:
    ///   - sample: In m/s².
    ///   - timeNanoseconds: Its stamp.
    package mutating func add(_ sample: Vector3, timeNanoseconds: Int64) {
        count += 1
        guard sample.isFinite else { return }
        observe(sample, timeNanoseconds)
        let isLater =
            start != nil && timeNanoseconds >= last && !Self.isOver(Self.gapNanoseconds, last, timeNanoseconds)
        let mean = sum / Double(max(1, phaseCount))
        if !isLater || (sample - mean).length > Self.toleranceMetresPerSecondSquared {
            start = timeNanoseconds
            sum = .zero
            phaseCount = 0
            current = nil
        }
        last = timeNanoseconds
        sum += sample
        phaseCount += 1
        closePhase()
    }

    private mutating func closePhase() {
        guard let start, phaseCount >= Self.leastCount, Self.isOver(Self.restNanoseconds - 1, start, last) else {
            return
        }
        let mean = sum / Double(phaseCount)
        guard Self.range.contains(mean.length), let face = Face(mean) else { return }
        current = face
        if phaseCount >= rests[face]?.count ?? 0 { rests[face] = Rest(mean: mean, count: phaseCount) }
    }

    /// Records a position that is held, even unsteadily.
    private mutating func observe(_ sample: Vector3, _ time: Int64) {
        guard let face = Face(sample) else {
            stay = nil
            return
        }
        if let stay, stay.face == face, time >= stay.since {
            if Self.isOver(Self.restNanoseconds, stay.since, time) { seen.insert(face) }
        } else {
            stay = (face, time)
        }
    }

    private static func isOver(_ limit: Int64, _ start: Int64, _ end: Int64) -> Bool {
        let (distance, overflow) = end.subtractingReportingOverflow(start)
        return overflow || distance > limit
    }

    /// The positions that were not held still yet.
    package var missing: [Face] { Face.allCases.filter { rests[$0] == nil } }
}
