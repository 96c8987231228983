import Binnacle
import Glibc

/// Decides when an attitude is reported again: when the body has turned enough since the one reported before, when its north is another
/// one, when rates come or cease, or by ``FigureChanges``.
struct AttitudeFilter {
    /// The cosine of half the turn: two quaternions have it as the size of their product.
    private let cosine: Double
    private var last: DeviceMotion?
    private var figures = FigureChanges()

    /// - Parameter degrees: How far the body has to turn, from 0 to 180.
    init(degrees: Double) { cosine = cos(degrees / 2 * .pi / 180) }

    /// Takes an attitude; returns whether it is to be reported.
    mutating func update(_ motion: DeviceMotion) -> Bool {
        figures.follow(
            SIMD2(motion.tiltAccuracyDegrees, motion.yawAccuracyDegrees ?? 0),
            rate: motion.rotationRate.map { $0 * (180 / Double.pi) }, at: motion.timeNanoseconds)
        if let last, last.reference == motion.reference,
            (last.rotationRate == nil) == (motion.rotationRate == nil), !figures.areOther
        {
            let (a, b) = (last.attitude, motion.attitude)
            guard abs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z) <= cosine else { return false }
        }
        last = motion
        figures.report()
        return true
    }

    /// Makes the next attitude the first one again.
    mutating func reset() {
        last = nil
        figures.reset()
    }
}

/// Watches one angle for a limit, with hysteresis and a dwell time.
struct AngleLimit {
    /// What a begin is reported as: that of a heel, or that of a pitch.
    private let began: EventKind
    private let beginDegrees: Double
    private let endDegrees: Double
    private var beyond: Dwell<Bool>
    /// Since when the angle is on the other side; `nil` while it is not.
    private var sinceNanoseconds: Int64?
    private var onsetNanoseconds: Int64 = 0
    private var peakDegrees = 0.0

    /// The roll has no meaning while a pitched body makes it wrong by more, beyond the error of a level one: as much as the default
    /// hysteresis, within which an angle is on neither side of its limit.
    private static let mostPitchErrorDegrees = 5.0

    var isBeyond: Bool { beyond.value }

    /// Creates the watch; `nil` without a limit.
    init?(_ began: EventKind, settings: AttitudeSettings) {
        guard let degrees = began == .heelBegan ? settings.heelDegrees : settings.pitchDegrees else { return nil }
        self.began = began
        beginDegrees = degrees
        endDegrees = degrees - settings.hysteresisDegrees
        beyond = Dwell(false, delayNanoseconds: Units.nanoseconds(settings.dwell))
    }

    /// Takes an attitude, whose angle may have no meaning; returns what that decides.
    mutating func update(_ motion: DeviceMotion) -> Finding? {
        guard let size = (began == .heelBegan ? roll(motion) : motion.pitchDegrees).map(abs) else {
            interrupt()
            return nil
        }
        let time = motion.timeNanoseconds
        let isFound = size > (beyond.value ? endDegrees : beginDegrees)
        if isFound == beyond.value { sinceNanoseconds = nil } else { sinceNanoseconds = sinceNanoseconds ?? time }
        let since = sinceNanoseconds ?? time
        if isFound, !beyond.value, since == time { peakDegrees = 0 }
        if isFound { peakDegrees = max(peakDegrees, size) }
        guard beyond.isDue(isFound, at: time) else { return nil }
        beyond.accept(isFound)
        sinceNanoseconds = nil
        if isFound { onsetNanoseconds = since }
        return Finding(
            isFound ? began : began.end ?? began, at: time, [.onset: .integer(onsetNanoseconds)],
            numbers: [
                .roll: motion.rollDegrees, .pitch: motion.pitchDegrees, .peakAngle: peakDegrees,
                .duration: isFound ? nil : Units.seconds(Units.duration(from: onsetNanoseconds, to: since)),
            ])
    }

    /// An error of the vertical turns the roll by itself over the cosine of the pitch, of which up to 60° the error itself is the larger part.
    private func roll(_ motion: DeviceMotion) -> Double? {
        let factor = 1 / cos(motion.pitchDegrees * .pi / 180) - 1
        let isKnown = factor <= 1 || motion.tiltAccuracyDegrees * factor <= Self.mostPitchErrorDegrees
        return isKnown ? motion.rollDegrees : nil
    }

    /// Forgets a change that has not lasted long enough.
    mutating func interrupt() {
        beyond.interrupt()
        sinceNanoseconds = nil
    }

    mutating func reset() {
        interrupt()
        beyond.accept(false)
    }
}
