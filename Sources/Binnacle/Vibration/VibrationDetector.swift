import Glibc
import Kernels
package import PlainText
import SensorGeometry

/// Measures each second how strongly a machine vibrates in bands of frequency, in the samples of an accelerometer.
///
/// Seconds follow each other from the first sample on. One is measured when its first sample of the next has come, and only
/// if it is whole: no sample was lost, and no distance of two is longer than 2.5 times their mean. After one that is
/// not, a change of zone or state has to last its time again.
package final class VibrationDetector: AccelerometerDetector {
    package static let kind = "vibration"
    package let name: String
    /// The accelerometer's stream, where there is one.
    package let streams: [SampleStream]
    /// What is measured.
    package let settings: VibrationSettings
    /// Told what is found; held weakly, and loaded once a delivery.
    package weak var delegate: (any DetectorDelegate)?
    package var isDetecting = false
    package private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// What the bands' limits are compared with, once a second, for what is drawn.
    package let rows: MeasuredRows? = MeasuredRows()
    /// What is assumed of the rate, known after the first second.
    package var assumptions: [Assumption] { rateAssumptions + noiseAssumptions }
    private var rateAssumptions: [Assumption] = []
    private var noiseAssumptions: [Assumption] = []

    /// What a band had in the last second that was measured.
    private struct Reading {
        var velocity = Double.nan
        var acceleration = Double.nan
        var frequencyHz = 0.0
        var toHz = 0.0
        /// The number of limits that it exceeds, with hysteresis.
        var zone = 0
    }

    private let fineSpectrum = BandSpectrum()
    private let factors: SIMD4<Float>
    private var readings: [Reading]
    private var zone = LevelDwell()
    private var machine = LevelDwell()
    private var isMachineKnown = false
    private var zoneSinceNanoseconds: Int64 = 0
    private var ranSinceNanoseconds: Int64?
    /// The second under way: its first and last stamp, and whether its samples are all there.
    private var second: (startNanoseconds: Int64, isWhole: Bool)?
    private var (firstNanoseconds, lastNanoseconds) = (Int64(0), Int64(0))
    private var longestNanoseconds: Int64 = 0
    private var toldRateHz = 0.0
    /// The seconds that were measured, and those that were not.
    private var counts = (measured: 0, left: 0)
    private var isMeasured = false
    private var learning: VibrationLearning?
    private var noise = QuietestNoise()
    /// The chip's noise that was measured at rest and kept, in µg/√Hz; 0 where none was.
    private let keptMicroG: Double
    /// Up to where the last second is measured, and its end.
    private var (mostHz, endNanoseconds) = (0.0, Int64(0))

    private static let secondNanoseconds: Int64 = 1_000_000_000
    /// In samples: two are missing, or the clock of a polled device waited as long.
    private static let mostIntervals = 2.5

    /// Creates a detector that does not detect yet; without an accelerometer, a start tells *device not available*.
    ///
    /// - Precondition: ``VibrationSettings/problems()`` finds none.
    package init(
        name: String = "vibration", accelerometer: SampleStream?, settings: VibrationSettings = VibrationSettings()
    ) {
        settings.requireValid()
        self.name = name
        self.settings = settings
        streams = [accelerometer].compactMap { $0 }
        readings = Array(repeating: Reading(), count: settings.bands.count)
        keptMicroG = 1e6 / Gravity.standard * (accelerometer?.sensor.noise(of: .accelerometer) ?? 0)
        factors =
            switch settings.axes {
            case .all: SIMD4(1, 1, 1, 0)
            case .x: SIMD4(1, 0, 0, 0)
            case .y: SIMD4(0, 1, 0, 0)
            case .z: SIMD4(0, 0, 1, 0)
            }
        learning = settings.learnDays.map { VibrationLearning(settings, days: $0) }
    }

    package func reset() {
        (zone, machine) = (LevelDwell(), LevelDwell())
        (isMachineKnown, isMeasured, ranSinceNanoseconds) = (false, false, nil)
        for index in readings.indices { readings[index] = Reading() }
        second = nil
    }

    /// Leaves the second under way out; the zone and the state hold.
    package func interrupt() {
        (second, isMeasured) = (nil, false)
        zone.interrupt()
        machine.interrupt()
    }

    /// Looks at the samples of the accelerometer, and tells the delegate what each second means that they complete.
    package func process(_ delivery: SampleDelivery) {
        rows?.removeAll()
        guard isDetecting, let id = streams.first?.id, let place = delivery.index(of: id) else { return }
        if !delivery.losses.isEmpty, delivery.losses.contains(where: { $0.stream == id }) { second?.isWhole = false }
        let columns = delivery.batches[place].columns
        let delegate = delegate
        var index = 0
        while index < columns.count {
            let time = columns.times[index]
            if let second, let next = next(after: second.startNanoseconds, at: time) {
                position = columns.position(of: index, at: place)
                longestNanoseconds = max(
                    longestNanoseconds,
                    longestInterval(in: columns.times, range: index..<index + 1, after: lastNanoseconds))
                finish(second.startNanoseconds, isWhole: second.isWhole, at: time, delegate)
                begin(next, at: time)
            } else if second == nil {
                begin(time, at: time)
            }
            index = take(columns, from: index)
        }
    }

    /// The begin of the second in which a stamp lies; `nil` in the one under way.
    private func next(after start: Int64, at time: Int64) -> Int64? {
        let end = Units.later(start, by: Self.secondNanoseconds)
        guard time >= end else { return nil }
        return isGap(from: end, to: time, limit: Self.secondNanoseconds) ? time : end
    }

    private func begin(_ start: Int64, at time: Int64) {
        second = (start, true)
        // What is missing at its begin is missing, whichever second its gap began in.
        (firstNanoseconds, lastNanoseconds, longestNanoseconds) = (time, time, time - start)
        fineSpectrum.removeAll()
    }

    /// Takes the samples of the second under way; returns the index of the first one after it.
    private func take(_ columns: SampleColumns, from index: Int) -> Int {
        guard let begun = second?.startNanoseconds else { return columns.count }
        let end = Units.later(begun, by: Self.secondNanoseconds)
        // The first one is taken also when its stamp is the last that there is.
        let stop = max(index + 1, firstIndex(in: columns.times, range: index..<columns.count, notBefore: end))
        longestNanoseconds = max(
            longestNanoseconds, longestInterval(in: columns.times, range: index..<stop, after: lastNanoseconds))
        lastNanoseconds = columns.times[stop - 1]
        let axes = AxisColumns(x: columns.x, y: columns.y, z: columns.z)
        if fineSpectrum.append(axes, range: index..<stop, factors: factors) < stop - index { second?.isWhole = false }
        return stop
    }

    private func finish(
        _ start: Int64, isWhole: Bool, at end: Int64, _ delegate: (any DetectorDelegate)?
    ) {
        endNanoseconds = end
        let seconds = Units.seconds(from: firstNanoseconds, to: lastNanoseconds)
        let interval = seconds / Double(max(1, fineSpectrum.count - 1))
        guard isWhole, interval > 0, Double(longestNanoseconds) * 1e-9 <= Self.mostIntervals * interval,
            fineSpectrum.transform(rateHz: 1 / interval)
        else {
            counts.left += 1
            interrupt()
            rows?.append(end, SIMD4(repeating: .nan))
            return
        }
        counts.measured += 1
        isMeasured = true
        measure(rateHz: 1 / interval)
        rows?.append(end, row)
        learn()
        reportZone(start, end, delegate)
        reportMachine(start, end, delegate)
    }

    private func learn() {
        guard learning != nil else { return }
        // A band with limits of its own needs none that are learned.
        for (index, band) in settings.bands.enumerated() where band.limits.isEmpty {
            learning?.add(value(of: index), of: index, in: machine.value)
        }
    }

    private func measure(rateHz: Double) {
        let most = min(rateHz / VibrationSettings.rateFactor, settings.chipBandwidthHz ?? .infinity)
        mostHz = most
        if abs(rateHz - toldRateHz) > 0.02 * toldRateHz {
            toldRateHz = rateHz
            rateAssumptions = settings.bands.compactMap { assumption($0, most, rateHz) }
        }
        for (index, band) in settings.bands.enumerated() {
            readings[index].toHz = min(band.toHz, most)
            let power = fineSpectrum.power(from: band.fromHz, to: readings[index].toHz)
            let isCovered = readings[index].toHz >= band.fromHz + 1
            readings[index].acceleration = isCovered ? power.acceleration.squareRoot() / Gravity.standard : .nan
            readings[index].velocity = isCovered ? 1000 * power.velocity.squareRoot() : .nan
            readings[index].frequencyHz = power.strongestHz
            readings[index].zone = level(of: value(of: index), above: limits(of: index), from: readings[index].zone)
        }
        let isKnown = noise.add(fineSpectrum.noiseDensity(from: VibrationSettings.lowestHz, to: most, axes: axisCount))
        if isKnown || counts.measured == 1 {
            noiseAssumptions = settings.bands.indices.compactMap(noiseAssumption)
        }
    }

    /// What is compared with the limits of a band, and drawn: in mm/s or g.
    private func value(of band: Int) -> Double {
        settings.bands[band].isVelocity ? readings[band].velocity : readings[band].acceleration
    }

    /// The number of limits, which rise, that a value exceeds; below one that was exceeded it has to fall by the hysteresis.
    private func level(of value: Double, above limits: [Double], from level: Int) -> Int {
        limits.enumerated().count { index, limit in value >= (index < level ? limit * release : limit) }
    }

    private var release: Double { 1 - settings.hysteresisPercent / 100 }

    /// The limits of a band; a learned one where it has none of its own.
    private func limits(of band: Int) -> [Double] {
        guard settings.bands[band].limits.isEmpty else { return settings.bands[band].limits }
        return learning?.limit(of: band, in: machine.value).map { [$0] } ?? []
    }

    private func assumption(_ band: VibrationSettings.Band, _ most: Double, _ rateHz: Double) -> Assumption? {
        guard most < 0.99 * band.toHz else { return nil }
        func text(_ number: Double) -> String { Figure.Value.number(number, decimals: 1).description }
        let found =
            most >= band.fromHz + 1
            ? "is measured from \(text(band.fromHz)) to \(text(most)) Hz, and not to \(text(band.toHz)) Hz"
            : "is not measured, because it begins at \(text(band.fromHz)) Hz"
        return Assumption(
            subject: "\(name) \(band.name)",
            text: "vibration '\(name)': band '\(band.name)' \(found): \(text(rateHz)) samples a second "
                + "and the chip's bandwidth show what is below \(text(most)) Hz")
    }

    private var axisCount: Int { settings.axes == .all ? 3 : 1 }

    /// The density of the chip's noise, in µg/√Hz; `nil` while nothing is known of it.
    private var microG: Double? {
        let found = noise.microG ?? settings.noiseMicroG
        return keptMicroG > found ?? 0 ? keptMicroG : found
    }

    /// The noise of the chip in a band as far as it is measured, in the unit of its limits or in g.
    private func floor(of band: Int, isVelocity: Bool) -> Double? {
        var (known, measured) = (settings, settings.bands[band])
        known.noiseMicroG = microG
        (measured.toHz, measured.isVelocity) = (readings[band].toHz, isVelocity)
        return readings[band].toHz > measured.fromHz ? known.noiseFloor(of: measured) : nil
    }

    private func noiseAssumption(_ band: Int) -> Assumption? {
        let own = settings.bands[band]
        let limits = [
            own.limits.first.map { ($0, own.isVelocity) }, band == 0 ? settings.runningG.map { ($0, false) } : nil,
        ]
        for case .some(let (limit, isVelocity)) in limits {
            // What the settings say of it, the check of the configuration compares.
            guard let floor = floor(of: band, isVelocity: isVelocity), let microG,
                microG == keptMicroG || noise.microG != nil, limit < floor
            else { continue }
            let (unit, name) = isVelocity ? ("mm/s", Figure.Name.velocity) : ("g", .vibration)
            return Assumption(
                subject: "\(self.name) \(own.name) noise",
                text:
                    "vibration '\(self.name)': in band '\(own.name)' the limit \(limit) \(unit) lies below the noise, "
                    + "\(name.number(floor)) \(unit): "
                    + (microG == keptMicroG
                        ? "its calibration has " : "the quietest ten seconds of the first minute had ")
                    + "\(Figure.Value.number(microG, decimals: 0)) µg/√Hz")
        }
        return nil
    }

    // MARK: - Reports

    /// The band in the highest zone, or the first.
    private var strongest: Int {
        readings.indices.max { (readings[$0].zone, -$0) < (readings[$1].zone, -$1) } ?? 0
    }

    private var machineState: MachineState? { isMachineKnown ? MachineState.allCases[machine.value] : nil }

    private func event(_ end: Int64, lasting seconds: Double? = nil) -> VibrationEvent {
        let band = strongest
        let reading = readings[band]
        return VibrationEvent(
            band: settings.bands[band].name, zone: zone.value, velocityMillimetresPerSecond: reading.velocity,
            accelerationG: reading.acceleration, frequencyHz: reading.frequencyHz, measuredToHz: reading.toHz,
            machine: machineState, learnedPercent: learning?.percent, durationSeconds: seconds, timeNanoseconds: end)
    }

    private func reportZone(_ start: Int64, _ end: Int64, _ delegate: (any DetectorDelegate)?) {
        let before = zone.value
        let delay = Units.nanoseconds(settings.dwell)
        guard let since = zone.change(to: readings[strongest].zone, from: start, at: end, { _ in delay }) else {
            return
        }
        if before == 0 {
            zoneSinceNanoseconds = since
            delegate?.collect(.vibrationBegan, self, event(end))
        } else if zone.value > 0 {
            delegate?.collect(.vibrationChanged, self, event(end))
        } else {
            let seconds = Units.seconds(from: zoneSinceNanoseconds, to: since)
            delegate?.collect(.vibrationEnded, self, event(end, lasting: seconds))
        }
    }

    private func reportMachine(_ start: Int64, _ end: Int64, _ delegate: (any DetectorDelegate)?) {
        guard let runningG = settings.runningG, readings[0].acceleration.isFinite else { return }
        let limits = [runningG, settings.spinningG ?? .infinity]
        let found = level(of: readings[0].acceleration, above: limits, from: machine.value)
        let delays = (run: Units.nanoseconds(settings.machineDwell), idle: Units.nanoseconds(settings.idle))
        let change = machine.change(to: found, from: start, at: end) { $0 == 0 ? delays.idle : delays.run }
        guard change != nil || !isMachineKnown else { return }
        isMachineKnown = true
        let (began, state) = (ranSinceNanoseconds, machine.value)
        ranSinceNanoseconds = state == 0 ? nil : began ?? change
        delegate?.collect(.machineChanged, self, event(end))
        guard state == 0, let began, let change else { return }
        let seconds = Units.seconds(from: began, to: change)
        delegate?.collect(.machineFinished, self, event(end, lasting: seconds))
    }
}

/// A level that changes after all those found for a time lay on one side of it.
struct LevelDwell {
    private(set) var value = 0
    /// The one that is nearest to ``value``, of those found.
    private var candidate: (level: Int, sinceNanoseconds: Int64)?

    /// Looks at the level of a stretch of time; returns since when another one lasted, if it counts from now on.
    mutating func change(
        to found: Int, from start: Int64, at end: Int64, _ delay: (Int) -> Int64
    ) -> Int64? {
        guard found != value else {
            candidate = nil
            return nil
        }
        if let known = candidate, (known.level > value) == (found > value) {
            let nearest = found > value ? min(known.level, found) : max(known.level, found)
            candidate = (nearest, known.sinceNanoseconds)
        } else {
            candidate = (found, start)
        }
        guard let candidate, end >= Units.later(candidate.sinceNanoseconds, by: delay(candidate.level)) else {
            return nil
        }
        value = candidate.level
        self.candidate = nil
        return candidate.sinceNanoseconds
    }

    /// Forgets a change that has not lasted long enough.
    mutating func interrupt() { candidate = nil }
}

/// The density of noise in the quietest ten seconds, which is the chip's and that of the place where it is.
private struct QuietestNoise {
    /// On one axis, in µg/√Hz; `nil` before ten seconds.
    private(set) var microG: Double?
    private var sum = 0.0
    private var count = 0

    /// Adds that of a second, in (m/s²)²/Hz; `true` once, after a minute.
    mutating func add(_ density: Double) -> Bool {
        // Equal values of a coarse sensor at rest show no noise, and not that there is none.
        guard density.isFinite, density > 0 else { return false }
        sum += density
        count += 1
        guard count.isMultiple(of: 10) else { return false }
        microG = min(microG ?? .infinity, 1e6 * (sum / 10).squareRoot() / Gravity.standard)
        sum = 0
        return count == 60
    }
}

/// What the detector shows.
extension VibrationDetector {
    package var state: String? {
        guard isMeasured else { return counts == (0, 0) ? nil : "not measured" }
        return machineState?.rawValue ?? (zone.value > 0 ? "vibrating" : "calm")
    }
    package var isActive: Bool { zone.value > 0 || machine.value > 0 }
    package var learned: String? { learning?.json }
    package func recall(_ learned: JSONValue) -> Bool { learning?.recall(learned) ?? true }
    package func resetKept() -> Bool {
        guard let days = settings.learnDays else { return false }
        noise = QuietestNoise()
        learning = VibrationLearning(settings, days: days)
        return true
    }

    package var figures: [Figure] {
        guard isMeasured else { return [] }
        return EventKind.vibrations.figures(of: event(0))
    }

    package var spectrum: LiveValues.Spectrum? {
        let sines = fineSpectrum.sines(to: mostHz, most: LiveValues.Spectrum.mostValues)
        let bands = settings.bands.enumerated().filter { readings[$0].toHz >= $1.fromHz + 1 }.map { index, band in
            // A velocity v at the frequency f is an acceleration of 2πf v.
            let perHz = 2 * Double.pi / (1000 * Gravity.standard)
            return LiveValues.Spectrum.Band(
                name: band.name, measure: Self.measure(band), unit: band.isVelocity ? "mm/s" : "g", fromHz: band.fromHz,
                toHz: readings[index].toHz,
                scale: band.isVelocity ? perHz * SIMD2(band.fromHz, readings[index].toHz) : SIMD2(1, 1),
                floor: floor(of: index, isVelocity: band.isVelocity))
        }
        return LiveValues.Spectrum(
            timeNanoseconds: endNanoseconds, fromHz: sines.fromHz, stepHz: sines.stepHz,
            values: isMeasured ? sines.values.map { $0 / Units.standardGravity } : [], bands: bands)
    }

    private static func measure(_ band: VibrationSettings.Band) -> String {
        band.name + (band.isVelocity ? "_mm_s" : "_g")
    }

    private var row: SIMD4<Float> {
        var row = SIMD4<Float>(repeating: .nan)
        for band in readings.indices { row[band] = Float(value(of: band)) }
        return row
    }

    package var limits: [LiveValues.Limit] {
        return settings.bands.indices.flatMap { band in
            limits(of: band).enumerated().map { zone, limit in
                LiveValues.Limit(
                    "zone \(zone + 1)", of: Self.measure(settings.bands[band]), begin: Float(limit),
                    end: Float(limit * release), isAlwaysShown: zone == 0)
            }
        } + machineLimits
    }

    private var machineLimits: [LiveValues.Limit] {
        guard !settings.bands[0].isVelocity else { return [] }
        return [(settings.runningG, MachineState.running), (settings.spinningG, .spinning)].compactMap { limit, state in
            limit.map {
                LiveValues.Limit(
                    state.rawValue, of: Self.measure(settings.bands[0]), begin: Float($0), end: Float($0 * release),
                    isAlwaysShown: true)
            }
        }
    }

    package var sampledValues: [SampledValue] {
        settings.bands.enumerated().map { SampledValue(name: Self.measure($1), place: .row($0)) }
    }

    package var lanes: [Lane] {
        [true, false].compactMap { isVelocity in
            let bands = settings.bands.filter { $0.isVelocity == isVelocity }
            guard !bands.isEmpty else { return nil }
            return Lane(
                title: "vibration of \(name), RMS a second", unit: isVelocity ? "mm/s" : "g",
                curves: bands.map { Lane.Curve(label: $0.name, name: Self.measure($0)) })
        }
    }

    package func summary(ofEnded word: String) -> [String] {
        guard counts.left > 0 else { return [] }
        return [
            "vibration '\(name)': \(counts.left) of \(counts.left + counts.measured) seconds were not measured, because "
                + "samples were missing, uneven, not finite, fewer than 16 or more than \(BandSpectrum.mostSamples)"
        ]
    }
}
