import Binnacle
import BinnacleHeading
import BinnacleTesting
import Testing

/// A level device whose top points at `heading`, in a field of 21 µT to the north and 45 µT down.
func level(_ heading: Double) -> (acceleration: SIMD3<Float>, field: SIMD3<Float>) {
    let radians = heading * .pi / 180
    // East is to the right when the top points north.
    return (
        SIMD3(0, 0, Units.standardGravity), SIMD3(Float(-21 * sine(radians)), Float(21 * sine(radians + .pi / 2)), -45)
    )
}

/// The sine by its series: tests of the heading do not lean on the functions that it uses.
func sine(_ x: Double) -> Double {
    var x = x
    while x > .pi { x -= 2 * .pi }
    while x < -.pi { x += 2 * .pi }
    var term = x
    var sum = x
    for n in 1..<20 {
        let factors: Int = 2 * n * (2 * n + 1)
        term *= -x * x / Double(factors)
        sum += term
    }
    return sum
}

/// A compass on a bench: both sensors at 50 Hz with common stamps.
struct CompassBench {
    let sensors: [Sensor]
    let streams: [SampleStream]
    let detector: NorthDetector
    let diary = NorthDiary()

    init(
        _ settings: NorthSettings = NorthSettings(),
        sensors: [Sensor] = [Sensor(name: "chassis"), Sensor(name: "compass")]
    ) {
        // The samples have no hard iron.
        var settings = settings
        settings.uncalibratedIronMicrotesla = 0
        self.sensors = sensors
        streams = SampleStream.ordered([(sensors[0], .accelerometer), (sensors[1], .magnetometer)])
        detector = NorthDetector(
            accelerometer: streams.first { $0.kind == .accelerometer },
            magnetometer: streams.first { $0.kind == .magnetometer }, settings: settings)
        detector.delegate = diary
    }

    /// The same sensors, looked at by a detector that is new: what they are calibrated to counts from the start.
    init(like other: CompassBench) {
        self.init(other.detector.settings, sensors: other.sensors)
    }

    /// Plays headings at 50 Hz; `change` may spoil a pair.
    func run(
        _ headings: [Double], capacity: Int = 4096,
        change: (Int, inout SIMD3<Float>, inout SIMD3<Float>) -> Void = { _, _, _ in },
        isKept: (Int, SampleKind) -> Bool = { _, _ in true }
    ) {
        var samples: [(stream: Int, sample: Sample)] = []
        for (i, heading) in headings.enumerated() {
            var (a, m) = level(heading)
            change(i, &a, &m)
            let time = Int64(i) * 20 * millisecond
            for (index, stream) in streams.enumerated() where isKept(i, stream.kind) {
                let v = stream.kind == .accelerometer ? a : m
                samples.append((index, Sample(timeNanoseconds: time, x: v.x, y: v.y, z: v.z)))
            }
        }
        let source = ScriptedSource(streams: streams, samples: samples)
        detector.startDetection()
        Pipeline(source: source, detectors: [detector], capacity: capacity).run()
    }
}

final class NorthDiary: NorthDetectorDelegate {
    var entries: [String] = []
    var headings: [HeadingEvent] = []
    var stale: [HeadingEvent] = []
    var losses: [HeadingLoss] = []
    /// What it says when it is asked.
    var wantsCalibration = true
    var stopsWhenAsked = false

    func northDetectorWillStartDetection(_ detector: NorthDetector) { entries.append("willStart") }
    func northDetectorDidStopDetection(_ detector: NorthDetector) { entries.append("didStop") }
    func northDetectorDeviceNotAvailable(_ detector: NorthDetector) { entries.append("notAvailable") }
    func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) { entries.append("fail") }
    func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        if event.isStale { stale.append(event) } else { headings.append(event) }
    }
    func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        losses.append(loss)
        entries.append("lost \(loss.timeNanoseconds / millisecond)")
    }
    func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) { note("found", event) }
    func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        note("entered \(sector.name)", event)
    }
    func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        note("left \(sector.name)", event)
    }
    func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) { note("disturbed", event) }
    func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) { note("undisturbed", event) }
    func northDetectorShouldDisplayCalibration(_ detector: NorthDetector) -> Bool {
        entries.append("should?")
        if stopsWhenAsked { detector.stopDetection() }
        return wantsCalibration
    }
    func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        note("needs", event)
    }
    func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) { note("fits", event) }
    func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) { note("faced", event) }
    func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) { note("facing", event) }
    func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) { note("left", event) }

    private func note(_ name: String, _ event: HeadingEvent) {
        entries.append("\(name) \(event.timeNanoseconds / millisecond)")
    }

    private func note(_ name: String, _ event: FieldEvent) {
        entries.append("\(name) \(event.timeNanoseconds / millisecond)")
    }

    var decisions: [String] { entries.filter { !$0.hasPrefix("facing") && $0 != "willStart" } }
}

@Suite struct AngleTests {
    @Test func normalizesIntoOneTurn() {
        #expect(Angle.normalizedDegrees(360) == 0)
        #expect(Angle.normalizedDegrees(-1) == 359)
        #expect(Angle.normalizedDegrees(725) == 5)
        #expect(Angle.normalizedDegrees(-1e-20) == 0)
    }

    @Test func differencesAreTheShortWay() {
        #expect(Angle.differenceDegrees(from: 350, to: 10) == 20)
        #expect(Angle.differenceDegrees(from: 10, to: 350) == -20)
        #expect(Angle.differenceDegrees(from: 0, to: 180) == 180)
    }
}

@Suite struct NorthDetectorTests {
    @Test func facingNeedsTheDwellAndLeavingTheWiderExit() {
        let bench = CompassBench()
        // 2 s at 90°, 2 s at 5°, 2 s at 13° (beyond the tolerance, within the exit), 2 s at 20°.
        let headings = [90.0, 5, 13, 20].flatMap { [Double](repeating: $0, count: 100) }
        bench.run(headings)
        #expect(bench.diary.decisions.map { $0.split(separator: " ")[0] } == ["faced", "left"])
        let faced = Int(bench.diary.decisions[0].split(separator: " ")[1]) ?? 0
        let left = Int(bench.diary.decisions[1].split(separator: " ")[1]) ?? 0
        // The filter takes a while to turn by 85°; then comes half a second of dwell.
        #expect(faced >= 2500 && faced <= 3100)
        #expect(left >= 6500 && left <= 7100)
        #expect(!bench.detector.isFacing)
    }

    @Test func lookingByForLessThanTheDwellIsNothing() {
        var settings = NorthSettings()
        settings.smoothing = .zero
        let bench = CompassBench(settings)
        bench.run(
            [Double](repeating: 90, count: 100) + Array(repeating: 0, count: 20) + Array(repeating: 90, count: 100))
        #expect(bench.diary.decisions.isEmpty)
    }

    @Test func anyBearingAcrossTheWrap() {
        var settings = NorthSettings()
        settings.bearingDegrees = 358
        settings.smoothing = .zero
        let bench = CompassBench(settings)
        bench.run([Double](repeating: 180, count: 100) + Array(repeating: 4, count: 100))
        #expect(bench.diary.decisions == ["faced 2500"])
        #expect(bench.detector.isFacing)
    }

    @Test func theToleranceItselfStillFaces() {
        var settings = NorthSettings()
        settings.smoothing = .zero
        settings.headingFilterDegrees = 0
        for (heading, isFaced) in [(9.99, true), (10.01, false)] {
            let bench = CompassBench(settings)
            bench.run([Double](repeating: heading, count: 100))
            #expect(bench.detector.isFacing == isFaced)
        }
    }

    @Test func theFirstHeadingIsToldAndThenEachTurnFromTheLastTold() {
        var settings = NorthSettings()
        settings.smoothing = .zero
        settings.headingFilterDegrees = 5
        let bench = CompassBench(settings)
        bench.run(stride(from: 40, to: 60, by: 0.1).map { $0 })
        let told = bench.diary.headings.map(\.headingDegrees)
        #expect(told.count == 4)
        for (heading, expected) in zip(told, [40, 45, 50, 55]) { #expect(abs(heading - Double(expected)) < 0.15) }
    }

    @Test func facingIsRepeatedAtMostOncePerInterval() {
        var settings = NorthSettings()
        settings.updateInterval = .milliseconds(300)
        settings.smoothing = .zero
        let bench = CompassBench(settings)
        bench.run([Double](repeating: 0, count: 150))
        let times = bench.diary.entries.filter { $0.hasPrefix("facing") }.compactMap { Int($0.dropFirst(7)) }
        #expect(times == [500, 800, 1100, 1400, 1700, 2000, 2300, 2600, 2900])
    }

    @Test func implausibleFieldGivesNoHeadingUnlessSwitchedOff() {
        for range in [NorthSettings().plausibleFieldMicrotesla, nil] {
            var settings = NorthSettings()
            settings.plausibleFieldMicrotesla = range
            let bench = CompassBench(settings)
            bench.run([Double](repeating: 0, count: 100)) { _, _, m in m *= 9 }
            #expect(bench.diary.headings.isEmpty == (range != nil))
            #expect(bench.detector.faultCounts[.fieldImplausible] == (range != nil ? 100 : nil))
            #expect(bench.detector.isFacing == (range == nil))
        }
    }

    @Test func weakAccelerationGivesNoHeadingUnlessSwitchedOff() {
        for minimum in [0.1, 0] {
            var settings = NorthSettings()
            settings.minimumAccelerationG = minimum
            settings.accelerationGateG = nil
            settings.accuracyLimitDegrees = nil
            let bench = CompassBench(settings)
            bench.run([Double](repeating: 0, count: 100)) { _, a, _ in a *= 0.05 }
            #expect(bench.diary.headings.isEmpty == (minimum > 0))
            #expect(bench.detector.faultCounts[.accelerationWeak] == (minimum > 0 ? 100 : nil))
        }
    }

    @Test func aVerticalFieldGivesNoHeading() {
        let bench = CompassBench()
        bench.run([Double](repeating: 0, count: 10)) { _, _, m in m = SIMD3(0, 2, -50) }
        #expect(bench.detector.faultCounts[.fieldVertical] == 10)
    }

    @Test func theUprightAxisTakesOverWithHysteresis() {
        // The device is raised from flat to upright and laid down again; it looks north all the time.
        func pitched(_ degrees: Double) -> (SIMD3<Float>, SIMD3<Float>) {
            let p = degrees * .pi / 180
            let s = Float(sine(p))
            let c = Float(sine(p + .pi / 2))
            return (SIMD3(0, s, c) * Units.standardGravity, SIMD3(0, 21 * c - 45 * s, -21 * s - 45 * c))
        }
        func axes(_ upright: DeviceAxis?) -> [(pitch: Double, axis: DeviceAxis)] {
            var settings = NorthSettings()
            settings.smoothing = .zero
            settings.uprightAxis = upright
            settings.headingFilterDegrees = 0
            let pitches =
                Array(stride(from: 0.0, through: 80, by: 0.5)) + Array(stride(from: 80.0, through: 0, by: -0.5))
            let bench = CompassBench(settings)
            bench.run(pitches) { i, a, m in (a, m) = pitched(pitches[i]) }
            #expect(
                bench.diary.headings.allSatisfy { abs(Angle.differenceDegrees(from: 0, to: $0.headingDegrees)) < 0.1 })
            return bench.diary.headings.map { (pitches[Int($0.timeNanoseconds / (20 * millisecond))], $0.axis) }
        }
        let on = axes(.minusZ)
        let up = on.prefix(161)
        let down = on.suffix(161)
        #expect((60...60.5).contains(up.first { $0.axis == .minusZ }?.pitch ?? 0))
        #expect((54.5...55).contains(down.first { $0.axis == .plusY }?.pitch ?? 0))
        #expect(axes(nil).allSatisfy { $0.axis == .plusY })
    }

    @Test func thePairIsCausalAndHasAMaximumAge() {
        let bench = CompassBench()
        // The magnetometer is silent from 1.0 s to 1.6 s.
        bench.run(
            [Double](repeating: 0, count: 200), isKept: { i, kind in kind == .accelerometer || !(50..<80).contains(i) })
        // The last sample, at 0.98 s, serves until 1.08 s; without one are 1.10 … 1.58 s.
        #expect(bench.detector.faultCounts[.magnetometerMissing] == 25)
        #expect(bench.detector.validCount == 175)
    }

    @Test func aFieldFromTheFutureMakesNoPair() {
        // The magnetometer speaks first, for ten seconds in advance; the device turns meanwhile.
        let bench = CompassBench()
        var samples: [(stream: Int, sample: Sample)] = []
        for kind in [SampleKind.magnetometer, .accelerometer] {
            for i in 0..<200 {
                let (a, m) = level(Double(i))
                let v = kind == .accelerometer ? a : m
                let sample = Sample(timeNanoseconds: Int64(i) * 50 * millisecond, x: v.x, y: v.y, z: v.z)
                samples.append((kind == .magnetometer ? 0 : 1, sample))
            }
        }
        bench.detector.startDetection()
        Pipeline(source: ScriptedSource(streams: bench.streams, samples: samples), detectors: [bench.detector]).run()
        // Each acceleration is paired with the field of its own time, which the filter lags behind a little.
        #expect(bench.detector.validCount == 200)
        #expect(
            bench.diary.headings.allSatisfy {
                abs($0.headingDegrees - Double($0.timeNanoseconds / (50 * millisecond))) < 4
            })
        #expect((bench.diary.headings.last?.headingDegrees ?? 0) > 190)
    }

    @Test func anAccelerationThatIsNotFiniteGivesNoHeading() {
        let bench = CompassBench()
        bench.run([Double](repeating: 0, count: 100)) { i, a, _ in if i >= 10 { a.x = .nan } }
        #expect(bench.detector.validCount == 10)
        #expect(bench.detector.faultCounts[.accelerationWeak] == 90)
    }

    @Test func anInvalidHeadingNeitherFacesNorLeaves() {
        var settings = NorthSettings()
        settings.smoothing = .zero
        let bench = CompassBench(settings)
        // Faced; then the field fails while the device turns away and back; the decision stands.
        let headings =
            [Double](repeating: 0, count: 100) + Array(repeating: 90, count: 100) + Array(repeating: 0, count: 100)
        bench.run(headings) { i, _, m in if (100..<200).contains(i) { m = .zero } }
        #expect(bench.diary.decisions.filter { !$0.hasPrefix("disturbed") } == ["faced 500"])
        // Facing for 0.4 s, invalid, facing for 0.4 s: never half a second in one piece.
        let other = CompassBench(settings)
        other.run([Double](repeating: 0, count: 42)) { i, _, m in if i == 20 { m = .zero } }
        #expect(other.diary.decisions.isEmpty)
    }

    @Test(arguments: [1, 7, 50])
    func deliveriesOfAnySizeGiveTheSameCalls(capacity: Int) {
        let headings = (0..<1500).map { Double($0) * 0.5 }
        func diary(_ capacity: Int) -> NorthDiary {
            let bench = CompassBench()
            bench.run(
                headings, capacity: capacity,
                change: { i, a, m in
                    if i % 400 == 0 { m.x = .nan }
                    if i % 401 == 0 { a.z = .infinity }
                    if (600..<620).contains(i) { m *= 3 }
                },
                isKept: { i, kind in !(800..<870).contains(i) && (kind == .accelerometer || i % 3 != 1) })
            return bench.diary
        }
        let expected = diary(4096)
        let found = diary(capacity)
        #expect(found.entries == expected.entries)
        #expect(found.headings == expected.headings)
        #expect(expected.decisions.count > 2)
    }

    @Test func missingAndFailedSensorsAreTold() {
        let bench = CompassBench()
        bench.detector.startDetection()
        bench.detector.didLose(
            [SampleStream(sensor: Sensor(name: "stranger"), kind: .magnetometer)], because: TestError())
        bench.detector.didLose(bench.streams, because: TestError())
        bench.detector.stopDetection()
        Sensor.deactivate([bench.sensors[1]], because: TestError())
        bench.detector.startDetection()
        #expect(bench.diary.entries == ["willStart", "fail", "didStop", "notAvailable"])
    }

    @Test func decoratorsForwardWhatTheyDoNotOverride() {
        var settings = NorthSettings()
        settings.sectors = [HeadingSector(name: "east", fromDegrees: 80, toDegrees: 100)]
        settings.calibrationDelay = .seconds(1)
        settings.holdTime = .seconds(2)
        let bench = CompassBench(settings)
        let decorator = NorthDecorator(NorthDecorator(bench.diary))
        bench.detector.delegate = decorator
        bench.run([90.0, 0, 90, 90, 90, 90, 90, 90].flatMap { [Double](repeating: $0, count: 100) }) { i, _, m in
            if (350..<550).contains(i) { m *= 1.3 }
        }
        bench.detector.didLose(bench.streams, because: TestError())
        bench.detector.stopDetection()
        Sensor.deactivate([bench.sensors[0]], because: TestError())
        bench.detector.startDetection()
        let names = Set(bench.diary.entries.map { $0.split(separator: " ")[0] })
        #expect(
            names == [
                "willStart", "faced", "facing", "left", "entered", "disturbed", "undisturbed", "should?", "needs",
                "fits",
                "lost", "found", "fail", "didStop", "notAvailable",
            ])
        #expect(!bench.diary.headings.isEmpty)
    }

    @Test func theDelegateIsHeldWeakly() {
        let detector = NorthDetector(accelerometer: nil, magnetometer: nil)
        do {
            let diary = NorthDiary()
            detector.delegate = diary
        }
        #expect(detector.delegate == nil)
    }

    @Test func impossibleSettingsAreNamed() {
        var settings = NorthSettings()
        #expect(settings.problems().isEmpty)
        settings.bearingDegrees = 360
        settings.exitDegrees = 5
        settings.uprightAxis = .plusY
        settings.headingFilterDegrees = .nan
        #expect(NorthSettings.widest.problems().isEmpty && NorthSettings.widest.effectiveExitDegrees < 180)
        for (declination, strength, dip) in [
            (Double.nan, 45.0, 60.0), (400, 45, 60), (3, 0, 60), (3, 45, 91), (3, .infinity, 60),
        ] {
            var settings = NorthSettings()
            settings.localField = LocalField(
                declinationDegrees: declination, declinationUncertaintyDegrees: 0.4, fieldMicrotesla: strength,
                dipDegrees: dip)
            #expect(settings.problems().count == 1)
        }
        #expect(
            Set(settings.problems().map(\.property))
                == [\.bearingDegrees, \.exitDegrees, \.uprightAxis, \.headingFilterDegrees])
    }
}

extension NorthSettings {
    /// A tolerance so wide that one and a half times it could not be left.
    fileprivate static var widest: NorthSettings {
        var settings = NorthSettings()
        settings.toleranceDegrees = 170
        return settings
    }
}
