import Binnacle
import Glibc
import SensorGeometry

/// What is wrong with the gyroscope's axes; 0 is x.
package enum AxisFinding: Sendable, Equatable {
    case reversed(axis: Int)
    case swapped(axis: Int, with: Int)
    /// It repeats one rate.
    case frozen
    /// It turns otherwise, in no way that has a name.
    case other
}

/// Compares turns of the gyroscope with those of the compass: a reversed or swapped axis gives a plausible, wrong heading.
///
/// A turn is compared as a rotation in space, from two attitudes that acceleration and field show by themselves to what the
/// gyroscope has turned between them. It counts from 30° on, where the acceleration is steady and the field the same; and from 60° of
/// the compass on where the gyroscope shows hardly any of it, as one whose rates come in the wrong unit.
///
/// A turn that differs counts against the gyroscope where two witnesses agree: gravity alone and the field alone, each turned by the
/// gyroscope from the earlier moment to now, are both elsewhere. A lurch to the side leaves the field where it was, and iron leaves
/// gravity. Of a turn about the vertical gravity knows nothing; there the field is enough when its iron is known.
///
/// In fast movement no two moments are steady. There the witnesses are means over seconds: gravity, averaged where the gyroscope's
/// turns are taken out, is too short, and no iron makes one field of what the magnetometer shows.
struct AxisCheck {
    private struct Anchor {
        let timeNanoseconds: Int64
        let integrated: Quaternion
        let frame: Matrix3
        let field: Vector3
        let strength: Double
        let dip: Double
    }

    private(set) var finding: AxisFinding?
    /// Whether the magnetometer turns otherwise than gyroscope and gravity.
    var isMagnetometerMisaligned: Bool { misaligned.isFound }
    private var misaligned = MisalignedMagnetometer()
    /// Whether movement speaks against the gyroscope, which is told when it lasts: until then a turn may show which axis it is.
    var isDoubted: Bool { doubtSeconds > 0 || turnDoubtSeconds > 0 }
    private var doubtSeconds = 0.0
    /// That of a steady field alone, which is off before a turn has shown which axis it is.
    private var turnDoubtSeconds = 0.0
    /// The axis of the compass' turns that differ.
    private var foundAxis: Int?
    /// For each axis, how many turns about it differ, less those that agree.
    private var scores = SIMD3<Int>.zero
    private var anchor: Anchor?
    private var acceleration = Vector3.zero
    private var field = Vector3.zero
    private var hasField = false
    /// Whether the magnetometer has measured since the last comparison; one that is frozen does not turn with the compass.
    private var isFieldNew = false
    private var secondsToNext = 0.0

    private static let enough = 2
    /// From here on a component is the axis of a turn.
    private static let clear = 0.8
    private static let smoothingSeconds = 0.1
    private static let interval = 0.1
    static let longestTurnSeconds = 10.0
    private static let leastTurn = 30 * Double.pi / 180
    private static let leastMissedTurn = 60 * Double.pi / 180
    /// The share of a turn of the compass from which on the gyroscope shows it.
    private static let shownShare = 0.25
    /// Of the turn, and at least so much in radians.
    private static let share = 0.5
    private static let leastDifference = 20 * Double.pi / 180
    /// That in a second in which an axis of the gyroscope has repeated its value to the last bit.
    private static let frozenDifference = 5 * Double.pi / 180
    /// How far both sensors are behind: the delay of the smoothing.
    private static let lag: Int64 = 100_000_000
    private static let fastest = 200 * Double.pi / 180
    /// How far a witness is off who speaks against the gyroscope: the cosine of 15°.
    private static let witnessCosine = 0.9659
    /// How near an axis is to the vertical, as a cosine, for gravity to know nothing of a turn about it: 30°.
    private static let uprightCosine = 0.866
    /// The share of unexplained fields, and that of gravity's length, at which both speak against the gyroscope, and for it.
    static let wrong = (misfit: 0.3, length: 0.85)
    static let right = (misfit: 0.1, length: 0.95)
    /// In seconds, and by how much more slowly it is forgotten: a right gyroscope is doubted in none of the recordings.
    private static let longestDoubt = 4.0
    private static let forgettingShare = 0.1
    /// A scale that is further off is no tolerance.
    private static let largestScaleError = 0.1
    // What a steady acceleration and an unchanged field are.
    private static let accelerationNoise = 1.0
    private static let gravity = 9.2...10.4
    static let fieldShare = 0.08
    private static let dipChange = 6 * Double.pi / 180

    /// Forgets the turn that is under way, because a part of it was not measured.
    mutating func interrupt() {
        anchor = nil
        misaligned.interrupt()
    }

    /// Takes what movement of any kind shows of the gyroscope.
    ///
    /// - Parameters:
    ///   - misfit: The share of the fields of the last seconds that no iron explains.
    ///   - gravity: The length of the mean acceleration where the device's turning is taken out, in g.
    ///   - scaleError: By how much the gyroscope's scale is off, less its uncertainty.
    ///   - fieldTurn: By how much it has turned a steady field in a second, in radians.
    ///   - isRateFrozen: Whether an axis repeats its value to the last bit while the others turn.
    ///   - isTurning: Whether the device turns so fast that the misfit says something of it.
    ///   - seconds: The time since it was shown last.
    mutating func addMovement(
        misfit: Double, gravity: Double, scaleError: Double, fieldTurn: Double, isRateFrozen: Bool, isTurning: Bool,
        seconds: Double
    ) {
        misaligned.update(misfit: misfit, seconds: isTurning ? seconds : 0)
        guard !clearGyroscope() else {
            Self.count(false, seconds, &doubtSeconds)
            Self.count(false, seconds, &turnDoubtSeconds)
            return
        }
        // Iron that is learned again explains any field for a while; gravity goes on then.
        let isFieldOff = misfit > Self.wrong.misfit || doubtSeconds > 0
        let isWrong = scaleError > Self.largestScaleError || isFieldOff && gravity < Self.wrong.length
        let isFrozen = isRateFrozen && (fieldTurn > Self.frozenDifference || misfit > Self.wrong.misfit)
        let isTurned = isFrozen || fieldTurn > Self.leastDifference
        Self.count(isWrong, seconds, &doubtSeconds)
        Self.count(isTurned, seconds / 2, &turnDoubtSeconds)
        if isWrong || isTurned {
            if finding == nil, max(doubtSeconds, turnDoubtSeconds) >= Self.longestDoubt {
                (finding, foundAxis) = (.other, nil)
            }
            return
        }
        if finding != nil, foundAxis == nil, misfit < Self.right.misfit, gravity > Self.right.length {
            finding = nil
        }
    }

    /// Takes back what was found where turns speak against the magnetometer instead; returns whether they do.
    private mutating func clearGyroscope() -> Bool {
        guard misaligned.isSuspected else { return false }
        if misaligned.isFound {
            (finding, foundAxis, scores, doubtSeconds, turnDoubtSeconds) = (nil, nil, .zero, 0, 0)
        }
        return true
    }

    private static func count(_ isOff: Bool, _ seconds: Double, _ doubt: inout Double) {
        doubt = isOff ? min(doubt + seconds, longestDoubt) : max(doubt - forgettingShare * seconds, 0)
    }

    mutating func addField(_ sample: Vector3, seconds: Double) {
        isFieldNew = true
        if hasField {
            field += (sample - field) * (seconds / (Self.smoothingSeconds + seconds))
        } else {
            field = sample
            hasField = true
        }
    }

    mutating func addAcceleration(
        _ sample: Vector3, restRate: Vector3, history: OrientationHistory, isIronKnown: Bool, at time: Int64,
        seconds: Double
    ) {
        if seconds > 0 {
            acceleration += (sample - acceleration) * (seconds / (Self.smoothingSeconds + seconds))
        } else {
            acceleration = sample
        }
        secondsToNext -= seconds
        guard secondsToNext <= 0 else { return }
        secondsToNext = Self.interval
        let size = length(acceleration)
        guard isFieldNew, Self.gravity.contains(size), length(sample - acceleration) < Self.accelerationNoise,
            length(restRate) < Self.fastest, let integrated = history.rotation(at: Units.later(time, by: -Self.lag))
        else { return }
        isFieldNew = false
        misaligned.update(
            MisalignedMagnetometer.Moment(
                timeNanoseconds: time, rotation: integrated, up: acceleration / size, field: field / length(field),
                strength: length(field)))
        guard !clearGyroscope() else { return }
        evaluate(at: time, integrated, size, isIronKnown)
    }

    private mutating func evaluate(at time: Int64, _ integrated: Quaternion, _ size: Double, _ isIronKnown: Bool) {
        let eastward = cross(field, acceleration)
        let (level, strength) = (length(eastward), length(field))
        guard level > 0.1 * size * strength else { return }
        let up = acceleration / size
        let east = eastward / level
        let now = Anchor(
            timeNanoseconds: time, integrated: integrated, frame: Matrix3(east, cross(up, east), up),
            field: field / strength, strength: strength, dip: atan2(-dot(field, up), level / size))
        guard let anchor, Units.seconds(from: anchor.timeNanoseconds, to: time) <= Self.longestTurnSeconds else {
            self.anchor = now
            return
        }
        let turned = anchor.integrated.conjugate * integrated
        // From the frame of now to that of the anchor, as the gyroscope's turn is.
        let compass = Quaternion(anchor.frame.transposed * now.frame)
        let isMissed = compass.angle >= Self.leastMissedTurn && turned.angle < Self.shownShare * compass.angle
        guard turned.angle >= Self.leastTurn || isMissed else { return }
        self.anchor = now
        guard abs(now.strength - anchor.strength) < Self.fieldShare * anchor.strength,
            abs(now.dip - anchor.dip) < Self.dipChange
        else { return }
        let isGravityOff = dot(turned.conjugate.rotate(anchor.frame.z), up) < Self.witnessCosine
        let isFieldOff = dot(turned.conjugate.rotate(anchor.field), now.field) < Self.witnessCosine
        let turn = compass.rotationVector
        let isUpright = abs(dot(turn, up)) > Self.uprightCosine * length(turn)
        judge(
            gyroscope: turned, compass: compass,
            isWitnessed: isFieldOff && (isGravityOff || isUpright && isIronKnown))
    }

    private mutating func judge(gyroscope: Quaternion, compass: Quaternion, isWitnessed: Bool) {
        let turn = max(gyroscope.angle, compass.angle)
        // A compass that does not turn at all is held by a magnet.
        guard compass.angle > Self.leastTurn / 2 else { return }
        let difference = (compass.conjugate * gyroscope).angle
        let axis = compass.rotationVector.largestAxis
        guard difference > max(Self.share * turn, Self.leastDifference) else {
            scores[axis] = max(scores[axis] - 1, -Self.enough)
            if foundAxis == axis, scores[axis] < 0 { (finding, foundAxis) = (nil, nil) }
            return
        }
        guard isWitnessed else { return }
        scores[axis] = min(scores[axis] + 1, Self.enough)
        guard scores[axis] == Self.enough else { return }
        let isMissed = gyroscope.angle < Self.shownShare * compass.angle
        finding = isMissed ? .other : Self.name(gyroscope.rotationVector, compass.rotationVector)
        foundAxis = axis
    }

    private static func name(_ gyroscope: Vector3, _ compass: Vector3) -> AxisFinding {
        let (seen, expected) = (gyroscope.largestAxis, compass.largestAxis)
        guard abs(gyroscope[seen]) > clear * length(gyroscope), abs(compass[expected]) > clear * length(compass) else {
            return .other
        }
        if seen != expected { return .swapped(axis: min(seen, expected), with: max(seen, expected)) }
        return gyroscope[seen] * compass[seen] < 0 ? .reversed(axis: seen) : .other
    }
}

extension Quaternion {
    /// The rotation with a matrix, whose rows are orthonormal.
    init(_ m: Matrix3) {
        // By the largest of the four, so that nothing is divided by a small number.
        let trace = m.x.x + m.y.y + m.z.z
        let candidates = (trace, m.x.x, m.y.y, m.z.z)
        if trace >= max(candidates.1, candidates.2, candidates.3) {
            let s = 2 * (1 + trace).squareRoot()
            self.init(w: s / 4, x: (m.z.y - m.y.z) / s, y: (m.x.z - m.z.x) / s, z: (m.y.x - m.x.y) / s)
        } else if m.x.x >= max(m.y.y, m.z.z) {
            let s = 2 * (1 + m.x.x - m.y.y - m.z.z).squareRoot()
            self.init(w: (m.z.y - m.y.z) / s, x: s / 4, y: (m.x.y + m.y.x) / s, z: (m.x.z + m.z.x) / s)
        } else if m.y.y >= m.z.z {
            let s = 2 * (1 + m.y.y - m.x.x - m.z.z).squareRoot()
            self.init(w: (m.x.z - m.z.x) / s, x: (m.x.y + m.y.x) / s, y: s / 4, z: (m.y.z + m.z.y) / s)
        } else {
            let s = 2 * (1 + m.z.z - m.x.x - m.y.y).squareRoot()
            self.init(w: (m.y.x - m.x.y) / s, x: (m.x.z + m.z.x) / s, y: (m.y.z + m.z.y) / s, z: s / 4)
        }
    }
}
