import Binnacle
import BinnacleHeading
import BinnacleTesting
import Glibc
import SensorGeometry
import Testing

/// When a heading is valid, held, lost; where true north is; what sectors and sensors do to it.
@Suite struct TrustedHeadingTests {
    private func bench(_ change: (inout NorthSettings) -> Void = { _ in }) -> CompassBench {
        var settings = NorthSettings()
        settings.smoothing = .zero
        change(&settings)
        return CompassBench(settings)
    }

    private let still = [Double](repeating: 40, count: 1000)

    /// The fields that came before the iron was recalled are not wrong by it afterwards.
    @Test func recalledIronIsTakenFromWhatWasSmoothed() throws {
        let sensor = Sensor(name: "boat")
        let iron = SIMD3<Double>(30, -10, 20)
        sensor.magnetometerDevice = MountedSensor(device: "chip", axes: nil)
        sensor.recallLearned = { _, _ in
            var memory = FusionMemory.nothing(FusionSettings())
            memory.errors = SensorErrors.iron(iron, sigma: SIMD3(repeating: 1))
            return memory
        }
        let streams = SampleStream.ordered([(sensor, .accelerometer), (sensor, .magnetometer)])
        var settings = NorthSettings()
        settings.smoothing = .seconds(1)
        settings.headingFilterDegrees = 0
        let detector = NorthDetector(accelerometer: streams[1], magnetometer: streams[0], settings: settings)
        let diary = NorthDiary()
        detector.delegate = diary
        let (up, field) = level(90)
        let measured = field + SIMD3<Float>(iron)
        var samples: [(stream: Int, sample: Sample)] = []
        for index in 0..<200 {
            let time = Int64(index) * 20 * millisecond
            samples.append((0, Sample(timeNanoseconds: time, x: measured.x, y: measured.y, z: measured.z)))
            // The accelerometer starts later; with it comes the iron.
            if index >= 25 { samples.append((1, Sample(timeNanoseconds: time, x: up.x, y: up.y, z: up.z))) }
        }
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: samples), detectors: [detector]).run()
        #expect(diary.headings.count > 10)
        #expect(diary.headings.allSatisfy { abs($0.headingDegrees - 90) < 0.5 }, "\(diary.headings.prefix(3))")
        #expect(detector.gyroscopeState?.magnetometer == sensor.magnetometerDevice)
    }

    // MARK: - True north

    @Test func aKnownPlaceMakesHeadingsTrue() throws {
        let bench = bench {
            $0.localField = LocalField(
                declinationDegrees: 12, declinationUncertaintyDegrees: 0.4, fieldMicrotesla: 49.66)
        }
        bench.run([Double](repeating: 352, count: 100))
        let event = try #require(bench.diary.headings.first)
        #expect(abs(event.headingDegrees - 4) < 0.01)
        #expect(event.reference == .true && event.declinationDegrees == 12)
        // 352° magnetic is 8° from magnetic north, and 4° from true north.
        #expect(abs(event.offDegrees + 4) < 0.01)
        #expect(bench.detector.isFacing)
    }

    @Test func theBearingCountsFromTrueNorthToo() {
        for (heading, isFaced) in [(341.0, true), (357.0, true), (337.0, false), (359.5, false)] {
            let bench = bench {
                $0.localField = LocalField(
                    declinationDegrees: 12, declinationUncertaintyDegrees: 0.4, fieldMicrotesla: 49.66)
            }
            bench.run([Double](repeating: heading, count: 100))
            #expect(bench.detector.isFacing == isFaced, "\(heading)")
        }
    }

    @Test func withoutAPlaceTheHeadingIsMagnetic() throws {
        let bench = bench()
        bench.run([Double](repeating: 352, count: 100))
        let event = try #require(bench.diary.headings.first)
        #expect(event.reference == .magnetic && event.declinationDegrees == nil)
    }

    @Test func theDeclinationsUncertaintyIsPartOfTheAccuracy() throws {
        func accuracy(_ uncertainty: Double) throws -> Double {
            let bench = bench {
                $0.localField = LocalField(
                    declinationDegrees: 12, declinationUncertaintyDegrees: uncertainty, fieldMicrotesla: 49.66)
            }
            bench.run(still)
            return try #require(bench.diary.headings.first).accuracyDegrees
        }
        let (sharp, blurred) = (try accuracy(0), try accuracy(2))
        #expect(abs((blurred * blurred - sharp * sharp).squareRoot() - 2 * 1.645) < 0.01)
    }

    /// The device's dip is 65°: a tilt to the east turns the heading by its tangent.
    @Test func theAccelerometersErrorIsPartOfTheAccuracy() throws {
        func accuracy(_ calibration: SensorCalibration?) throws -> Double {
            let bench = bench()
            bench.sensors[0].calibration = calibration
            bench.run(still)
            return try #require(bench.diary.headings.last).accuracyDegrees
        }
        let axes = AxisCalibration(offset: .zero, matrix: Matrix3(diagonal: SIMD3(repeating: 1)))
        var calibration = SensorCalibration(accelerometer: axes)
        let (bare, good) = (try accuracy(nil), try accuracy(calibration))
        calibration.accelerometerResidual = 0.3
        let rough = try accuracy(calibration)
        func tilt(_ more: Double, _ less: Double) -> Double {
            (more * more - less * less).squareRoot() / (1.645 * tan(65 * .pi / 180) * 180 / .pi)
        }
        #expect(abs(tilt(bare, good) - (0.01 * 0.01 - 0.003 * 0.003).squareRoot()) < 1e-4)
        #expect(abs(tilt(rough, good) - 0.0249) < 1e-3)
    }

    /// The device's dip is 65°, and an error of up that changes the dip may lie to the east as well.
    @Test(arguments: [(65.0, 0.0, 3.0), (61, 5, 12), (56, 20, 40)])
    func aDipAtRestThatIsNotThePlacesIsInTheAccuracy(placeDip: Double, least: Double, most: Double) throws {
        let bench = bench {
            $0.localField = LocalField(
                declinationDegrees: 0, declinationUncertaintyDegrees: 0, fieldMicrotesla: 49.66, dipDegrees: placeDip)
            $0.accuracyLimitDegrees = nil
        }
        bench.run(still)
        let accuracy = try #require(bench.diary.headings.last).accuracyDegrees
        #expect(accuracy > least && accuracy < most)
    }

    @Test func nearAMagneticPoleThereIsNoHeading() {
        let bench = bench {
            $0.localField = LocalField(
                declinationDegrees: 0, declinationUncertaintyDegrees: 5, fieldMicrotesla: 49.66)
            $0.localField?.zone = .blackout
        }
        bench.run(still)
        #expect(bench.diary.headings.isEmpty)
        #expect(bench.diary.losses.map(\.fault) == [.blackout])
        #expect(bench.diary.losses.first?.sensor == nil)
        #expect(bench.detector.heading == nil)
    }

    // MARK: - Gates

    @Test func whileItAcceleratesTheHeadingIsHeldAndSaysHowOldItIs() throws {
        let bench = bench { $0.headingFilterDegrees = 0 }
        bench.run(still) { i, a, _ in
            if (100..<250).contains(i) { a *= 1.06 }
        }
        #expect(bench.diary.headings.count == 850)
        #expect(bench.diary.stale.map { ($0.age / .milliseconds(10)).rounded() / 100 } == [1, 2, 3])
        #expect(bench.diary.stale.allSatisfy { abs($0.headingDegrees - 40) < 0.01 })
        #expect(bench.diary.losses.isEmpty)
        #expect(bench.detector.faultCounts == [.accelerating: 150])
    }

    @Test func whatIsNotConfirmedWaitsForAValidHeading() {
        let bench = bench()
        // North comes in sight for 0.2 s, and then the device is shaken for two.
        let headings = [90.0, 0].flatMap { [Double](repeating: $0, count: 100) } + Array(repeating: 0, count: 100)
        bench.run(headings) { i, a, _ in
            if (110..<210).contains(i) { a *= 1.2 }
        }
        // It is a heading again a quarter of a second after the last violent sample.
        #expect(bench.diary.decisions == ["faced 4440"])
    }

    @Test func aDipThatIsNotTheOneAtRestClosesTheGate() {
        let bench = bench()
        bench.run(still) { i, _, m in
            // 5° steeper, of the same strength.
            if (100..<120).contains(i) { m = SIMD3(m.x * 0.8, m.y * 0.8, -46.74) }
        }
        #expect(bench.detector.faultCounts == [.dipDeparted: 20])
    }

    /// Another dip is that of another place once the device has been lifted, or tilted, and a magnet's before.
    @Test(arguments: [nil, 100, 600], [true, false])
    func anotherDipBecomesTheOneAtRestWhereTheDeviceHasMoved(moved: Int?, isLifted: Bool) {
        let bench = bench()
        bench.run([Double](repeating: 40, count: 1500)) { i, a, m in
            if i >= 100 { m = SIMD3(m.x * 0.8, m.y * 0.8, -46.74) }
            guard let moved, i >= moved else { return }
            if isLifted, i < moved + 10 { a *= 1.06 }
            if !isLifted { (a, m) = (tilted(a), tilted(m)) }
        }
        let faults = bench.detector.faultCounts
        #expect(((bench.detector.heading?.accuracyDegrees ?? -1) > 0) == (moved != nil))
        #expect(faults[.dipDeparted].map { $0 > (moved ?? 1500) - 110 } ?? false, "\(faults)")
        #expect(moved != nil || bench.diary.losses.map(\.fault) == [.dipDeparted], "\(bench.diary.losses)")
    }

    /// A vector of a device that is tilted by 5° about its x-axis.
    private func tilted(_ vector: SIMD3<Float>) -> SIMD3<Float> {
        let (sine, cosine) = (sin(Float.pi / 36), cos(Float.pi / 36))
        return SIMD3(vector.x, vector.y * cosine - vector.z * sine, vector.y * sine + vector.z * cosine)
    }

    /// A magnet beside a resting device turns the field by 31° and leaves strength and dip nearly as they were: the dip is not learned, and
    /// the accuracy stays.
    @Test func aMagnetBesideARestingDeviceIsInTheAccuracyWhileItIsThere() throws {
        let bench = bench { $0.accuracyLimitDegrees = nil }
        bench.run([Double](repeating: 40, count: 3500)) { i, _, m in
            let share = Float(min(max(i - 200, 0), 50)) / 50
            // Level, across the field: 12 µT of 21 level ones, and 1.5 µT less upright.
            m += SIMD3(m.y, -m.x, 0) * (0.6 * share) + SIMD3(0, 0, 3.5) * share
        }
        let last = try #require(bench.diary.headings.last)
        #expect(last.accuracyDegrees > abs(last.headingDegrees - 40) / 2, "\(last)")
    }

    @Test func theGatesCanBeLeftOpen() {
        let bench = bench {
            $0.accelerationGateG = nil
            $0.dipGateDegrees = nil
            $0.accuracyLimitDegrees = nil
        }
        bench.run(still) { i, a, m in
            if i % 3 == 0 { a *= 1.5 }
            if i % 5 == 0 { m = SIMD3(m.x * 0.8, m.y * 0.8, -46.74) }
        }
        #expect(bench.detector.faultCounts.isEmpty)
    }

    @Test func afterAHeldHeadingTheNextValidOneIsToldWhereverItPoints() {
        let bench = bench()
        bench.run(still) { i, a, _ in
            if (100..<170).contains(i) { a *= 1.06 }
        }
        #expect(bench.diary.stale.count == 1)
        // And a second later with the accuracy that it has by then.
        #expect(bench.diary.headings.map { $0.timeNanoseconds / millisecond } == [0, 3400, 4400])
    }

    @Test func stampsThatRepeatOrBeginAnewDoNoHarm() {
        let bench = bench { $0.headingFilterDegrees = 0 }
        bench.detector.startDetection()
        let far: [Int64] = [0, 0, 0, 20, 20, 40].map { $0 * millisecond }
        let stamps = far.map { $0 + 1_000_000_000_000_000_000 } + far + [Int64.max - 1, Int64.min, 0, 20 * millisecond]
        for (index, time) in stamps.enumerated() {
            let delivery = SampleDelivery(streams: bench.streams, capacity: 1)
            let (a, m) = level(40 + Double(index) * 0.01)
            for stream in bench.streams {
                let v = stream.kind == .accelerometer ? a : m
                delivery[stream.id]?.append(Sample(timeNanoseconds: time, x: v.x, y: v.y, z: v.z))
            }
            bench.detector.process(delivery)
        }
        #expect(bench.diary.headings.count == stamps.count)
        #expect(bench.diary.headings.allSatisfy { $0.accuracyDegrees.isFinite && $0.age == .zero })
        #expect(bench.detector.heading?.isStale == false)
    }

    @Test func aSourceThatNormalisesHasHeadingsToo() throws {
        let bench = bench {
            $0.plausibleFieldMicrotesla = nil
            $0.minimumHorizontalFieldMicrotesla = 0.1
            $0.localField = LocalField(
                declinationDegrees: 4, declinationUncertaintyDegrees: 0.4, fieldMicrotesla: 49.66)
        }
        bench.run(still) { _, _, m in m /= 50 }
        #expect(abs(try #require(bench.diary.headings.first).headingDegrees - 44) < 0.01)
        #expect(bench.detector.faultCounts.isEmpty)
    }

    @Test func whoStopsWhenAskedIsToldNothingMore() {
        let bench = bench()
        bench.diary.stopsWhenAsked = true
        bench.run([Double](repeating: 40, count: 3000)) { i, _, m in
            if (500..<2500).contains(i) { m *= 1.3 }
        }
        #expect(Array(bench.diary.entries.suffix(2)) == ["should?", "didStop"])
        #expect(bench.detector.heading == nil && !bench.detector.isDisturbed)
    }

    // MARK: - An accuracy that changes

    @Test func anAccuracyThatGotWorseIsToldWithoutATurn() throws {
        let uncalibrated = bench()
        let axes = AxisCalibration(
            offset: .zero, matrix: Matrix3(rows: [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]))
        uncalibrated.sensors[1].calibration = SensorCalibration(
            magnetometer: MagnetometerCalibration(axes: axes, fieldMicrotesla: 49.66, residualMicrotesla: 0.2))
        let bench = CompassBench(like: uncalibrated)
        // A field that is stronger by 12 % is no interference, but may be wrong by that in any direction.
        bench.run(still) { i, _, m in
            if (200..<400).contains(i) { m *= 1.12 }
        }
        let told = bench.diary.headings
        try #require(told.map { $0.timeNanoseconds / millisecond } == [0, 4000, 8000])
        #expect(told.allSatisfy { abs($0.headingDegrees - 40) < 0.1 })
        #expect(told[1].accuracyDegrees > 2 * told[0].accuracyDegrees)
        #expect(told[2].accuracyDegrees < 0.5 * told[1].accuracyDegrees)
    }

    @Test func anAccuracyThatGotBetterIsToldAtMostOnceASecond() {
        let bench = bench()
        // Five times a second the field is off for a tenth of a second.
        bench.run(still) { i, _, m in
            if i >= 200, i % 10 < 5 { m *= 1.12 }
        }
        let told = bench.diary.headings
        let better = zip(told, told.dropFirst()).filter { $1.accuracyDegrees < $0.accuracyDegrees }
        #expect(!better.isEmpty)
        #expect(better.allSatisfy { $1.timeNanoseconds - $0.timeNanoseconds >= 1000 * millisecond })
        #expect(told.count <= 2 * still.count / 50)
    }

    @Test func anAccuracyThatHardlyChangesIsNotTold() {
        let bench = bench()
        bench.run(still) { i, _, m in
            if i >= 200 { m *= 1.005 }
        }
        #expect(bench.diary.headings.count == 1)
    }

    // MARK: - Accelerations that last

    /// A level device whose +Y points somewhere, accelerated to its right from 25 to 35 s, and turned at a rate meanwhile.
    private struct Curve: CustomTestStringConvertible {
        let dip: Double
        let heading: Double
        let g: Double
        let rate: Double
        let smoothing: Double

        var testDescription: String { "dip \(dip), heading \(heading), \(g) g, \(rate)°/s, smoothing \(smoothing) s" }

        static let all: [Curve] = [45.0, 66, 75].flatMap { dip in
            [0.0, 40, 90, 180, 300].flatMap { heading in
                [(0.1, 0.0, 0.1), (0.2, 0, 0.1), (0.1, 5, 0.1), (0.2, 5, 0.1), (0.1, 0, 1), (0.2, 0, 1)].map {
                    Curve(dip: dip, heading: heading, g: $0.0, rate: $0.1, smoothing: $0.2)
                }
            }
        }

        func truth(_ i: Int) -> Double { heading + rate * min(max(Double(i) * 0.02 - 25, 0), 10) }

        func pair(_ i: Int) -> (SIMD3<Float>, SIMD3<Float>) {
            let seconds = Double(i) * 0.02
            let share = min(max((seconds - 25) / 0.4, 0), 1) * min(max((35.4 - seconds) / 0.4, 0), 1)
            let radians = truth(i) * .pi / 180
            let (level, down) = (44 * cos(dip * .pi / 180), 44 * sin(dip * .pi / 180))
            // As of a phone, and the same in every run: 0.02 m/s² and 0.3 µT.
            func noise(_ axis: Int) -> Double {
                let value = sin(Double(i * 6 + axis) * 12.9898) * 43758.5453
                return (value - value.rounded(.down) - 0.5) * 12.0.squareRoot()
            }
            return (
                SIMD3(
                    Float(g * 9.80665 * share + 0.02 * noise(0)), Float(0.02 * noise(1)),
                    Float(9.80665 + 0.02 * noise(2))),
                SIMD3(
                    Float(-level * sin(radians) + 0.3 * noise(3)), Float(level * cos(radians) + 0.3 * noise(4)),
                    Float(-down + 0.3 * noise(5)))
            )
        }
    }

    @Test(arguments: Curve.all)
    private func aLastingAccelerationIsInTheAccuracyToItsEnd(curve: Curve) {
        let bench = bench {
            $0.smoothing = .seconds(curve.smoothing)
            $0.headingFilterDegrees = 0
        }
        bench.run([Double](repeating: 0, count: 3000)) { i, a, m in (a, m) = curve.pair(i) }
        let within = { (event: HeadingEvent) in
            let truth = curve.truth(Int(event.timeNanoseconds / (20 * millisecond)))
            return abs(Angle.differenceDegrees(from: truth, to: event.headingDegrees)) <= event.accuracyDegrees
        }
        let found = bench.diary.headings
        let during = found.filter { (25_000...36_400).contains($0.timeNanoseconds / millisecond) }
        #expect(Double(during.count(where: within)) >= 0.9 * Double(during.count))
        // At rest before and after it nothing of it is left.
        let rest = found.filter {
            let milliseconds = $0.timeNanoseconds / millisecond
            return milliseconds > 5000 && !(25_000...50_000).contains(milliseconds)
        }
        #expect(rest.count > 1000)
        #expect(rest.allSatisfy { $0.accuracyDegrees < 6 })
    }

    // MARK: - Loss

    @Test func aMagnetometerThatDiesIsNamed() throws {
        let bench = bench()
        bench.run([Double](repeating: 0, count: 1000), isKept: { i, kind in kind == .accelerometer || i < 20 })
        let loss = try #require(bench.diary.losses.first)
        #expect(bench.diary.losses.count == 1)
        #expect(loss.fault == .magnetometerMissing && loss.sensor == "compass")
        // The last pair is as old as a pair may be.
        #expect(abs(loss.timeNanoseconds - (480 + 5000) * millisecond) <= 20 * millisecond)
        let held: Double = try #require(loss.held) / .seconds(1)
        #expect(abs(held - 5) < 0.021)
        // It faced north for 0.48 s, and never any longer.
        #expect(bench.diary.decisions == ["lost \(loss.timeNanoseconds / millisecond)"])
        #expect(bench.detector.heading == nil)
    }

    @Test func anAccelerometerThatDiesIsNamed() throws {
        let bench = bench()
        bench.run(still, isKept: { i, kind in kind == .magnetometer || i < 100 })
        let loss = try #require(bench.diary.losses.first)
        #expect(bench.diary.losses.count == 1)
        #expect(loss.fault == .accelerometerMissing && loss.sensor == "chassis")
        #expect(bench.detector.heading == nil)
    }

    @Test func aHeadingThatComesBackIsFound() {
        let bench = bench { $0.holdTime = .seconds(1) }
        bench.run(still, isKept: { i, kind in kind == .accelerometer || !(100..<300).contains(i) })
        #expect(bench.diary.entries.filter { $0 != "willStart" } == ["lost 3080", "found 6000"])
        #expect((bench.detector.heading?.accuracyDegrees ?? -1) > 0)
    }

    @Test func aHeadingThatNeverComesIsLostToo() {
        let bench = bench()
        bench.run(still) { _, _, m in m *= 0.1 }
        #expect(bench.diary.losses.map(\.fault) == [.fieldImplausible])
        #expect(bench.diary.losses.first?.held == nil)
    }

    @Test func aSensorThatFailsTakesTheHeadingAtOnce() {
        struct Unplugged: Error {}
        let bench = bench()
        bench.run([Double](repeating: 40, count: 100))
        let compass = bench.streams.filter { $0.kind == .magnetometer }
        bench.detector.didLose(compass, because: Unplugged())
        #expect(bench.diary.losses.map(\.fault) == [.sensorFailed])
        #expect(bench.diary.losses.first?.sensor == "compass")
        #expect(bench.detector.heading == nil)
    }

    @Test func sensorsThatNeverShareAStampMakePairs() {
        let bench = bench()
        var samples: [(stream: Int, sample: Sample)] = []
        let index = { (kind: SampleKind) in bench.streams.firstIndex { $0.kind == kind } ?? 0 }
        for i in 0..<600 {
            let time = Int64(i) * millisecond * 5
            let (a, m) = level(Double(i) * 0.1)
            if i % 4 == 0 {
                samples.append(
                    (index(.accelerometer), Sample(timeNanoseconds: time, x: a.x, y: a.y, z: a.z)))
            } else if i % 14 == 1 {
                samples.append((index(.magnetometer), Sample(timeNanoseconds: time, x: m.x, y: m.y, z: m.z)))
            }
        }
        bench.detector.startDetection()
        Pipeline(source: ScriptedSource(streams: bench.streams, samples: samples), detectors: [bench.detector]).run()
        // At the very first sample there is no field yet.
        #expect(bench.detector.faultCounts[.magnetometerMissing, default: 0] <= 2)
        #expect(bench.detector.validCount >= 148)
        // It turns by 20° a second, and the field is up to 70 ms old.
        for event in bench.diary.headings {
            let truth = Double(event.timeNanoseconds) * 1e-9 * 20
            #expect(abs(Angle.differenceDegrees(from: truth, to: event.headingDegrees)) <= 1.5)
        }
    }

    // MARK: - Interference

    @Test func ironNearbyIsInterferenceAndThenACalibrationIsAskedFor() {
        let bench = bench()
        bench.run([Double](repeating: 40, count: 3000)) { i, _, m in
            if (500..<2500).contains(i) { m *= 1.3 }
        }
        #expect(
            bench.diary.entries.filter { $0 != "willStart" && !$0.hasPrefix("lost") && !$0.hasPrefix("found") }
                == ["disturbed 10500", "should?", "needs 40500", "undisturbed 52000", "fits 52000"])
        #expect(bench.diary.losses.map(\.fault) == [.interference])
        #expect(bench.diary.losses.first?.sensor == "compass")
    }

    @Test func whatStaysForAMinuteIsTheNewNormal() {
        let bench = bench()
        bench.run([Double](repeating: 40, count: 5000)) { i, _, m in
            if i >= 500 { m *= 1.3 }
        }
        #expect(
            bench.diary.entries.filter { $0 != "willStart" && !$0.hasPrefix("lost") && !$0.hasPrefix("found") }
                == ["disturbed 10500", "should?", "needs 40500", "undisturbed 70520", "fits 70520"])
        #expect(bench.detector.heading != nil)
    }

    @Test func aFieldThatIsNotTheEarthsIsNotLearned() {
        let bench = bench()
        bench.run(still) { i, _, m in
            if i < 100 { m *= i < 50 ? 0 : 5 }
        }
        #expect(!bench.diary.entries.contains { $0.hasPrefix("disturbed") })
        #expect(bench.detector.validCount == 900)
    }

    @Test func aDelegateMayWantNoCalibration() {
        let bench = bench()
        bench.diary.wantsCalibration = false
        bench.run([Double](repeating: 40, count: 3000)) { i, _, m in
            if (500..<2500).contains(i) { m *= 1.3 }
        }
        #expect(bench.diary.entries.filter { $0 == "should?" }.count == 1)
        #expect(!bench.diary.entries.contains { $0.hasPrefix("needs") || $0.hasPrefix("fits") })
    }

    @Test func whatPassesQuicklyIsNoInterference() {
        let bench = bench()
        bench.run(still) { i, _, m in
            if i >= 100, i % 100 < 20 { m *= 1.3 }
        }
        #expect(!bench.diary.entries.contains { $0.hasPrefix("disturbed") })
    }

    @Test func aCalibrationSaysHowStrongTheFieldIs() {
        // The strength is wrong from the first sample on, so that nothing is learned from it.
        let bench = bench()
        let axes = AxisCalibration(
            offset: .zero, matrix: Matrix3(rows: [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]))
        bench.sensors[1].calibration = SensorCalibration(
            magnetometer: MagnetometerCalibration(axes: axes, fieldMicrotesla: 65, residualMicrotesla: 0.2))
        let calibrated = CompassBench(like: bench)
        calibrated.run(still)
        #expect(calibrated.diary.entries.contains("disturbed 500"))
    }

    // MARK: - Calibration

    @Test func aCalibrationIsAppliedBeforeAnybodyLooks() throws {
        let bench = bench()
        let axes = AxisCalibration(
            offset: SIMD3(30, -20, 10), matrix: Matrix3(rows: [SIMD3(0.5, 0, 0), SIMD3(0, 2, 0), SIMD3(0, 0, 1)]))
        bench.sensors[1].calibration = SensorCalibration(
            magnetometer: MagnetometerCalibration(axes: axes, fieldMicrotesla: 49.66, residualMicrotesla: 0.2))
        bench.sensors[0].calibration = SensorCalibration(
            accelerometer: AxisCalibration(
                offset: SIMD3(0, 3, 0), matrix: Matrix3(rows: [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)])))
        let calibrated = CompassBench(like: bench)
        calibrated.run(still) { _, a, m in
            m = SIMD3(m.x * 2 + 30, m.y / 2 - 20, m.z + 10)
            a.y += 3
        }
        let event = try #require(calibrated.diary.headings.first)
        #expect(abs(event.headingDegrees - 40) < 0.01)
        #expect(abs(event.fieldMicrotesla - 49.66) < 0.01)
    }

    // MARK: - Sectors

    @Test func sectorsAreEnteredAndLeftByTheirMargin() {
        let bench = bench {
            $0.sectors = [
                HeadingSector(name: "east", fromDegrees: 80, toDegrees: 100),
                HeadingSector(name: "north", fromDegrees: 350, toDegrees: 10),
                HeadingSector(name: "most", fromDegrees: 20, toDegrees: 340),
            ]
        }
        // 1 s each.
        bench.run([90.0, 101, 103, 5, 355].flatMap { [Double](repeating: $0, count: 50) })
        let entries = bench.diary.entries.filter { $0 != "willStart" && !$0.hasPrefix("facing") }
        #expect(
            entries == [
                "entered east 500", "entered most 500", "left east 2500", "entered north 3500", "left most 3500",
                "faced 3500",
            ])
    }

    @Test(arguments: [(80.0, 80.0, 2.0), (5e-17, 0, 2), (-1, 10, 2), (10, 360, 2), (10, 5, 2), (80, 100, -1)])
    func sectorsThatCannotBeAreRefused(from: Double, to: Double, margin: Double) {
        var settings = NorthSettings()
        settings.sectors = [
            HeadingSector(name: "s", fromDegrees: from, toDegrees: to, marginDegrees: margin)
        ]
        // From 10° to 5° it is 355° wide, and with its margins 359°.
        #expect(settings.problems().isEmpty == (from == 10 && to == 5))
    }
}
