import Binnacle
import Glibc
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

    private func run(_ name: String, _ change: (inout NorthSettings) -> Void = { _ in }) throws -> (Log, [Reference]) {
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        settings.uprightAxis = nil
        change(&settings)
        let log = Log()
        try findHeadings(in: ["broad/\(name).csv"], settings, for: log)

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
}
