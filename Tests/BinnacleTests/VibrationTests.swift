import BinnacleTesting
import Foundation
import PlainText
import TestSupport
import Testing

import Binnacle

@Suite struct VibrationTests {
    /// Plays samples of a function of time; gives the events, and the readings of each second.
    private func play(
        _ settings: VibrationSettings, seconds: Double, rateHz: Double, capacity: Int = 4096,
        leaving: Range<Int> = 0..<0, kept: Double? = nil, place: (Int, Double) -> Double = { Double($0) / $1 },
        learned: JSONValue? = nil, value: (Double) -> SIMD3<Double>
    ) -> (events: [Event], figures: [Figure], detector: VibrationDetector) {
        var calibration = SensorCalibration()
        calibration.noise[.accelerometer] = kept.map { $0 * 1e-6 * standardGravity }
        let sensor = Sensor(name: "washer", calibration: kept == nil ? nil : calibration)
        let stream = SampleStream(sensor: sensor, kind: .accelerometer)
        let samples = (0..<Int(seconds * rateHz) + 1).filter { !leaving.contains($0) }.map { index in
            let place = place(index, rateHz)
            let vector = SIMD3<Float>(value(place) * standardGravity + SIMD3(0, 0, standardGravity))
            let time = Int64((place * 1e9).rounded())
            return Sample(timeNanoseconds: time, x: vector.x, y: vector.y, z: vector.z)
        }
        let detector = VibrationDetector(accelerometer: stream, settings: settings)
        let (router, collector) = (Router(), EventCollector())
        router.add(collector)
        detector.delegate = router
        if let learned { _ = detector.recall(learned) }
        detector.startDetection()
        Pipeline(
            source: ScriptedSource(streams: [stream], samples: samples.map { (0, $0) }), detectors: [detector],
            router: router, capacity: capacity
        ).run()
        return (collector.events, detector.figures, detector)
    }

    /// 1 g in m/s².
    private let standardGravity = 9.806_65

    private func number(_ figures: [Figure], _ name: Figure.Name) -> Double {
        figures.first { $0.name == name }?.value.double ?? .nan
    }

    /// A sine of amplitude a has the root mean square a/√2, and its velocity a/(2πf√2).
    @Test(arguments: [100.0, 400, 1000, 3200], [12.0, 12.5, 14.3, 20, 33.37, 60.1, 111, 390])
    func aSineHasItsClosedForm(rateHz: Double, frequency: Double) {
        guard frequency < rateHz / 2.56 - 2 else { return }
        let direction = SIMD3(0.6, 0, 0.8)
        let (_, figures, _) = play(VibrationSettings(), seconds: 3, rateHz: rateHz) {
            0.1 * direction * sin(2 * .pi * frequency * $0 + 0.3)
        }
        let acceleration = 0.1 / 2.0.squareRoot()
        let velocity = 1000 * standardGravity * acceleration / (2 * .pi * frequency)
        #expect(abs(number(figures, .vibration) / acceleration - 1) < 0.01)
        #expect(abs(number(figures, .velocity) / velocity - 1) < 0.01)
        #expect(abs(number(figures, .frequency) - frequency) < 0.1)
    }

    /// The check of the literature: 1 g at 100 Hz is 11.04 mm/s RMS.
    @Test func oneGAtAHundredHertzIsElevenMillimetresASecond() {
        let (_, figures, _) = play(VibrationSettings(), seconds: 2, rateHz: 1000) {
            SIMD3(sin(2 * .pi * 100 * $0), 0, 0)
        }
        #expect(abs(number(figures, .velocity) - 11.036) < 0.02)
        let highest: Double = 1000 / 2.56
        #expect(number(figures, .measuredTo) == highest)
    }

    /// A sum of sines in neighbouring bins has the sum of their mean squares, each with its own divisor; the rest is outside.
    @Test func bandsSeparateAndAddWhatLiesInThem() {
        var settings = VibrationSettings()
        settings.bands = [
            .init("low", fromHz: 5, toHz: 30), .init("high", fromHz: 30, toHz: 150, isVelocity: false),
        ]
        let detector = play(settings, seconds: 2, rateHz: 400) { time in
            let low = 0.02 * sin(2 * .pi * 10 * time) + 0.03 * sin(2 * .pi * 16 * time)
            return SIMD3(low, 0.5 * sin(2 * .pi * 80 * time), 0)
        }.detector
        let low =
            1000 * standardGravity / (2 * .pi) * ((0.02 / 10 * 0.02 / 10 + 0.03 / 16 * 0.03 / 16) / 2).squareRoot()
        #expect(abs(number(detector.figures, .velocity) / low - 1) < 0.01)
        #expect(detector.sampledValues.map(\.name) == ["low_mm_s", "high_g"])
    }

    /// At the edge of a band half the power of a sine is inside.
    @Test func atAnEdgeHalfOfThePowerIsInside() {
        var settings = VibrationSettings()
        settings.bands = [.init("low", fromHz: 5, toHz: 50)]
        let (_, figures, _) = play(settings, seconds: 2, rateHz: 400) { SIMD3(0.1 * sin(2 * .pi * 50 * $0), 0, 0) }
        #expect(abs(number(figures, .vibration) - 0.05) < 0.001)
    }

    @Test func oneAxisAlone() {
        var settings = VibrationSettings()
        settings.axes = .y
        let (_, figures, _) = play(settings, seconds: 2, rateHz: 400) {
            SIMD3(0.5 * sin(2 * .pi * 40 * $0), 0.1 * sin(2 * .pi * 20 * $0), 0)
        }
        #expect(abs(number(figures, .vibration) - 0.1 / 2.0.squareRoot()) < 0.0005)
        #expect(abs(number(figures, .frequency) - 20) < 0.1)
    }

    private var zones: VibrationSettings {
        var settings = VibrationSettings()
        settings.bands = [.init("drum", fromHz: 10, toHz: 100, limits: [0.05, 0.2], isVelocity: false)]
        settings.dwell = .seconds(2)
        return settings
    }

    /// At 20 Hz: calm, zone 1 from 5 s, zone 2 from 10 s, just under the limit but within the hysteresis from 15 s, calm from 20 s.
    private func course(_ time: Double) -> SIMD3<Double> {
        let rms: Double =
            switch time {
            case ..<5: 0.001
            case ..<10: 0.1
            case ..<15: 0.3
            case ..<20: 0.18
            default: 0.001
            }
        return SIMD3(rms * 2.0.squareRoot() * sin(2 * .pi * 20 * time), 0, 0)
    }

    @Test(arguments: [1, 7, 4096])
    func zonesBeginChangeAndEndWithDwellAndHysteresis(capacity: Int) {
        let (events, _, _) = play(zones, seconds: 30, rateHz: 256, capacity: capacity, value: course)
        #expect(events.map(\.kind) == [.vibrationBegan, .vibrationChanged, .vibrationEnded])
        #expect(events.map { $0.timeNanoseconds / millisecond } == [7000, 12_000, 22_000])
        #expect(events.map { $0.figures.first { $0.name == .zone }?.value } == [.integer(1), .integer(2), .integer(0)])
        #expect(events.last.map { abs(number($0.figures, .duration) - 15) < 1e-6 } == true)
    }

    /// What the chip's filter hides is neither calm nor in a zone.
    @Test func aBandThatIsNotCoveredIsNotMeasured() {
        var settings = zones
        settings.chipBandwidthHz = 5
        let (events, figures, detector) = play(settings, seconds: 14, rateHz: 256, value: course)
        #expect(events.isEmpty && figures.isEmpty && detector.state == "not measured")
        settings.bands.append(.init("hull", fromHz: 2, toHz: 4))
        #expect(play(settings, seconds: 14, rateHz: 256, value: course).detector.state == "calm")
    }

    /// A second with a gap is not measured, and the dwell time begins again.
    @Test func aSecondWithAGapIsNotMeasured() {
        let (events, _, detector) = play(zones, seconds: 14, rateHz: 256, leaving: 1600..<1610, value: course)
        #expect(events.map(\.kind) == [.vibrationBegan, .vibrationChanged])
        #expect(events.first.map { $0.timeNanoseconds / millisecond } == 9000)
        #expect(detector.summary.first?.contains("1 of 14 seconds were not measured") == true)
    }

    /// A gap from one second into the next is one of both.
    @Test func secondsThatShareAGapAreNotMeasured() {
        let (_, _, detector) = play(zones, seconds: 14, rateHz: 256, leaving: 1500..<1780, value: course)
        #expect(detector.summary.first?.contains("2 of 14 seconds were not measured") == true)
    }

    /// A device that catches up has more samples in a second, which is not measured, and then as many as before.
    @Test func aLongerSecondThatIsNotMeasuredLeavesTheOthersAsTheyAre() {
        let (_, figures, detector) = play(
            zones, seconds: 8, rateHz: 128,
            place: { index, rate in
                // Second 3 has 130 samples, the last 66 of them 3 ms apart.
                let inSecond = index - 3 * 128
                guard inSecond >= 64 else { return Double(index) / rate }
                return inSecond < 130 ? 3.5 + 0.003 * Double(inSecond - 64) : Double(index - 2) / rate
            }, value: course)
        #expect(detector.summary.first?.contains("1 of 7 seconds were not measured") == true)
        #expect(abs(number(figures, .vibration) - 0.1) < 0.01)
    }

    @Test func aMachineRunsSpinsAndHasFinishedOnce() {
        var settings = VibrationSettings()
        settings.bands = [.init("drum", fromHz: 5, toHz: 40)]
        (settings.runningG, settings.spinningG) = (0.01, 0.1)
        (settings.machineDwell, settings.idle) = (.seconds(3), .seconds(10))
        var wash = SimulationSettings()
        wash.model = .wash
        let model = MotionModel(wash)
        let (events, _, _) = play(settings, seconds: 89, rateHz: 100) { time in
            SIMD3<Double>(model.sample(.accelerometer, at: Int64((time * 100).rounded()))) / standardGravity
                - SIMD3(0, 0, 1)
        }
        let states = events.filter { $0.kind == .machineChanged }.compactMap { event in
            event.figures.first { $0.name == .machine }?.value.description
        }
        // It runs down within three seconds.
        #expect(states == ["idle", "running", "spinning", "idle"])
        let finished = events.filter { $0.kind == .machineFinished }
        #expect(finished.count == 1)
        #expect(finished.first.map { abs(number($0.figures, .duration) - 54) < 2 } == true)
    }

    /// A second of another state, in which a machine starts or runs down, neither counts nor delays the one that lasts.
    @Test(arguments: [0.0, 1])
    func aSecondOfAnotherStateDelaysNoState(between: Double) {
        var settings = VibrationSettings()
        (settings.runningG, settings.spinningG) = (0.02, 0.15)
        (settings.machineDwell, settings.idle) = (.seconds(4), .seconds(20))
        let (events, _, _) = play(settings, seconds: 60, rateHz: 256) { time in
            let size =
                switch time {
                case ..<between: 0.001
                case ..<20: 0.4
                case ..<(20 + between): 0.1
                default: 0.001
                }
            return SIMD3(size * sin(2 * .pi * 25 * time), 0, 0)
        }
        let states = events.map { event in
            "\(event.timeNanoseconds / second) \(event.figures.first { $0.name == .machine }?.value.description ?? "")"
        }
        let end = Int(40 + between)
        #expect(states == ["\(Int(4 + between)) spinning", "\(end) idle", "\(end) idle"])
        #expect(events.last.map { abs(number($0.figures, .duration) - 20) < 1e-6 } == true)
    }

    /// Neither a second of running long after the spin, nor a second of idle behind the first three of spinning, is a state.
    @Test func aSecondAloneIsNoState() {
        var settings = VibrationSettings()
        (settings.runningG, settings.spinningG) = (0.02, 0.15)
        (settings.machineDwell, settings.idle) = (.seconds(4), .seconds(20))
        func states(_ size: @escaping (Double) -> Double) -> [String] {
            play(settings, seconds: 70, rateHz: 256) { SIMD3(size($0) * sin(2 * .pi * 25 * $0), 0, 0) }.events
                .filter { $0.kind == .machineChanged }.map { event in
                    "\(event.timeNanoseconds / second) \(event.figures.first { $0.name == .machine }?.value.description ?? "")"
                }
        }
        #expect(states { $0 < 30 ? 0.4 : $0 >= 35 && $0 < 36 ? 0.1 : 0.001 } == ["4 spinning", "56 idle"])
        #expect(states { $0 < 3 ? 0.4 : 0.001 } == ["7 idle"])
    }

    /// A zone counts as soon as it has lasted, and one above it as soon as that has.
    @Test func aSlowRiseDelaysNoZone() {
        var settings = zones
        settings.dwell = .seconds(5)
        let (events, _, _) = play(settings, seconds: 40, rateHz: 256) { time in
            let rms = time < 10 ? 0.001 : time < 12 ? 0.1 : time < 25 ? 0.3 : time < 26 ? 0.1 : 0.001
            return SIMD3(rms * 2.0.squareRoot() * sin(2 * .pi * 20 * time), 0, 0)
        }
        let found = events.map {
            "\($0.timeNanoseconds / second) \($0.figures.first { $0.name == .zone }?.value.description ?? "")"
        }
        #expect(found == ["15 1", "17 2", "31 0"])
    }

    /// A gap of half the time that a state has to last, or longer, is no part of it; a shorter one is.
    @Test(arguments: [(1.5, 15), (30, 46)]) func aLongGapIsNotTheTimeThatAMachineRuns(gap: Double, running: Int64) {
        var settings = VibrationSettings()
        (settings.runningG, settings.machineDwell, settings.idle) = (0.02, .seconds(4), .seconds(10))
        let (events, _, _) = play(
            settings, seconds: 30, rateHz: 256, place: { Double($0) / $1 + ($0 > 12 * 256 ? gap : 0) }
        ) {
            // At rest until a second before the gap.
            SIMD3(($0 < 11 ? 0.001 : 0.1) * sin(2 * .pi * 25 * $0), 0, 0)
        }
        let found = events.filter { $0.kind == .machineChanged }
        #expect(found.map { $0.figures.first { $0.name == .machine }?.value.description } == ["idle", "running"])
        #expect(found.last.map { $0.timeNanoseconds / second } == running)
    }

    /// The end names the band whose vibration ends.
    @Test func theEndNamesTheBandOfItsBegin() {
        var settings = zones
        settings.bands.insert(.init("low", fromHz: 5, toHz: 8, limits: [0.05], isVelocity: false), at: 0)
        let (events, _, _) = play(settings, seconds: 30, rateHz: 256, value: course)
        #expect(events.last?.kind == .vibrationEnded)
        #expect(events.map { $0.figures.first { $0.name == .band }?.value.description } == ["drum", "drum", "drum"])
    }

    /// What is unusual is learned: a factor of two after a day of the same, and nothing before it is learned.
    @Test func whatIsNormalIsLearnedKeptAndCompared() throws {
        var settings = VibrationSettings()
        settings.bands = [.init("pump", fromHz: 10, toHz: 100)]
        settings.learnDays = 120.0 / 86_400
        settings.dwell = .seconds(2)
        func pump(_ time: Double) -> SIMD3<Double> {
            SIMD3((time < 150 ? 0.1 : 0.3) * sin(2 * .pi * 25 * time), 0, 0)
        }
        let (events, figures, detector) = play(settings, seconds: 160, rateHz: 256, value: pump)
        #expect(events.map(\.kind) == [.vibrationBegan])
        #expect(events.first.map { $0.timeNanoseconds / second } == 152)
        #expect(number(figures, .learned) == 100)
        let kept = try JSONReader.value(of: Array(try #require(detector.learned).utf8))
        let next = play(settings, seconds: 5, rateHz: 256, learned: kept) { pump($0 + 150) }
        #expect(next.events.map(\.kind) == [.vibrationBegan])
        // What was learned of another band is of no use.
        let forgetful = play(settings, seconds: 5, rateHz: 256, learned: kept, value: pump).detector
        #expect(number(forgetful.figures, .learned) == 100 && forgetful.resetKept())
        #expect(number(forgetful.figures, .learned) == 0 && forgetful.learned == nil)
        settings.bands[0].toHz = 90
        #expect(number(play(settings, seconds: 5, rateHz: 256, learned: kept, value: pump).figures, .learned) < 10)
    }

    /// A second is compared with what is normal for its own state: a start that is like all others is not unusual.
    @Test func eachStateHasItsOwnNormalValues() {
        var settings = VibrationSettings()
        settings.bands = [.init("pump", fromHz: 10, toHz: 100, isVelocity: false)]
        (settings.runningG, settings.learnDays) = (0.02, 600.0 / 86_400)
        (settings.dwell, settings.idle) = (.seconds(1), .seconds(20))
        func pump(_ time: Double) -> SIMD3<Double> {
            let runs = time.truncatingRemainder(dividingBy: 200) < 80
            return SIMD3((runs ? 0.1 : 0.001) * sin(2 * .pi * 25 * time), 0, 0)
        }
        let (events, figures, _) = play(settings, seconds: 1300, rateHz: 256, value: pump)
        #expect(number(figures, .learned) == 100)
        #expect(Set(events.map(\.kind)) == [.machineChanged, .machineFinished])
    }

    @Test func aMachineThatRunsAtFirstIsNotIdle() {
        var settings = VibrationSettings()
        (settings.runningG, settings.machineDwell) = (0.02, .seconds(4))
        let (events, _, _) = play(settings, seconds: 10, rateHz: 256) { SIMD3(0.1 * sin(2 * .pi * 25 * $0), 0, 0) }
        #expect(events.map { $0.figures.first { $0.name == .machine }?.value.description } == ["running"])
        #expect(events.first.map { $0.timeNanoseconds / second } == 4)
    }

    /// A coarse sensor at rest has equal values: that is learned, too.
    @Test func nothingAtAllIsLearned() {
        var settings = VibrationSettings()
        settings.bands = [.init("pump", fromHz: 10, toHz: 100, isVelocity: false)]
        settings.learnDays = 70.0 / 86_400
        let (events, figures, _) = play(settings, seconds: 80, rateHz: 256) { time in
            SIMD3(time < 75 ? 0 : 0.1 * sin(2 * .pi * 25 * time), 0, 0)
        }
        #expect(number(figures, .learned) == 100)
        #expect(events.map(\.kind) == [.vibrationBegan])
    }

    @Test func anUnevenClockIsSaid() {
        var random = SeededGenerator(seed: 7)
        func jitter(_ share: Double) -> (Int, Double) -> Double {
            { index, rate in (Double(index) + Double.random(in: -share...share, using: &random)) / rate }
        }
        var settings = VibrationSettings()
        settings.bands = [.init("pump", fromHz: 10, toHz: 100)]
        let even = play(settings, seconds: 12, rateHz: 256, place: jitter(0.02)) { SIMD3(0.1 * sin(60 * $0), 0, 0) }
        #expect(even.detector.assumptions.isEmpty)
        let uneven = play(settings, seconds: 12, rateHz: 256, place: jitter(0.4)) { SIMD3(0.1 * sin(60 * $0), 0, 0) }
        #expect(uneven.detector.assumptions.first?.text.contains("taken for even ones") == true)
    }

    @Test func whatTheRateDoesNotShowIsSaid() {
        let detector = play(VibrationSettings(), seconds: 2, rateHz: 100) { _ in .zero }.detector
        #expect(detector.assumptions.map(\.text).first?.contains("from 10.0 to 39.1 Hz, and not to 1000.0 Hz") == true)
        let slow = play(VibrationSettings(), seconds: 2, rateHz: 20) { _ in .zero }
        #expect(slow.figures.isEmpty && slow.detector.state == "not measured")
    }

    /// 0.49 n mm/s for 10 to 1000 Hz, on one axis.
    @Test func theNoiseFloorFollowsTheDensity() throws {
        var settings = VibrationSettings()
        (settings.axes, settings.noiseMicroG) = (.x, 300)
        #expect(try abs(#require(settings.noiseFloor(of: settings.bands[0], microG: 300)) - 0.1473) < 0.001)
    }

    /// A sine stands out with its root mean square, and a limit is what a sine alone has that reaches it.
    @Test func theSpectrumShowsASineAndItsLimit() throws {
        var settings = VibrationSettings()
        settings.bands = [.init("drum", fromHz: 10, toHz: 1000, limits: [3], isVelocity: true)]
        let detector = play(settings, seconds: 3, rateHz: 400) { SIMD3(0, 0.1 * sin(2 * .pi * 50 * $0), 0) }.detector
        let spectrum = try #require(detector.spectrum)
        #expect(spectrum.timeNanoseconds == 3 * second && (1...512).contains(spectrum.values.count))
        let top = try #require(spectrum.values.indices.max { spectrum.values[$0] < spectrum.values[$1] })
        let found = spectrum.fromHz + (Double(top) + 0.5) * spectrum.stepHz
        #expect(abs(found - 50) <= spectrum.stepHz)
        #expect((0.85...1.001).contains(Double(spectrum.values[top]) / (0.1 / 2.0.squareRoot())))
        #expect(spectrum.values.count(where: { $0 > 0.01 }) < 10)
        let end = spectrum.fromHz + Double(spectrum.values.count) * spectrum.stepHz
        #expect(abs(end - 400 / 2.56) <= 2 * spectrum.stepHz)
        let band = try #require(spectrum.bands.first)
        #expect((band.name, band.measure, band.unit) == ("drum", "drum_mm_s", "mm/s") && band.toHz == 400 / 2.56)
        // 1 mm/s at 10 Hz is 2π · 10 / 1000 m/s².
        #expect(
            abs(band.scale.x - 0.02 * .pi / standardGravity) < 1e-9 && abs(band.scale.y / band.scale.x - 15.625) < 1e-9)
        let gap = play(settings, seconds: 3, rateHz: 400, leaving: 900..<950) { SIMD3(0, sin($0), 0) }.detector
        #expect(gap.spectrum?.values == [] && gap.spectrum?.timeNanoseconds == 3 * second)
        // One that replaces another after a reload has none yet: views must not keep the old one.
        let new = VibrationDetector(accelerometer: nil, settings: settings).spectrum
        #expect(new?.values == [] && new?.bands == [] && new?.timeNanoseconds == 0)
    }

    /// White noise of a known density is found beside a strong sine, which is not in it; a limit below it is told after a minute.
    @Test(arguments: [VibrationSettings.Axes.all, .z])
    func theNoiseOfTheChipIsMeasured(axes: VibrationSettings.Axes) throws {
        let rateHz = 256.0
        var settings = VibrationSettings()
        settings.bands = [.init("fan", fromHz: 10, toHz: 90, limits: [0.0005, 0.1], isVelocity: false)]
        settings.axes = axes
        var random = SeededGenerator(seed: 5)
        // n g/√Hz are n √(rate/2) in each sample; the sum of twelve numbers is nearly normal.
        let deviation = 300e-6 * (rateHz / 2).squareRoot()
        func noise() -> Double {
            (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0...1, using: &random) } * deviation
        }
        let run = play(settings, seconds: 62, rateHz: rateHz) { time in
            SIMD3(noise(), noise(), noise() + (time < 40 ? 0.3 * sin(2 * .pi * 30 * time) : 0))
        }
        let floor = try #require(run.detector.spectrum?.bands.first?.floor)
        let expected = 300e-6 * (axes == .all ? 3 : 1).squareRoot() * 80.0.squareRoot()
        #expect(abs(floor / expected - 1) < 0.1)
        let told = run.detector.assumptions.map(\.text)
        #expect(told.count == 1 && told[0].contains("limit 0.0005 g lies below the noise"), "\(told)")
        #expect(!run.detector.resetKept() && run.detector.spectrum?.bands.first?.floor == floor)
    }

    /// What calibrate has kept counts from the first second on, where it is more than the settings say and what is measured.
    @Test func aKeptNoiseIsTheFloor() throws {
        var settings = VibrationSettings()
        settings.bands = [.init("fan", fromHz: 10, toHz: 90, limits: [0.005, 0.1], isVelocity: false)]
        (settings.axes, settings.noiseMicroG) = (.x, 300)
        func floor(_ kept: Double?) throws -> (Double, [String]) {
            let detector = play(settings, seconds: 2, rateHz: 256, kept: kept) { _ in .zero }.detector
            return (try #require(detector.spectrum?.bands.first?.floor), detector.assumptions.map(\.text))
        }
        #expect(try abs(floor(nil).0 / (300e-6 * 80.0.squareRoot()) - 1) < 1e-6 && floor(nil).1.isEmpty)
        #expect(try floor(200) == floor(nil))
        let (value, told) = try floor(1000)
        #expect(abs(value / (1000e-6 * 80.0.squareRoot()) - 1) < 1e-6)
        #expect(
            told.count == 1 && told[0].contains("lies below the noise") && told[0].contains("has 1000 µg/√Hz"),
            "\(told)")
    }

    /// Stamps of a hostile trace must not trap.
    @Test func stampsAtTheEndsOfTheRangeAreHarmless() {
        let stream = SampleStream(sensor: Sensor(name: "washer"), kind: .accelerometer)
        let times: [Int64] = [.min, .min + 5, 0, 1, 1, 1, second, .max - 1, .max, .max, .max]
        let detector = VibrationDetector(accelerometer: stream)
        detector.startDetection()
        let samples = times.map { (0, rest($0)) }
        Pipeline(source: ScriptedSource(streams: [stream], samples: samples), detectors: [detector], capacity: 4).run()
        #expect(detector.state == "not measured")
    }
}
