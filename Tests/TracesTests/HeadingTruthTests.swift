import Binnacle
import BinnacleHeading
import Glibc
import SensorGeometry
import Testing
import Traces

/// What the heading says of itself, against recordings whose truth is known.
///
/// Source: BROAD, a benchmark for orientation estimation (CC BY 4.0); see Tests/Fixtures/README.md.
@Suite struct HeadingTruthTests {
    private final class Log: NorthDetectorDelegate {
        var fresh: [HeadingEvent] = []
        var stale: [HeadingEvent] = []
        var losses: [HeadingLoss] = []
        var interference: [(didBegin: Bool, event: FieldEvent)] = []
        var needs: [FieldEvent] = []
        var faced: [HeadingEvent] = []

        func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
            if event.isStale { stale.append(event) } else { fresh.append(event) }
        }
        func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) { losses.append(loss) }
        func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
            interference.append((true, event))
        }
        func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
            interference.append((false, event))
        }
        func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
            needs.append(event)
        }
        func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) { faced.append(event) }
    }

    private struct Reference {
        let seconds: Double
        let degrees: Double
        let isMoving: Bool
        /// At rest for at least a second.
        let isSettled: Bool
        /// The level share of +Y.
        let level: Double
    }

    private func run(
        _ name: String, calibration: MagnetometerCalibration? = nil, _ change: (inout NorthSettings) -> Void = { _ in }
    ) throws -> (Log, [Reference]) {
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        settings.uprightAxis = nil
        change(&settings)
        let log = Log()
        try findHeadings(in: ["broad/\(name).csv"], settings, calibration: calibration, for: log)

        let table = try Table("\(fixtures)/broad/\(name).csv")
        let degrees = try table.column("ref_heading_y_deg")
        let level = try table.column("ref_y_horizontal")
        let moving = try table.column("moving")
        var lastMotion = -Double.infinity
        var references: [Reference] = []
        for (row, seconds) in try table.column("t_s").enumerated() {
            guard let seconds else { continue }
            if moving[row] == 1 { lastMotion = seconds }
            guard let reference = degrees[row] else { continue }
            references.append(
                Reference(
                    seconds: seconds, degrees: reference, isMoving: moving[row] == 1,
                    isSettled: seconds - lastMotion > 1, level: level[row] ?? 0))
        }
        return (log, references)
    }

    /// Pairs each heading with the reference of its own sample.
    private func errors(
        _ events: [HeadingEvent], _ references: [Reference], where isWanted: (Reference) -> Bool
    ) -> [(error: Double, accuracy: Double)] {
        var next = 0
        return events.compactMap { event in
            let seconds = Double(event.timeNanoseconds) * 1e-9
            while next < references.count, references[next].seconds < seconds - 0.001 { next += 1 }
            guard next < references.count, abs(references[next].seconds - seconds) < 0.001, isWanted(references[next])
            else { return nil }
            let error = abs(Angle.differenceDegrees(from: references[next].degrees, to: event.headingDegrees))
            return (error, event.accuracyDegrees)
        }
    }

    @Test func atRestTheHeadingIsRightAndItsAccuracyHonest() throws {
        let (log, references) = try run("broad05_rotation_breaks")
        let found = errors(log.fresh, references) { $0.isSettled && $0.level > 0.5 }
        let errors = found.map(\.error)
        let accuracies = found.map(\.accuracy)
        let share = Double(found.filter { $0.error <= $0.accuracy }.count) / Double(found.count)
        print(
            "broad05 at rest: \(found.count) headings, error median \(percentile(errors, 0.5))°, p95 "
                + "\(percentile(errors, 0.95))°; stated accuracy median \(percentile(accuracies, 0.5))°, within it \(share)"
        )
        #expect(found.count > 5000)
        #expect(percentile(errors, 0.5) <= 1.2)
        #expect(percentile(errors, 0.95) <= 2.2)
        #expect(share >= 0.9)
        #expect(percentile(accuracies, 0.5) <= 4)
        #expect(log.interference.isEmpty)
    }

    @Test func whatIsReportedWhileMovingStaysNearTheTruth() throws {
        let (log, references) = try run("broad05_rotation_breaks")
        let (all, _) = try run("broad05_rotation_breaks") {
            $0.accelerationGateG = nil
            $0.dipGateDegrees = nil
            $0.accuracyLimitDegrees = nil
        }
        let gated = errors(log.fresh, references) { $0.isMoving }
        let ungated = errors(all.fresh, references) { $0.isMoving }
        let share = Double(gated.filter { $0.error <= $0.accuracy }.count) / Double(gated.count)
        print(
            "broad05 moving: p95 \(percentile(ungated.map(\.error), 0.95))° without gates, "
                + "\(percentile(gated.map(\.error), 0.95))° with them, median \(percentile(gated.map(\.error), 0.5))°, kept "
                + "\(Double(gated.count) / Double(ungated.count)), within the stated accuracy \(share)")
        #expect(gated.count > 2000 && gated.count < ungated.count)
        #expect(percentile(gated.map(\.error), 0.95) <= 15)
    }

    @Test func aMagnetIsInterferenceAndThereIsNoHeadingMeanwhile() throws {
        let (log, _) = try run("broad33_attached_magnet_2cm")
        try #require(log.interference.map(\.didBegin) == [true, false])
        let times = log.interference.map { Double($0.event.timeNanoseconds) * 1e-9 }
        print("broad33: interference from \(times[0]) s, magnet from 41.5 s; until \(times[1]) s, magnet until 99.0 s")
        #expect((41.5...43.5).contains(times[0]))
        #expect((99.0...102.0).contains(times[1]))
        let disturbed = log.fresh.filter {
            (times[0]..<times[1]).contains(Double($0.timeNanoseconds) * 1e-9)
        }
        #expect(disturbed.isEmpty)
        #expect(log.stale.allSatisfy { $0.age >= .seconds(1) && $0.age < .seconds(5) })
        #expect(log.losses.first?.fault == .interference)
        #expect(log.losses.first?.sensor == "magnetometer")
        #expect(log.needs.count == 1)
        #expect(log.faced.allSatisfy { !(times[0]..<times[1]).contains(Double($0.timeNanoseconds) * 1e-9) })
    }

    // MARK: - Every kind of motion

    /// What the magnetometer beside a phone's iron measures wrongly, as `binnacle calibrate` finds it in the whole of trial 26.
    private static let phone = MagnetometerCalibration(
        axes: AxisCalibration(
            offset: SIMD3(-1.9999, 0.5333, -3.2401),
            matrix: Matrix3(rows: [
                SIMD3(0.994415, -0.007845, -0.002240), SIMD3(-0.007845, 0.994564, -0.010263),
                SIMD3(-0.002240, -0.010263, 1.011287),
            ])),
        fieldMicrotesla: 44.4541, residualMicrotesla: 0.4)

    private static let kinds = [
        ("slow rotation", ["broad05_rotation_breaks"]), ("fast rotation", ["broad07_fast_rotation"]),
        ("slow translation", ["broad10_slow_translation", "broad11_slow_translation"]),
        ("fast translation", ["broad16_fast_translation", "broad18_fast_translation"]),
        ("tapping", ["broad25_tapping"]), ("beside a phone", ["broad26_phone"]),
        ("past a magnet on the table", ["broad31_stationary_magnet"]),
    ]

    @Test(arguments: kinds, [0.1, 0.3, 1])
    func inMotionNineOfTenHeadingsAreWithinTheirAccuracy(kind: (String, [String]), smoothing: Double) throws {
        let (kind, names) = kind
        var found: [(error: Double, accuracy: Double)] = []
        var movingCount = 0
        for name in names {
            let (log, references) = try run(name, calibration: kind == "beside a phone" ? Self.phone : nil) {
                $0.smoothing = .seconds(smoothing)
            }
            let isWanted = { (reference: Reference) in reference.isMoving && reference.level >= 0.5 }
            movingCount += references.count(where: isWanted)
            found += errors(log.fresh, references, where: isWanted)
        }
        let errors = found.map(\.error)
        let stated = percentile(found.map(\.accuracy), 0.5)
        let ninth = percentile(errors, 0.9)
        let share = Double(found.count(where: { $0.error <= $0.accuracy })) / Double(found.count)
        print(
            "\(kind), smoothing \(smoothing) s: \(found.count) headings at \(movingCount) samples, within the stated accuracy \(share), stated median "
                + "\(stated)°, error p90 \(ninth)°, worst \(errors.max() ?? 0)°")
        #expect(found.count > movingCount / 20)
        #expect(share >= 0.9)
        #expect(stated <= 2.5 * ninth)
        #expect(errors.allSatisfy { $0 < (smoothing < 1 ? 60 : 75) })
    }

    @Test func afterViolentMotionTheHeadingIsBackAtOnce() throws {
        let (log, references) = try run("broad18_fast_translation")
        let atRest = errors(log.fresh, references) { $0.isSettled }
        #expect(Double(atRest.count) > 0.95 * Double(references.count { $0.isSettled }))
        #expect(percentile(atRest.map(\.error), 0.9) <= 2.5)
    }

    @Test func momentsThatLookLikeRestInViolentMotionAreNoHeadings() throws {
        let (log, references) = try run("broad30_violent")
        let found = errors(log.fresh, references) { $0.isMoving }
        #expect(found.allSatisfy { $0.error <= max($0.accuracy, 20) })
    }

    @Test func aMagnetThatComesNearIsInTheAccuracyBeforeItIsInterference() throws {
        let (log, references) = try run("broad33_magnet_comes")
        let found = errors(log.fresh, references) { _ in true }
        #expect(found.count > 250)
        #expect(Double(found.count { $0.error <= $0.accuracy }) >= 0.95 * Double(found.count))
    }

    /// Made: level, a dip of 66°, the heading 0°; from 30 to 40 s 0.15 g to the side, as in a curve.
    @Test func anAccelerationToTheSideIsInTheAccuracyForAsLongAsItLasts() throws {
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        let log = Log()
        try findHeadings(in: ["heading/lateral_acceleration.csv"], settings, for: log)
        let curve = log.fresh.filter { (30.2..<40).contains(Double($0.timeNanoseconds) * 1e-9) }
        #expect(curve.allSatisfy { abs(Angle.differenceDegrees(from: 0, to: $0.headingDegrees)) <= $0.accuracyDegrees })
        #expect(curve.count > 400)
        // Before and after it nothing of it is left.
        for event in log.fresh {
            let seconds = Double(event.timeNanoseconds) * 1e-9
            if seconds < 30 || seconds > 45 { #expect(event.accuracyDegrees < 6, "\(seconds) s") }
        }
    }

    @Test func longSmoothingMakesNoInterferenceOfATurn() throws {
        let (log, _) = try run("broad05_rotation_breaks") { $0.smoothing = .seconds(1) }
        #expect(log.interference.isEmpty)
    }
}
