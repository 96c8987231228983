import Binnacle
import Glibc
import SensorGeometry

/// Knows the strength and the dip of the undisturbed field, and whether the field is that now.
struct FieldReference {
    /// The strength and the dip in degrees, smoothed.
    private(set) var now = SIMD2<Double>.zero
    /// The level and the upward part of that field, in its unit.
    private(set) var horizontal = 0.0
    private(set) var vertical = 0.0
    /// Those of the undisturbed field; `nil` when they are not known.
    private(set) var reference: SIMD2<Double>?
    /// Whether that dip is right; the strength is.
    private(set) var isDipKnown = true
    private(set) var isDisturbed = true
    /// Whether the last sample made a reference where there was none.
    private(set) var isFirst = false
    /// The standard deviation of the strength by what is not known of the iron along the field: turns about the vertical never show
    /// the iron there.
    var strengthSigma = 0.0

    /// Of the usual tolerances; what a field that is turned against the gyroscope at rest has to be within.
    private static let turnedShare = 1.0 / 3

    private let isFromEarlierRun: Bool
    private var candidate = SIMD2<Double>.zero
    private var candidateSeconds = 0.0
    private var undisturbedSeconds = 0.0
    /// For how long the candidate is only what the field is now.
    private var relearningSeconds = 0.0
    private var smoothing: LowPass<SIMD2<Double>>
    private var gain: ExponentialGain
    private let settings: FusionSettings

    init(_ settings: FusionSettings, reference: SIMD2<Double>?) {
        self.settings = settings
        self.reference = reference
        isFromEarlierRun = reference != nil
        smoothing = LowPass(timeConstantSeconds: settings.fieldSmoothingSeconds)
        gain = ExponentialGain(timeConstantSeconds: settings.fieldReferenceSeconds)
    }

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - field: The field in a level frame.
    ///   - strength: Its length, above 0.
    ///   - rate: How fast the device turns, in °/s.
    ///   - isTurned: Whether its direction has changed while the device rests: a magnet near the device has seldom the strength and the
    ///     dip of the Earth's field as well.
    ///   - seconds: The time since the last sample; 0 for the first.
    mutating func update(_ field: Vector3, strength: Double, rate: Double, isTurned: Bool, seconds: Double) {
        let dip = -asin(min(max(field.z / strength, -1), 1)) * 180 / .pi
        smoothing.update(SIMD2(strength, dip), seconds: seconds)
        now = smoothing.value
        let smoothedDip = now.y * .pi / 180
        horizontal = now.x * cos(smoothedDip)
        vertical = -now.x * sin(smoothedDip)
        isFirst = false
        let share = gain.update(seconds)
        let known = reference.map { isDipKnown ? $0 : SIMD2($0.x, now.y) }
        if let reference = known, isNear(reference, share: isTurned ? Self.turnedShare : 1) {
            undisturbedSeconds += seconds
            if undisturbedSeconds >= settings.undisturbedSeconds {
                isDisturbed = false
                isDipKnown = true
                self.reference = reference + (now - reference) * share
            }
        } else {
            undisturbedSeconds = 0
            isDisturbed = true
            if isTurned { candidateSeconds = 0 }
        }
        updateCandidate(rate, seconds, share)
    }

    /// Learns the dip again, because the level was wrong until now; a reference from an earlier run stays.
    mutating func relearn() {
        interrupt()
        guard !isFromEarlierRun else { return }
        reference = nil
        // All of the time counts again: in a fast turn one moment's dip is off by more than a magnet's.
        relearningSeconds = settings.undisturbedSeconds
    }

    /// Learns the dip again once the field has its strength, because the level was wrong until now.
    mutating func relearnDip() {
        interrupt()
        isDipKnown = false
    }

    /// Forgets what was under way, because samples are missing.
    mutating func interrupt() {
        undisturbedSeconds = 0
        isDisturbed = true
        candidateSeconds = 0
        smoothing.reset()
    }

    private mutating func updateCandidate(_ rate: Double, _ seconds: Double, _ share: Double) {
        guard relearningSeconds <= 0 else {
            relearningSeconds -= seconds
            candidate = now
            return
        }
        guard isNear(candidate), isPlausible else {
            candidateSeconds = 0
            candidate = now
            return
        }
        if rate >= (reference == nil ? settings.firstFieldRate : settings.newFieldRate) { candidateSeconds += seconds }
        candidate += (now - candidate) * share
        let wanted = reference == nil ? settings.firstFieldSeconds : settings.newFieldSeconds
        guard isDisturbed, candidateSeconds >= wanted else { return }
        isFirst = reference == nil
        reference = candidate
        isDipKnown = true
        isDisturbed = false
        undisturbedSeconds = settings.undisturbedSeconds
    }

    /// Whether the strength may be the Earth's.
    var isPlausible: Bool {
        guard let range = settings.plausibleField else { return true }
        let slack = 2 * strengthSigma
        return now.x >= range.lowerBound - slack && now.x <= range.upperBound + slack
    }

    /// Whether the strength is another one than the undisturbed field's: no level, right or wrong, changes it.
    var isOtherStrength: Bool {
        reference.map { !hasStrength($0.x) } ?? false
    }

    private func hasStrength(_ strength: Double, share: Double = 1) -> Bool {
        abs(now.x - strength) < share * settings.fieldStrengthShare * strength
    }

    private func isNear(_ other: SIMD2<Double>, share: Double = 1) -> Bool {
        hasStrength(other.x, share: share) && abs(now.y - other.y) < share * settings.fieldDip
    }
}
