import Binnacle
import BinnacleHeading
import SensorGeometry
import TestSupport
import Testing

/// The fusion beside a reference implementation and beside an optical reference.
@Suite struct FusionTruthTests {
    // MARK: - The reference implementation

    @Test func withThePublishedConstantsEveryRowIsThatOfTheReferenceImplementation() throws {
        let recording = try Recording("vqf_testdata", stepNanoseconds: 3_500_000, reference: "q9_")
        var fusion = Fusion(settings: .published)
        var worst = 0.0
        recording.play { index, time in
            fusion.take(recording, index, at: time)
            if let reference = recording.reference[index] {
                worst = max(worst, (fusion.orientation.conjugate * reference).angle * 180 / .pi)
            }
        }
        print("vqf_testdata, \(recording.gyroscope.count) rows: at most \(worst)° from the reference implementation")
        #expect(worst <= 0.01)
    }

    @Test(arguments: ["broad05_rotation", "broad33_attached_magnet"])
    func withThePublishedConstantsARecordingIsAsTheReferenceImplementationHasIt(name: String) throws {
        let recording = try Recording(name)
        let table = try NumberTable("\(Binary.fixtures)/gyroscope/\(name)_vqf.csv")
        let (nine, six) = (try table.quaternions("q9_"), try table.quaternions("q6_"))
        let wanted = Dictionary(uniqueKeysWithValues: table.rows.enumerated().map { (Int($1[0]), $0) })
        var fusion = Fusion(settings: .published)
        var worst = (nine: 0.0, six: 0.0)
        recording.play { index, time in
            fusion.take(recording, index, at: time)
            guard let row = wanted[index], let nine = nine[row], let six = six[row] else { return }
            worst.nine = max(worst.nine, (fusion.orientation.conjugate * nine).angle * 180 / .pi)
            worst.six = max(worst.six, (fusion.sixAxisOrientation.conjugate * six).angle * 180 / .pi)
        }
        print("\(name), \(nine.count) rows: at most \(worst)° from the reference implementation")
        #expect(worst.nine <= 0.01 && worst.six <= 0.01)
    }

    // MARK: - The optical reference

    @Test(arguments: [
        ("broad05_rotation", 2.4, 1.4, 4.0), ("broad07_fast_rotation", 2.4, 1.5, 7),
        ("broad18_fast_translation", 1.3, 1.0, 4.5), ("broad31_stationary_magnet", 4.6, 3.1, 8),
        ("broad33_attached_magnet", 4.2, 2.5, 11),
    ])
    func inMotionTheHeadingIsNearThatOfTheCameras(name: String, p95: Double, total: Double, accuracy: Double) throws {
        let score = try play(name) { fusion, recording, index, time in fusion.take(recording, index, at: time) }
        print("\(name): \(score)")
        #expect(score.p95 <= p95 && score.total <= total && score.accuracy <= accuracy)
        #expect(score.validShare >= 0.99 && score.within >= 0.9)
        if name == "broad05_rotation" { #expect(abs(score.lag) <= 0.02) }
    }

    @Test func theWalkHasAHeadingThroughTheBuilding() throws {
        let folder = "\(Binary.fixtures)/phyphox_walk"
        let rates = try NumberTable("\(folder)/Gyroscope.csv").rows
        var accelerations = try NumberTable("\(folder)/Accelerometer.csv").rows[...]
        var fields = try NumberTable("\(folder)/Magnetometer.csv").rows[...]
        var fusion = Fusion()
        var headings: [(seconds: Double, degrees: Double)] = []
        func vector(_ row: [Double]) -> SIMD3<Float> { SIMD3(Float(row[1]), Float(row[2]), Float(row[3])) }
        func stamp(_ row: [Double]) -> Int64 { Int64(row[0] * 1e9) }
        for rate in rates {
            fusion.update(gyroscope: vector(rate), at: stamp(rate))
            while let row = accelerations.first, row[0] <= rate[0] {
                fusion.update(acceleration: vector(row), at: stamp(row))
                accelerations.removeFirst()
            }
            while let row = fields.first, row[0] <= rate[0] {
                fusion.update(field: vector(row), at: stamp(row))
                fields.removeFirst()
            }
            if fusion.fault == nil { headings.append((rate[0], fusion.headingOfY)) }
        }
        let share = Double(headings.count) / Double(rates.count)
        #expect(share >= 0.95)
        // The magnetometer's own mean of the second leg contains the turn at its end.
        let legs: [(from: Double, to: Double, mean: Double)] = [
            (1, 28, 301), (34, 52, 201), (59, 74, 117), (79, 86, 66), (92, 103, 29),
        ]
        let means = legs.map { leg in mean(headings, leg.from, leg.to, near: leg.mean).mean }
        for (leg, mean) in zip(legs, means) { #expect(abs(mean - leg.mean) <= 6, "\(leg): \(mean)") }
        let turns = zip(means.dropFirst(), means).map { $0 - $1 }
        for (turn, wanted) in zip(turns, [-99.0, -89, -54, -35]) { #expect(abs(turn - wanted) <= 8, "\(turns)") }
        let straight: [(Double, Double, near: Double, limit: Double)] = [
            (1, 28, 301, 4.5), (36, 49, 205, 3.5), (59, 74, 117, 3.5), (92, 103, 29, 3),
        ]
        let scatter = straight.map { mean(headings, $0.0, $0.1, near: $0.near).deviation }
        for (leg, deviation) in zip(straight, scatter) { #expect(deviation <= leg.limit, "\(leg): \(deviation)") }
        print("walk: a heading at \(share * 100) % of the samples, legs \(means), turns \(turns), scatter \(scatter)")
    }

    private func mean(
        _ headings: [(seconds: Double, degrees: Double)], _ from: Double, _ to: Double, near: Double
    ) -> (mean: Double, deviation: Double) {
        let found = headings.filter { $0.seconds >= from && $0.seconds <= to }
            .map { near + Angle.differenceDegrees(from: near, to: $0.degrees) }
        let mean = found.reduce(0, +) / Double(found.count)
        return (mean, (found.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(found.count)).squareRoot())
    }

    // MARK: - Losses, jitter, rates, gaps

    /// A way to spoil a recording, and what the orientation's error may be at most, as a mean of both recordings: 30 % above
    /// what the filter's equations reach.
    struct Trap: Sendable, CustomStringConvertible {
        let description: String
        let limit: Double
        /// Offers what is left of a row.
        let row: @Sendable (inout Fusion, Recording, Int, Int64, inout SeededGenerator) -> Void
    }

    private static func lost(_ share: Double, _ limit: Double) -> Trap {
        Trap(description: "\(share * 100) % lost", limit: limit) { fusion, recording, index, time, random in
            if Double.random(in: 0..<1, using: &random) >= share {
                fusion.update(gyroscope: recording.gyroscope[index], at: time)
            }
            if Double.random(in: 0..<1, using: &random) >= share {
                fusion.update(acceleration: recording.acceleration[index], at: time)
            }
            if Double.random(in: 0..<1, using: &random) >= share {
                fusion.update(field: recording.field[index], at: time)
            }
        }
    }

    private static func every(_ gyroscope: Int, _ acceleration: Int, _ field: Int, _ limit: Double) -> Trap {
        Trap(
            description: "every sample \(gyroscope) of the gyroscope, \(acceleration), \(field) of the others",
            limit: limit
        ) { fusion, recording, index, time, _ in
            if index % gyroscope == 0 { fusion.update(gyroscope: recording.gyroscope[index], at: time) }
            if index % acceleration == 0 { fusion.update(acceleration: recording.acceleration[index], at: time) }
            if index % field == 0 { fusion.update(field: recording.field[index], at: time) }
        }
    }

    private static func gap(_ milliseconds: Int64, _ limit: Double) -> Trap {
        Trap(description: "\(milliseconds) ms missing every 5 s", limit: limit) { fusion, recording, index, time, _ in
            guard time < 12 * second || time % (5 * second) >= milliseconds * millisecond else { return }
            fusion.take(recording, index, at: time)
        }
    }

    private static let jitter = Trap(description: "stamps jitter by half a step", limit: 2.47 * 1.3) {
        fusion, recording, index, time, random in
        fusion.take(recording, index, at: max(0, time + Int64.random(in: -3_500_000...3_500_000, using: &random)))
    }

    private static let blocks = Trap(
        description: "the other sensors come in blocks of 16, late", limit: 1.5
    ) { fusion, recording, index, time, _ in
        fusion.update(gyroscope: recording.gyroscope[index], at: time)
        guard index % 16 == 15 else { return }
        for back in (0..<16).reversed() {
            fusion.update(acceleration: recording.acceleration[index - back], at: time - Int64(back) * 7 * millisecond)
        }
        for back in (0..<16).reversed() {
            fusion.update(field: recording.field[index - back], at: time - Int64(back) * 7 * millisecond)
        }
    }

    /// A gyroscope that measures no more than a rate in °/s.
    private static func clipped(_ degreesPerSecond: Double, _ limit: Double) -> Trap {
        let end = SIMD3<Float>(repeating: Float(degreesPerSecond * .pi / 180))
        return Trap(description: "range of \(degreesPerSecond)°/s", limit: limit) { fusion, recording, index, time, _ in
            fusion.update(
                gyroscope: recording.gyroscope[index].clamped(lowerBound: -end, upperBound: end), at: time)
            fusion.update(acceleration: recording.acceleration[index], at: time)
            fusion.update(field: recording.field[index], at: time)
        }
    }

    private static func scaled(_ share: Float, _ limit: Double) -> Trap {
        Trap(description: "scale \(share * 100) % too large", limit: limit) { fusion, recording, index, time, _ in
            fusion.update(gyroscope: recording.gyroscope[index] * (1 + share), at: time)
            fusion.update(acceleration: recording.acceleration[index], at: time)
            fusion.update(field: recording.field[index], at: time)
        }
    }

    /// Stamps that are too late, in rows.
    private static func late(_ gyroscope: Int, _ acceleration: Int, _ field: Int, _ limit: Double) -> Trap {
        Trap(
            description: "stamps \(gyroscope * 7), \(acceleration * 7), \(field * 7) ms late", limit: limit
        ) { fusion, recording, index, time, _ in
            fusion.update(gyroscope: recording.gyroscope[max(index - gyroscope, 0)], at: time)
            fusion.update(acceleration: recording.acceleration[max(index - acceleration, 0)], at: time)
            fusion.update(field: recording.field[max(index - field, 0)], at: time)
        }
    }

    @Test(arguments: [
        // Of a turn that was not measured a heading knows only that it was not.
        clipped(1000, 2.6 * 1.3), clipped(500, 12 * 1.3), scaled(0.005, 3.4 * 1.3), scaled(0.01, 5.2 * 1.3),
        late(3, 0, 0, 5.4 * 1.3), late(0, 3, 0, 3.5 * 1.3), late(0, 0, 7, 6.5 * 1.3),
    ])
    func errorsOfTheGyroscopeCostNoMoreThanTheyHaveTo(trap: Trap) throws {
        try check(trap)
    }

    @Test(arguments: [
        lost(0.01, 2.43 * 1.3), lost(0.1, 2.51 * 1.3), lost(0.3, 2.75 * 1.3), jitter, blocks,
        every(2, 2, 2, 2.56 * 1.3),
        every(4, 4, 4, 3.8 * 1.3), every(8, 8, 8, 7.7 * 1.3), every(1, 5, 1, 2.46 * 1.3), every(1, 1, 14, 2.4 * 1.3),
        gap(20, 2.4 * 1.3), gap(50, 2.8 * 1.3), gap(100, 4.9 * 1.3), gap(200, 13 * 1.3), gap(500, 49 * 1.3),
    ])
    func losesAndGapsCostNoMoreThanTheyHaveTo(trap: Trap) throws {
        let scores = try check(trap)
        // What remains of a heading says what it is worth, also where the rate is far too low.
        if trap.limit < 4 { #expect(scores.allSatisfy { $0.within >= 0.9 }) }
    }

    @discardableResult
    private func check(_ trap: Trap) throws -> [Score] {
        let scores = try ["broad05_rotation", "broad07_fast_rotation"].map { name in
            var random = SeededGenerator(seed: 7)
            return try play(name) { trap.row(&$0, $1, $2, $3, &random) }
        }
        let total = scores.reduce(0) { $0 + $1.total } / 2
        print("\(trap): total RMSE \((total * 100).rounded() / 100)°, at most \(trap.limit)°; \(scores)")
        #expect(total <= trap.limit)
        return scores
    }

    @Test(arguments: [1.0, 3, 5])
    func anOffsetIsLearnedAtRest(degreesPerSecond: Double) throws {
        let offset = Float(degreesPerSecond * .pi / 180) * SIMD3<Float>(1, -1, 1)
        for (name, usual) in [("broad05_rotation", 1.91), ("broad18_fast_translation", 0.82)] {
            let score = try play(name) { fusion, recording, index, time in
                fusion.update(gyroscope: recording.gyroscope[index] + offset, at: time)
                fusion.update(acceleration: recording.acceleration[index], at: time)
                fusion.update(field: recording.field[index], at: time)
            }
            print("\(name) with an offset of \(degreesPerSecond)°/s: \(score)")
            #expect(score.p95 <= usual + 0.3)
        }
    }

    /// Plays a recording with a reference.
    private func play(
        _ name: String, _ row: (inout Fusion, Recording, Int, Int64) -> Void
    ) throws -> Score {
        let recording = try Recording(name)
        var fusion = Fusion()
        var score = Score()
        recording.play { index, time in
            row(&fusion, recording, index, time)
            score.take(fusion, reference: recording.reference[index], gyroscope: recording.gyroscope[index])
        }
        return score
    }
}

extension FusionSettings {
    /// The published constants, as the reference implementation has them.
    fileprivate static var published: FusionSettings {
        var settings = FusionSettings()
        settings.largestOffset = 2
        settings.unknownRestSeconds = settings.restSeconds
        settings.guardsAgainstSteadyTurns = false
        settings.restartsWithOffset = false
        settings.motionEstimateFromSeconds = 0
        settings.firstFieldRate = settings.newFieldRate
        settings.firstFieldEndsRejection = false
        settings.learnsSensors = false
        settings.learnsOffsetFromField = false
        return settings
    }
}
