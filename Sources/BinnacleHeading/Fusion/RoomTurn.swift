import Binnacle
import Glibc
import SensorGeometry

/// By how much the field about the device has turned about the vertical since the heading was found, as the steel of a room turns it.
///
/// The gyroscope shows that within seconds, whatever the strength and the dip say. Which of the two fields is the Earth's nothing
/// says. So the heading follows the one that is there, and what it has followed is in the accuracy until the field turns back.
struct RoomTurn {
    /// How much of the field's turn the heading has followed, in radians.
    private(set) var followed = 0.0
    var isTurning: Bool { countingSeconds > 0 }
    /// By how much the field has turned, counter-clockwise.
    private var turned = 0.0
    /// The field now, of late and at last, in the frame that the gyroscope keeps, and for how long it was seen.
    private var fields: (now: Vector3, before: Vector3, last: Vector3, seconds: Double)?
    /// The field before a step, until the mean behind the one in which it came.
    private var fieldBeforeStep: Vector3?
    /// For how long each turn of the field counts still, and for how long it has been half of one that counts.
    private var (countingSeconds, beginSeconds) = (0.0, 0.0)

    /// In the last of these a device is in another room; what takes longer is an offset of the gyroscope.
    static let (nowSeconds, beforeSeconds, longestBegin) = (0.7, 6.0, 3.0)
    /// In radians, 10°; and a field that stays is the Earth's after so many seconds, for all that is known.
    private static let (leastTurn, forgettingSeconds) = (10 * Double.pi / 180, 300.0)
    /// In radians, 15° and 45° from one field to the next: no room turns it so soon, but a current that is switched on, and further a turn
    /// that the gyroscope has not seen.
    private static let (mostStep, mostCurrent) = (15 * Double.pi / 180, 45 * Double.pi / 180)
    /// In rad/s, 86°/s: in faster turns the delays of the sensors look like a step.
    private static let slowSpeed = 1.5
    /// By so many standard deviations noise turns no mean.
    private static let clearNoise = 4.0

    /// Forgets the last fields, because the frame is another one; the turn with them, where it was iron of the device.
    mutating func interrupt(isOfDevice: Bool = false) {
        (fields, fieldBeforeStep, countingSeconds) = (nil, nil, 0)
        if isOfDevice { turned = 0 }
    }

    /// Takes by how much the heading was corrected, clockwise, and the share of the disagreement that it was: it has followed the field
    /// by no more, or is a new one.
    mutating func follow(_ correction: Double, gain: Double) {
        let whole = gain * (turned - followed)
        let share = gain == 1 ? 1 : whole * correction > 0 ? min(correction / whole, 1) : 0
        followed += share * whole
    }

    /// Takes the mean of a field without iron in the frame that the gyroscope keeps, the rotation from there to a level one, and the
    /// standard deviation of what else may turn it within ``beforeSeconds``, and of its noise, in radians; `speed` is how fast the device
    /// turns, in rad/s.
    mutating func update(
        _ field: Vector3, level: Quaternion, sigma: Double, noise: Double, speed: Double, seconds: Double
    ) {
        let kept = exp(-seconds / Self.forgettingSeconds)
        (turned, followed) = (turned * kept, followed * kept)
        var (now, before, last, age) = fields ?? (field, field, field, 0)
        func angle(from start: Vector3, to end: Vector3) -> Double {
            let (start, end) = (level.rotate(start), level.rotate(end))
            return atan2(start.x * end.y - start.y * end.x, start.x * end.x + start.y * end.y)
        }
        if let start = fieldBeforeStep {
            let step = angle(from: start, to: field)
            // A magnet that is taken away turns the field back.
            let rest = remainder(turned + step, 2 * .pi)
            let isCurrent =
                speed < Self.slowSpeed && abs(step) < Self.mostCurrent && abs(step) > Self.clearNoise * noise
            if isCurrent || abs(rest) < abs(turned) { turned = rest }
            return interrupt()
        }
        guard abs(angle(from: last, to: field)) < Self.mostStep else {
            fieldBeforeStep = last
            return
        }
        last = field
        age += seconds
        now += (field - now) * min(seconds / Self.nowSeconds, 1)
        let turn = angle(from: before, to: now)
        let usual = Self.leastTurn + FusionAccuracy.nineOfTen * sigma
        if abs(turn) > usual, age > Self.longestBegin { countingSeconds = Self.longestBegin }
        beginSeconds = abs(turn) < usual / 2 || age < Self.longestBegin ? 0 : beginSeconds + seconds
        if isTurning {
            countingSeconds -= seconds
            turned = remainder(turned + turn, 2 * .pi)
            before = now
        } else {
            if abs(turned) < usual { turned = 0 }
            let isBegin = beginSeconds > 0 && beginSeconds <= Self.longestBegin
            if !isBegin { before += (now - before) * (seconds / min(age, Self.beforeSeconds)) }
        }
        fields = (now, before, last, age)
    }
}
