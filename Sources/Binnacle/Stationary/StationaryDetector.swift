/// Finds when a device rests, and when it goes somewhere, in the samples of an accelerometer.
///
/// The definitions are Android's: five seconds of rest (stationary detect) and of motion (motion detect), where a pocket at rest
/// and a table that shakes are no motion (significant motion).
package final class StationaryDetector: AccelerometerDetector {
    package static let kind = "stationary"
    package let name: String
    /// The stream of the accelerometer, where there is one.
    package let streams: [SampleStream]
    package weak var delegate: (any DetectorDelegate)?
    package var isDetecting = false
    package private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The change at each sample, for what is drawn.
    package let rows: MeasuredRows? = MeasuredRows()

    private let settings: StationarySettings
    private let dwellNanoseconds: Int64
    private var acceleration: AnchoredAcceleration
    /// The state that was reported last; `nil` before any.
    private var told: Bool?

    /// Creates a detector that does not detect yet; without an accelerometer, a start tells *device not available*.
    ///
    /// - Precondition: ``StationarySettings/problems()`` finds none.
    package init(
        name: String = "stationary", accelerometer: SampleStream?, settings: StationarySettings = StationarySettings()
    ) {
        settings.requireValid()
        self.name = name
        self.settings = settings
        streams = [accelerometer].compactMap { $0 }
        dwellNanoseconds = Units.nanoseconds(settings.dwell)
        acceleration = AnchoredAcceleration(radiusG: Float(settings.thresholdG))
    }

    package func reset() {
        interrupt()
        told = nil
    }

    package func interrupt() { acceleration.interrupt() }

    /// Looks at the samples of the accelerometer and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        rows?.removeAll()
        guard isDetecting, let id = streams.first?.id, let place = delivery.index(of: id) else { return }
        if delivery.hidesTime(of: id) { acceleration.interrupt() }
        if settings.watch != .samples { takeRests(of: delivery, id, at: place) }
        let columns = delivery.batches[place].columns
        for index in 0..<columns.count {
            let time = columns.times[index]
            let isKnown = acceleration.update(columns.vector(index), at: time)
            rows?.append(time, SIMD4(acceleration.distanceG, .nan, .nan, .nan))
            guard isKnown, let event = decide(at: time) else { continue }
            position = columns.position(of: index, at: place)
            delegate?.collect(told == true ? .departed : .stationary, self, event)
        }
    }

    /// Takes what the chip reports, and the beginning of a rest: no sample comes then that would complete the dwell time.
    private func takeRests(of delivery: SampleDelivery, _ stream: StreamID, at place: Int) {
        let last = streams.first?.sensor.lastTimeNanoseconds
        for phase in delivery.rests.filter({ $0.stream == stream }).map(\.phase) {
            let event: StationaryEvent
            let isMoving: Bool
            switch phase {
            case .carried(let isCarried, let onset):
                // What the samples show counts from here on: it may not contradict the chip by what was before.
                acceleration.interrupt()
                isMoving = isCarried
                event = StationaryEvent(
                    onsetNanoseconds: onset, timeNanoseconds: max(onset, last ?? onset), source: .chip)
            case .began:
                guard let last else { continue }
                isMoving = false
                event = StationaryEvent(onsetNanoseconds: acceleration.stillNanoseconds, timeNanoseconds: last)
            default: continue
            }
            guard told != isMoving else { continue }
            told = isMoving
            position = SamplePosition(timeNanoseconds: event.timeNanoseconds, streamIndex: place, sampleIndex: -1)
            delegate?.collect(isMoving ? .departed : .stationary, self, event)
        }
    }

    private func decide(at time: Int64) -> StationaryEvent? {
        func lasts(since onset: Int64) -> Bool { time >= Units.later(onset, by: dwellNanoseconds) }
        if told != false, lasts(since: acceleration.stillNanoseconds) {
            told = false
            return StationaryEvent(onsetNanoseconds: acceleration.stillNanoseconds, timeNanoseconds: time)
        }
        guard told != true, let onset = acceleration.movingNanoseconds, lasts(since: onset) else { return nil }
        told = true
        return StationaryEvent(onsetNanoseconds: onset, timeNanoseconds: time)
    }
}

/// What the detector shows.
extension StationaryDetector {
    private static let change = "change_g"

    package var state: String? { told.map { $0 ? "moving" : "stationary" } }
    package var isActive: Bool { told ?? false }
    package var limits: [LiveValues.Limit] {
        [LiveValues.Limit("change", of: Self.change, begin: Float(settings.thresholdG), isAlwaysShown: true)]
    }
    package var sampledValues: [SampledValue] { [SampledValue(name: Self.change, place: .row(0))] }
    package var lanes: [Lane] {
        [
            Lane(title: "rest of \(name)", states: [Lane.States(name: Lane.States.state)]),
            Lane("change of acceleration, \(name)", "g", curve: "change", of: Self.change),
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
    /// A shorter rest is part of a motion.
    private static let restNanoseconds: Int64 = 2_000_000_000
    /// The time constant of each filter, in seconds.
    private static let filterSeconds: Float = 0.08

    private let radiusG: Float
    private var lastNanoseconds: Int64?
    private var fast = SIMD3<Float>.zero
    private var smooth = SIMD3<Float>.zero
    private var anchor = SIMD3<Float>.zero
    /// How far the filtered acceleration lies from the anchor, in g.
    private(set) var distanceG: Float = 0
    /// When the anchor was set.
    private(set) var stillNanoseconds: Int64 = 0
    /// When motion began; `nil` after a rest.
    private(set) var movingNanoseconds: Int64?

    init(radiusG: Float) { self.radiusG = radiusG }

    mutating func interrupt() { lastNanoseconds = nil }

    /// Looks at a sample in m/s²; returns whether it is one, and finite.
    mutating func update(_ sample: SIMD3<Float>, at time: Int64) -> Bool {
        let accelerationG = sample / Units.standardGravity
        guard (accelerationG * accelerationG).sum().isFinite else { return false }
        guard let last = lastNanoseconds, time >= last, time <= Units.later(last, by: Self.gapNanoseconds) else {
            lastNanoseconds = time
            (fast, smooth, anchor) = (accelerationG, accelerationG, accelerationG)
            stillNanoseconds = time
            movingNanoseconds = nil
            distanceG = 0
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
        } else if time - stillNanoseconds > Self.restNanoseconds {
            movingNanoseconds = nil
        }
        return true
    }
}
