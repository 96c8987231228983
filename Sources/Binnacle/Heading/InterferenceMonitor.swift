import Kernels

/// Watches the strength of the field: iron or a magnet nearby changes it, and so does a calibration that no longer fits.
///
/// What it should be is the calibration's strength, or that of the place, or else the running mean of what was measured
/// while nothing was wrong. A departure counts after half a second, and is over after two seconds close by.
struct InterferenceMonitor {
    enum Change: Equatable {
        case began
        /// It has gone on for so long that it is not something that passes.
        case needsCalibration
        /// It is over.
        case ended
    }

    /// Whether the strength is off, and has been for long enough.
    private(set) var isOn = false
    /// Whether the strength is off at the last sample, confirmed or not.
    private(set) var isOff = false
    /// The strength that the field should have, in µT; `nil` before the first sample.
    private(set) var expected: Double?

    private let isLearning: Bool
    private let entry: Double
    private let exit: Double
    private let calibrationNanoseconds: Int64
    private let gapLimitNanoseconds: Int64
    private var learnedSeconds = 0.0
    private var lastTimeNanoseconds: Int64?
    /// Since when it has been on the side that is not confirmed yet.
    private var changedNanoseconds: Int64?
    private var beganNanoseconds: Int64 = 0
    private var needsCalibration = false

    private static let onDelayNanoseconds: Int64 = 500_000_000
    private static let offDelayNanoseconds: Int64 = 2_000_000_000
    private static let learningSeconds = 30.0
    private static let firstSeconds = 1.0
    /// The share of the limit within which the field has to come back.
    private static let exitShare = 0.75

    /// Creates a monitor; fails when the settings want none.
    ///
    /// - Parameters:
    ///   - settings: How far the strength may be off.
    ///   - expected: What it should be, in µT; `nil` learns it.
    init?(settings: NorthSettings, expected: Double?) {
        guard let percent = settings.interferencePercent else { return nil }
        entry = percent / 100
        exit = entry * Self.exitShare
        self.expected = expected
        isLearning = expected == nil
        calibrationNanoseconds = Units.nanoseconds(settings.calibrationDelay)
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
    }

    /// Takes a strength in µT; returns what it changed.
    mutating func take(_ field: Double, at timeNanoseconds: Int64) -> Change? {
        let last = lastTimeNanoseconds
        lastTimeNanoseconds = timeNanoseconds
        guard let expected else {
            self.expected = field
            return nil
        }
        let seconds = last.map { max(0, Units.seconds(from: $0, to: timeNanoseconds)) } ?? 0
        // What comes first is what it has to be compared with.
        if isLearning, learnedSeconds < Self.firstSeconds {
            learn(field, seconds, expected)
            return nil
        }
        if let last, isGap(from: last, to: timeNanoseconds, limit: gapLimitNanoseconds) { changedNanoseconds = nil }
        let departure = abs(field - expected)
        isOff = isOn ? departure > exit * expected : departure > entry * expected
        if isLearning, !isOn, departure <= exit * expected { learn(field, seconds, expected) }
        if isOff == isOn {
            changedNanoseconds = nil
            guard isOn, !needsCalibration,
                Units.later(beganNanoseconds, by: calibrationNanoseconds) <= timeNanoseconds
            else { return nil }
            needsCalibration = true
            return .needsCalibration
        }
        let start = changedNanoseconds ?? timeNanoseconds
        changedNanoseconds = start
        let delay = isOff ? Self.onDelayNanoseconds : Self.offDelayNanoseconds
        guard Units.later(start, by: delay) <= timeNanoseconds else { return nil }
        changedNanoseconds = nil
        isOn = isOff
        if isOn {
            beganNanoseconds = timeNanoseconds
            return .began
        }
        needsCalibration = false
        return .ended
    }

    /// The first samples count alike, and what is far off not at all.
    private mutating func learn(_ field: Double, _ seconds: Double, _ expected: Double) {
        learnedSeconds = min(learnedSeconds + seconds, Self.learningSeconds)
        guard learnedSeconds > 0 else { return }
        self.expected = expected + (field - expected) * min(seconds / learnedSeconds, 1)
    }
}
