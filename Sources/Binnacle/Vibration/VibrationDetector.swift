import Glibc
import Kernels
package import PlainText
import SensorGeometry

/// Measures each second how strongly a machine vibrates in bands of frequency, in the samples of an accelerometer.
///
/// Seconds follow each other from the first sample on. One is measured when its first sample of the next has come, and only
/// if it is whole: no sample was lost, and no distance of two is longer than 2.5 times their mean. After one that is
/// not, a change of zone or state has to last its time again.
package final class VibrationDetector: DetectorCore<VibrationSettings>, AccelerometerDetector {
    package static let kind = "vibration"
    /// What is assumed of the rate, known after the first second, of the clock, after ten, and of the noise.
    package var assumptions: [Assumption] { rateAssumptions + clockAssumptions + noiseAssumptions }
    private var rateAssumptions: [Assumption] = []
    private var clockAssumptions: [Assumption] = []
    private var noiseAssumptions: [Assumption] = []

    /// What a band had in the last second that was measured.
    private struct Reading {
        /// The band as far as it was measured.
        var band: VibrationSettings.Band
        var power = BandSpectrum.Power()
        /// The number of limits that it exceeds, with hysteresis.
        var zone = 0

        init(_ band: VibrationSettings.Band) {
            self.band = band
            self.band.toHz = 0
        }

        var isCovered: Bool { band.toHz >= band.fromHz + 1 }
        var velocity: Double { isCovered ? 1000 * power.velocity.squareRoot() : .nan }
        var acceleration: Double { isCovered ? power.acceleration.squareRoot() / Gravity.standard : .nan }
        /// What is compared with the limits, and drawn.
        var value: Double { band.isVelocity ? velocity : acceleration }
    }

    private let fineSpectrum = BandSpectrum()
    private let factors: SIMD4<Float>
    private var readings: [Reading]
    private var zone = LevelDwell(passed: .belong)
    /// The state of the machine, by the place of its name; −1 while it is not known.
    private var machine = LevelDwell(-1, passed: .differ)
    /// That which the last second shows by itself, whose limits and whose normal values apply to it.
    private var machineLevel = 0
    private var zoneSinceNanoseconds: Int64 = 0
    /// The band of the last report of a zone above the lowest one.
    private var zoneBand = 0
    private var ranSinceNanoseconds: Int64?
    /// The second under way: its begin, and whether its samples are all there; its first and last stamp, and their longest distance.
    private var second: (startNanoseconds: Int64, isWhole: Bool)?
    private var (firstNanoseconds, lastNanoseconds, longestNanoseconds) = (Int64(0), Int64(0), Int64(0))
    private var toldRateHz = 0.0
    /// The seconds that were measured, and those that were not.
    private var counts = (measured: 0, left: 0)
    /// Whether each second so far had a distance of two samples that was a quarter longer than their mean.
    private var isUneven = true
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
    private static let unevenIntervals = 1.25
    /// After so many measured seconds it is known whether the clock is even.
    private static let clockSeconds = 10

    package init(name: String, accelerometer: SampleStream?, settings: VibrationSettings) {
        readings = settings.bands.map(Reading.init)
        keptMicroG = 1e6 / Gravity.standard * (accelerometer?.sensor.noise(of: .accelerometer) ?? 0)
        factors =
            switch settings.axes {
            case .all: SIMD4(1, 1, 1, 0)
            case .x: SIMD4(1, 0, 0, 0)
            case .y: SIMD4(0, 1, 0, 0)
            case .z: SIMD4(0, 0, 1, 0)
            }
        learning = settings.learnDays.map { VibrationLearning(settings, days: $0) }
        super.init(name: name, streams: [accelerometer], settings: settings)
    }

    package func reset() {
        (zone, machine, machineLevel) = (LevelDwell(passed: .belong), LevelDwell(-1, passed: .differ), 0)
        (isMeasured, ranSinceNanoseconds, zoneBand) = (false, nil, 0)
        readings = settings.bands.map(Reading.init)
        second = nil
    }

    /// Leaves the second under way out; the zone and the state hold, and a change of either has to last again.
    package func interrupt() {
        leaveOut()
        machine.interrupt()
    }

    /// Leaves a second out.
    ///
    /// A change of the machine's state goes on: it lasts for minutes, in which a busy host loses samples.
    private func leaveOut() {
        (second, isMeasured) = (nil, false)
        zone.interrupt()
    }

    /// Looks at the samples of the accelerometer, and tells the delegate what each second means that they complete.
    package func process(_ delivery: SampleDelivery) {
        guard let place = begin(delivery) else { return }
        if delivery.losses.contains(where: { $0.stream == streams[0].id }) { second?.isWhole = false }
        let columns = delivery.batches[place].columns
        var index = 0
        while index < columns.count {
            let time = columns.times[index]
            if let second, let next = next(after: second.startNanoseconds, at: time) {
                position = columns.position(of: index, at: place)
                finish(second.startNanoseconds, isWhole: second.isWhole, at: time)
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

    private func finish(_ start: Int64, isWhole: Bool, at end: Int64) {
        endNanoseconds = end
        let seconds = Units.seconds(from: firstNanoseconds, to: lastNanoseconds)
        let interval = seconds / Double(max(1, fineSpectrum.count - 1))
        let longest = max(Double(longestNanoseconds) * 1e-9, Units.seconds(from: lastNanoseconds, to: end))
        guard isWhole, interval > 0, longest <= Self.mostIntervals * interval,
            fineSpectrum.transform(rateHz: 1 / interval)
        else {
            counts.left += 1
            leaveOut()
            rows?.append(end, SIMD4(repeating: .nan))
            return
        }
        counts.measured += 1
        isMeasured = true
        judgeClock(hasLateSample: longest > Self.unevenIntervals * interval)
        measure(rateHz: 1 / interval)
        rows?.append(end, row)
        // A band with limits of its own needs none that are learned.
        for (index, reading) in readings.enumerated() where reading.band.limits.isEmpty {
            learning?.add(reading.value, of: index, in: machineLevel)
        }
        reportZone(start, end)
        reportMachine(start, end)
    }

    private func judgeClock(hasLateSample: Bool) {
        guard isUneven, counts.measured <= Self.clockSeconds else { return }
        isUneven = hasLateSample
        guard isUneven, counts.measured == Self.clockSeconds else { return }
        let told =
            "vibration '\(name)': in each second samples are a quarter of their distance late or more, and are taken for even ones: "
            + "velocities come out too high; a device with a trigger or a buffer of its own is even"
        clockAssumptions = [Assumption(subject: "\(name) clock", text: told)]
    }

    private func measure(rateHz: Double) {
        mostHz = min(rateHz / VibrationSettings.rateFactor, settings.chipBandwidthHz ?? .infinity)
        if abs(rateHz - toldRateHz) > 0.02 * toldRateHz {
            toldRateHz = rateHz
            rateAssumptions = settings.bands.compactMap { assumption($0, rateHz) }
        }
        for (index, band) in settings.bands.enumerated() {
            readings[index].band.toHz = min(band.toHz, mostHz)
            readings[index].power = fineSpectrum.power(from: band.fromHz, to: readings[index].band.toHz)
        }
        if let runningG = settings.runningG {
            let limits = [runningG, settings.spinningG ?? .infinity]
            machineLevel = level(of: readings[0].acceleration, above: limits, from: machineLevel)
        }
        for (index, reading) in readings.enumerated() {
            readings[index].zone = level(of: reading.value, above: limits(of: index), from: reading.zone)
        }
        let axes = settings.axes == .all ? 3 : 1
        let isKnown = noise.add(fineSpectrum.noiseDensity(from: VibrationSettings.lowestHz, to: mostHz, axes: axes))
        if isKnown || counts.measured == 1 { noiseAssumptions = readings.indices.compactMap(noiseAssumption) }
    }

    /// The number of limits, which rise, that a value exceeds; below one that was exceeded it has to fall by the hysteresis.
    private func level(of value: Double, above limits: [Double], from level: Int) -> Int {
        limits.enumerated().count { index, limit in value >= (index < level ? limit * release : limit) }
    }

    private var release: Double { 1 - settings.hysteresisPercent / 100 }

    /// The limits of a band; a learned one where it has none of its own.
    private func limits(of band: Int) -> [Double] {
        guard settings.bands[band].limits.isEmpty else { return settings.bands[band].limits }
        return learning?.limit(of: band, in: machineLevel).map { [$0] } ?? []
    }

    private func assumption(_ band: VibrationSettings.Band, _ rateHz: Double) -> Assumption? {
        guard mostHz < 0.99 * band.toHz else { return nil }
        let found =
            mostHz >= band.fromHz + 1
            ? "is measured from \(band.fromHz.text(1)) to \(mostHz.text(1)) Hz, and not to \(band.toHz.text(1)) Hz"
            : "is not measured, because it begins at \(band.fromHz.text(1)) Hz"
        let told =
            "vibration '\(name)': band '\(band.name)' \(found): \(rateHz.text(1)) samples a second "
            + "and the chip's bandwidth show what is below \(mostHz.text(1)) Hz"
        return Assumption(subject: "\(name) \(band.name)", text: told)
    }

    /// The density of the chip's noise, in µg/√Hz; `nil` while nothing is known of it.
    private var microG: Double? {
        let found = noise.microG ?? settings.noiseMicroG
        return keptMicroG > found ?? 0 ? keptMicroG : found
    }

    private func noiseAssumption(_ index: Int) -> Assumption? {
        let band = readings[index].band
        // What the settings say of it, the check of the configuration compares.
        guard let microG, microG == keptMicroG || noise.microG != nil else { return nil }
        for (_, limit, band) in settings.lowestLimits(of: index, as: band) {
            guard let floor = settings.noiseFloor(of: band, microG: microG), limit < floor else { continue }
            let figure = band.isVelocity ? Figure.Name.velocity : .vibration
            let source =
                microG == keptMicroG ? "its calibration has" : "the quietest ten seconds of the first minute had"
            let told =
                "vibration '\(name)': in band '\(band.name)' the limit \(limit) \(band.unit) lies below the noise, "
                + "\(figure.number(floor)) \(band.unit): \(source) \(Figure.Value.number(microG, decimals: 0)) µg/√Hz"
            return Assumption(subject: "\(name) \(band.name) noise", text: told)
        }
        return nil
    }

    // MARK: - Reports

    /// What the band in the highest zone had, or the first.
    private var strongest: Reading {
        readings.reduce(readings[0]) { $1.zone > $0.zone ? $1 : $0 }
    }

    private var machineState: MachineState? { machine.value < 0 ? nil : MachineState.allCases[machine.value] }

    private func found(
        _ kind: EventKind, _ end: Int64, lasting seconds: Double? = nil, of reading: Reading? = nil
    ) -> Finding {
        let reading = reading ?? strongest
        return Finding(
            kind, at: end,
            [
                .band: .text(reading.band.name), .zone: .integer(Int64(zone.value)),
                .machine: machineState.map(Figure.Value.word),
            ],
            numbers: [
                .velocity: reading.velocity, .vibration: reading.acceleration, .frequency: reading.power.strongestHz,
                .measuredTo: reading.band.toHz, .learned: learning?.percent, .duration: seconds,
            ])
    }

    private func reportZone(_ start: Int64, _ end: Int64) {
        let before = zone.value
        let dwell = settings.dwell
        guard let since = zone.change(to: strongest.zone, from: start, at: end, { _ in dwell }) else { return }
        if before == 0 { zoneSinceNanoseconds = since }
        // When all are in the lowest zone, it is the band whose vibration ends.
        if zone.value > 0 { zoneBand = readings.firstIndex { $0.zone == strongest.zone } ?? 0 }
        let kind: EventKind = before == 0 ? .vibrationBegan : zone.value > 0 ? .vibrationChanged : .vibrationEnded
        let lasted = zone.value > 0 ? nil : Units.seconds(from: zoneSinceNanoseconds, to: since)
        tell(found(kind, end, lasting: lasted, of: readings[zoneBand]), at: position)
    }

    private func reportMachine(_ start: Int64, _ end: Int64) {
        guard settings.runningG != nil, readings[0].acceleration.isFinite else { return }
        let run = settings.machineDwell
        let idle = machine.value < 0 ? run : settings.idle
        guard let change = machine.change(to: machineLevel, from: start, at: end, { $0 == 0 ? idle : run }) else {
            return
        }
        let (began, state) = (ranSinceNanoseconds, machine.value)
        ranSinceNanoseconds = state == 0 ? nil : began ?? change
        tell(found(.machineChanged, end), at: position)
        guard state == 0, let began else { return }
        tell(found(.machineFinished, end, lasting: Units.seconds(from: began, to: change)), at: position)
    }
}

/// A level that changes to another one which has lasted.
struct LevelDwell {
    /// What a stretch of time at a level says of those between it and the one before.
    enum Passed {
        /// It is a stretch at them, too, as a vibration above a limit is above the lower ones; a rise to them does not wait for more.
        case belong
        /// It is none at them, as a machine that is idle does not run.
        case differ
    }

    private struct Pending {
        let level: Int
        let sinceNanoseconds: Int64
        var endNanoseconds: Int64
    }

    private(set) var value: Int
    private let passed: Passed
    /// The levels on one side of ``value`` that have not lasted yet, none farther than the last one found.
    private var pending: [Pending] = []

    init(_ value: Int = 0, passed: Passed) { (self.value, self.passed) = (value, passed) }

    /// Looks at the level of a stretch of time; returns since when another one lasted, if it counts from now on.
    ///
    /// Shorter gaps, and times at a farther level, belong to the time that it has to last; one of half that time or longer begins it again.
    mutating func change(to found: Int, from start: Int64, at end: Int64, _ delay: (Int) -> Duration) -> Int64? {
        guard found != value else {
            interrupt()
            return nil
        }
        let step = (found - value).signum()
        pending.removeAll { ($0.level - value).signum() != step || ($0.level - found) * step > 0 }
        for level in stride(from: passed == .belong ? value + step : found, through: found, by: step) {
            let place = pending.firstIndex { $0.level == level }
            if let place, start <= Units.later(pending[place].endNanoseconds, by: Units.nanoseconds(delay(level)) / 2) {
                pending[place].endNanoseconds = end
            } else {
                pending.removeAll { $0.level == level }
                pending.append(Pending(level: level, sinceNanoseconds: start, endNanoseconds: end))
            }
        }
        let lasting = pending.filter { end >= Units.later($0.sinceNanoseconds, by: Units.nanoseconds(delay($0.level))) }
        guard let farthest = lasting.max(by: { ($0.level - $1.level) * step < 0 }),
            farthest.level == found || passed == .belong && step > 0
        else { return nil }
        value = farthest.level
        pending.removeAll { ($0.level - farthest.level) * step <= 0 }
        return farthest.sinceNanoseconds
    }

    /// Forgets a change that has not lasted long enough.
    mutating func interrupt() { pending.removeAll(keepingCapacity: true) }
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

extension VibrationDetector {
    package var state: String? {
        guard hasReadings else { return counts == (0, 0) ? nil : "not measured" }
        return machineState?.rawValue ?? (zone.value > 0 ? "vibrating" : "calm")
    }
    /// Whether the last second shows any band.
    private var hasReadings: Bool { isMeasured && readings.contains(where: \.isCovered) }
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
        hasReadings ? EventKind.vibrations.figures(of: found(.vibrationChanged, 0)) : []
    }

    package var spectrum: LiveValues.Spectrum? {
        let sines = fineSpectrum.sines(to: mostHz, most: LiveValues.Spectrum.mostValues)
        let bands = readings.filter(\.isCovered).map(\.band).map { band in
            // A velocity v at the frequency f is an acceleration of 2πf v.
            let perHz = 2 * Double.pi / (1000 * Gravity.standard)
            return LiveValues.Spectrum.Band(
                name: band.name, measure: band.measure, unit: band.unit, fromHz: band.fromHz, toHz: band.toHz,
                scale: band.isVelocity ? perHz * SIMD2(band.fromHz, band.toHz) : SIMD2(1, 1),
                floor: settings.noiseFloor(of: band, microG: microG))
        }
        return LiveValues.Spectrum(
            timeNanoseconds: endNanoseconds, fromHz: sines.fromHz, stepHz: sines.stepHz,
            values: isMeasured ? sines.values.map { $0 / Units.standardGravity } : [], bands: bands)
    }

    private var row: SIMD4<Float> {
        var row = SIMD4<Float>(repeating: .nan)
        for (index, reading) in readings.enumerated() { row[index] = Float(reading.value) }
        return row
    }

    package var limits: [LiveValues.Limit] {
        func limit(
            _ name: String, _ band: VibrationSettings.Band, _ begin: Double, isAlwaysShown: Bool = true
        ) -> LiveValues.Limit {
            LiveValues.Limit(
                name, of: band.measure, begin: Float(begin), end: Float(begin * release), isAlwaysShown: isAlwaysShown)
        }
        let zones = settings.bands.enumerated().flatMap { index, band in
            limits(of: index).enumerated().map { limit("zone \($0 + 1)", band, $1, isAlwaysShown: $0 == 0) }
        }
        guard let first = settings.bands.first, !first.isVelocity else { return zones }
        let states = [(MachineState.running, settings.runningG), (.spinning, settings.spinningG)]
        return zones + states.compactMap { state, begin in begin.map { limit(state.rawValue, first, $0) } }
    }

    package var sampledValues: [SampledValue] {
        settings.bands.enumerated().map { SampledValue(name: $1.measure, place: .row($0)) }
    }

    package var lanes: [Lane] {
        ["mm/s", "g"].compactMap { unit in
            let bands = settings.bands.filter { $0.unit == unit }
            guard !bands.isEmpty else { return nil }
            var lane = Lane(title: "vibration of \(name), RMS a second", unit: unit)
            lane.curves = bands.map { Lane.Curve(label: $0.name, name: $0.measure) }
            return lane
        }
    }

    package var summary: [String] {
        guard counts.left > 0 else { return [] }
        return [
            "vibration '\(name)': \(counts.left) of \(counts.left + counts.measured) seconds were not measured, because "
                + "samples were missing, uneven, not finite, fewer than \(VibrationSettings.leastSamples) or more than "
                + "\(BandSpectrum.mostSamples)"
        ]
    }
}
