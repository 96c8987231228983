import Binnacle
import Kernels

/// Watches the strength of the field: iron or a magnet nearby changes it, and so does a calibration that no longer fits.
///
/// What it should be is the calibration's strength, or that of the place, or else the running mean of what was measured
/// while nothing was wrong. A departure counts after half a second, and is over after two seconds close by. What was only
/// learned is learned again where another strength has stayed for a minute.
struct InterferenceMonitor {
    enum Change: Equatable {
        case began
        /// It has gone on for so long that it is not something that passes.
        case needsCalibration
        /// It is over.
        case ended
        /// A calibration is not needed any more, because turns have shown the iron.
        case calibrated
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
    private let plausible: ClosedRange<Double>?
    /// The strength that the field has had of late, while it is off, and since when.
    private var steady: (field: Double, sinceNanoseconds: Int64)?
    private var weight = RunningWeight(timeConstantSeconds: learningSeconds)
    private var lastTimeNanoseconds: Int64?
    /// Since when it has been on the side that is not confirmed yet.
    private var changedNanoseconds: Int64?
    private var beganNanoseconds: Int64 = 0
    private var needsCalibration = false

    private static let onDelayNanoseconds: Int64 = 500_000_000
    private static let offDelayNanoseconds: Int64 = 2_000_000_000
    private static let learningSeconds = 30.0
    private static let firstSeconds = 1.0
    private static let steadyNanoseconds: Int64 = 60_000_000_000
    /// The share of the limit within which the field has to come back.
    private static let exitShare = 0.75

    /// Creates a monitor of the expected strength in µT, which is learned if `nil`; fails when the settings want none.
    init?(settings: NorthSettings, expected: Double?) {
        guard let percent = settings.interferencePercent else { return nil }
        entry = percent / 100
        exit = entry * Self.exitShare
        self.expected = expected
        isLearning = expected == nil
        calibrationNanoseconds = Units.nanoseconds(settings.calibrationDelay)
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        plausible = settings.plausibleFieldMicrotesla
    }

    /// Expects the strength that comes next, because the field is corrected otherwise from now on.
    mutating func relearn() {
        guard isLearning else { return }
        expected = nil
        weight.reset()
    }

    /// Takes a strength in µT; returns what it changed.
    mutating func update(_ field: Double, at timeNanoseconds: Int64) -> Change? {
        let last = lastTimeNanoseconds
        lastTimeNanoseconds = timeNanoseconds
        // What the Earth does not have is nothing to learn from, and no heading is found in it either.
        let isPlausible = plausible?.contains(field) ?? true
        guard let expected else {
            if isPlausible { self.expected = field }
            return nil
        }
        let seconds = last.map { max(0, Units.seconds(from: $0, to: timeNanoseconds)) } ?? 0
        // What comes first is what it has to be compared with.
        if isLearning, weight.seconds < Self.firstSeconds {
            if isPlausible { self.expected = expected + (field - expected) * weight.update(seconds) }
            return nil
        }
        if let last, timeNanoseconds < last || isGap(from: last, to: timeNanoseconds, limit: gapLimitNanoseconds) {
            changedNanoseconds = nil
            steady = nil
            beganNanoseconds = min(beganNanoseconds, timeNanoseconds)
        }
        if !isPlausible { steady = nil }
        if isLearning, isOn, isPlausible, hasSettled(field, at: timeNanoseconds) {
            self.expected = field
            weight.reset()
            return end()
        }
        let departure = abs(field - expected)
        isOff = isOn ? departure > exit * expected : departure > entry * expected
        if isLearning, !isOn, departure <= exit * expected {
            self.expected = expected + (field - expected) * weight.update(seconds)
        }
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
        return end()
    }

    private mutating func end() -> Change {
        isOn = false
        isOff = false
        changedNanoseconds = nil
        steady = nil
        needsCalibration = false
        return .ended
    }

    /// Whether the field has had another strength for a minute, which then is what is usual: the device has been moved, or
    /// was near iron when it began.
    private mutating func hasSettled(_ field: Double, at timeNanoseconds: Int64) -> Bool {
        guard let steady, abs(field - steady.field) <= exit * steady.field else {
            steady = (field, timeNanoseconds)
            return false
        }
        return Units.later(steady.sinceNanoseconds, by: Self.steadyNanoseconds) <= timeNanoseconds
    }
}
