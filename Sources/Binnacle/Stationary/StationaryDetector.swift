/// Finds when a device rests, and when it goes somewhere, in the samples of an accelerometer.
///
/// The definitions are Android's: five seconds of rest (stationary detect) and of motion (motion detect), where a pocket at rest
/// and a table that shakes are no motion (significant motion).
package final class StationaryDetector: DetectorCore<StationarySettings>, SampleWiseDetector {
    package static let kind = "stationary"

    private let dwellNanoseconds: Int64
    private var acceleration: AnchoredAcceleration
    /// The state that was reported last; `nil` before any.
    private var told: Bool?

    package init(name: String, accelerometer: SampleStream?, settings: StationarySettings) {
        dwellNanoseconds = Units.nanoseconds(settings.dwell)
        // A rest that is long enough to be reported ends a motion.
        acceleration = AnchoredAcceleration(
            radiusG: Float(settings.thresholdG),
            restNanoseconds: min(AnchoredAcceleration.longestRestNanoseconds, dwellNanoseconds))
        super.init(name: name, streams: [accelerometer], settings: settings)
    }

    package func reset() {
        interrupt()
        told = nil
    }

    package func interrupt() { acceleration.interrupt() }

    func find(_ sample: SIMD3<Float>, at time: Int64) -> Finding? {
        guard acceleration.update(sample, at: time) else { return nil }
        let still = acceleration.stillNanoseconds
        if told != false, time >= Units.later(still, by: dwellNanoseconds) {
            return found(false, since: still, at: time)
        }
        // The time since the last change may be the begin of a rest, and is no motion.
        guard let onset = acceleration.movingNanoseconds, still >= Units.later(onset, by: dwellNanoseconds) else {
            return nil
        }
        return found(true, since: onset, at: time)
    }

    func find(_ phase: SampleRest.Phase) -> Finding? {
        guard settings.watch != .samples else { return nil }
        switch phase {
        case .reported(.activity, let steps, let onset):
            // What the samples show counts from here on: it may not contradict the chip by what was before.
            acceleration.interrupt()
            return found(steps > 0, since: onset, at: notBeforeSamples(onset), source: .chip)
        case .began:
            // No sample comes now that would complete the dwell time.
            return streams.first?.sensor.lastTimeNanoseconds.flatMap {
                found(false, since: acceleration.stillNanoseconds, at: $0)
            }
        default: return nil
        }
    }

    private func found(_ isMoving: Bool, since onset: Int64, at time: Int64, source: EventSource? = nil) -> Finding? {
        guard told != isMoving else { return nil }
        told = isMoving
        return Finding(
            isMoving ? .departed : .stationary, at: time,
            [.onset: .integer(onset), .source: source.map(Figure.Value.word)])
    }
}

extension StationaryDetector {
    private static let change = "change_g"

    package var state: String? { told.map { $0 ? "moving" : "stationary" } }
    package var isActive: Bool { told ?? false }
    package var limits: [LiveValues.Limit] {
        [LiveValues.Limit("change", of: Self.change, begin: Float(settings.thresholdG), isAlwaysShown: true)]
    }
    package var sampledValues: [SampledValue] { [SampledValue(name: Self.change, place: .row(0))] }
    var row: SIMD4<Float> { SIMD4(acceleration.distanceG, .nan, .nan, .nan) }
    package var lanes: [Lane] {
        [
            Lane(title: "rest of \(name)", states: [Lane.States(name: Lane.States.state)]),
            Lane("change of acceleration, \(name)", "g", ["change": Self.change]),
        ]
    }
}

/// Since when a device is still, and since when it moves without a rest.
///
/// The acceleration, behind two low-pass filters against what shakes faster than 2 Hz, is compared with an anchor: the vector
/// at which it left the anchor before. A turn moves it through gravity, a step or a road through what they add.
private struct AnchoredAcceleration {
    /// Nothing is known of a longer time without a sample.
    private static let gapNanoseconds: Int64 = 1_000_000_000
    /// A rest of this time is never part of a motion.
    static let longestRestNanoseconds: Int64 = 2_000_000_000
    /// The time constant of each filter, in seconds.
    private static let filterSeconds: Float = 0.08

    private let radiusG: Float
    /// A shorter rest is part of a motion.
    private let restNanoseconds: Int64
    private var lastNanoseconds: Int64?
    private var fast = SIMD3<Float>.zero
    private var smooth = SIMD3<Float>.zero
    private var anchor = SIMD3<Float>.zero
    /// How far the filtered acceleration lies from the anchor, in g.
    private(set) var distanceG: Float = 0
    private(set) var stillNanoseconds: Int64 = 0
    /// When motion began; `nil` after a rest.
    private(set) var movingNanoseconds: Int64?

    init(radiusG: Float, restNanoseconds: Int64) {
        self.radiusG = radiusG
        self.restNanoseconds = restNanoseconds
    }

    mutating func interrupt() { lastNanoseconds = nil }

    /// Looks at a sample in m/s²; returns whether it is one, and finite.
    mutating func update(_ sample: SIMD3<Float>, at time: Int64) -> Bool {
        let accelerationG = sample / Units.standardGravity
        guard (accelerationG * accelerationG).sum().isFinite else { return false }
        guard let last = lastNanoseconds, time >= last, time <= Units.later(last, by: Self.gapNanoseconds) else {
            self = AnchoredAcceleration(radiusG: radiusG, restNanoseconds: restNanoseconds)
            (lastNanoseconds, stillNanoseconds) = (time, time)
            (fast, smooth, anchor) = (accelerationG, accelerationG, accelerationG)
            return true
        }
        lastNanoseconds = time
        let seconds = Float(time - last) * 1e-9
        let weight = seconds / (Self.filterSeconds + seconds)
        fast += (accelerationG - fast) * weight
        smooth += (fast - smooth) * weight
        let distance = smooth - anchor
        distanceG = (distance * distance).sum().squareRoot()
        if distanceG > radiusG {
            anchor = smooth
            stillNanoseconds = time
            movingNanoseconds = movingNanoseconds ?? time
        } else if time - stillNanoseconds >= restNanoseconds {
            movingNanoseconds = nil
        }
        return true
    }
}
