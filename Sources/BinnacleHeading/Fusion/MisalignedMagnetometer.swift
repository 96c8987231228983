import Binnacle
import Glibc
import SensorGeometry

/// Finds a magnetometer whose axes are not those of the gyroscope and the accelerometer, as on a chip of its own whose mount matrix is
/// another one.
///
/// A turn that tilts the device shows each pair of sensors by itself: gravity is where the gyroscope has turned it, so is the field,
/// and the angle between both, the dip, has not changed. A magnetometer with other axes is off in its two pairs, and the third agrees.
struct MisalignedMagnetometer {
    /// Directions at a moment, in the device's frame.
    struct Moment {
        let timeNanoseconds: Int64
        /// From the device's frame to one that does not turn.
        let rotation: Quaternion
        let up: Vector3
        let field: Vector3
        let strength: Double
    }

    private(set) var isFound = false
    /// Whether turns speak against the magnetometer, so that what the field shows does not speak against the gyroscope.
    var isSuspected: Bool { isFound || scores.max() > 0 && unexplainedSeconds > 0 }

    /// For each axis of a turn, how many speak against it, less those in which all agree: a reversed axis is not seen in turns about it.
    private var scores = SIMD3<Int>.zero
    private var start: Moment?
    /// For how long no iron has explained the field, in seconds of turning.
    private var unexplainedSeconds = 0.0

    private static let enough = 3
    /// In radians, 20°: by how much the gyroscope has tilted the device.
    private static let leastTilt = 20 * Double.pi / 180
    /// In radians: what agrees, and what is off.
    private static let (agreeing, off, dipOff) = (10 * Double.pi / 180, 20 * Double.pi / 180, 10 * Double.pi / 180)
    /// For how long iron does not explain the field, in seconds: a magnet that passes is forgotten sooner.
    private static let leastUnexplained = 4.0

    /// Forgets the turn that is under way, because a part of it was not measured.
    mutating func interrupt() { start = nil }

    /// Takes the share of the fields of the last seconds that no iron explains, and the seconds of turning since it was taken last.
    mutating func update(misfit: Double, seconds: Double) {
        if misfit > AxisCheck.wrong.misfit {
            unexplainedSeconds = min(unexplainedSeconds + seconds, 2 * Self.leastUnexplained)
        } else if misfit < AxisCheck.right.misfit {
            unexplainedSeconds = max(unexplainedSeconds - seconds, 0)
            // It was iron, until it was learned, or a magnet that has passed.
            if unexplainedSeconds == 0 { scores = pointwiseMin(scores, .zero) }
        }
        decide()
    }

    /// Takes a moment in which the acceleration is steady.
    mutating func update(_ now: Moment) {
        guard let start,
            Units.seconds(from: start.timeNanoseconds, to: now.timeNanoseconds) <= AxisCheck.longestTurnSeconds
        else {
            self.start = now
            return
        }
        // From the frame of the start to that of now.
        let turn = now.rotation.conjugate * start.rotation
        let up = turn.rotate(start.up)
        guard Self.angle(start.up, up) > Self.leastTilt else { return }
        self.start = now
        guard Self.angle(up, now.up) < Self.agreeing,
            abs(now.strength - start.strength) < AxisCheck.fieldShare * start.strength
        else { return }
        let fieldError = Self.angle(turn.rotate(start.field), now.field)
        let dipError = abs(Self.angle(start.up, start.field) - Self.angle(now.up, now.field))
        let axis = turn.rotationVector.largestAxis
        if fieldError < Self.agreeing {
            scores[axis] = max(scores[axis] - 1, -Self.enough)
        } else if fieldError > Self.off, dipError > Self.dipOff {
            scores[axis] = min(scores[axis] + 1, Self.enough)
        }
        decide()
    }

    private mutating func decide() {
        if isFound {
            isFound = scores.max() > 0
        } else {
            isFound = scores.max() == Self.enough && unexplainedSeconds >= Self.leastUnexplained
        }
    }

    /// Between unit vectors.
    private static func angle(_ a: Vector3, _ b: Vector3) -> Double { acos(min(max(dot(a, b), -1), 1)) }
}

extension Vector3 {
    /// The axis with the largest component; 0 is x.
    var largestAxis: Int {
        let size = Vector3(abs(x), abs(y), abs(z))
        return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2
    }
}
