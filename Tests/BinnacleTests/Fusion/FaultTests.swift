import Binnacle
import BinnacleHeading
import Glibc
import SensorGeometry
import TestSupport
import Testing

/// Sensors that are wrong, in movements with an optical reference: what is not found is in the accuracy, or there is no heading.
@Suite struct FaultTests {
    /// The samples of a row with a fault.
    typealias Row = (rate: SIMD3<Float>, acceleration: SIMD3<Float>, field: SIMD3<Float>)

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout Row, Recording, Int) -> Void

        init(_ name: String, _ apply: @escaping @Sendable (inout Row, Recording, Int) -> Void) {
            testDescription = name
            self.apply = apply
        }
    }

    private static let end = SIMD3<Float>(repeating: 1.7453)
    private static let nine = SIMD3<Float>(repeating: 9)
    static let faults = [
        Fault("none") { _, _, _ in },
        Fault("one and a half times too fast") { row, _, _ in row.rate *= 1.5 },
        Fault("twice too fast") { row, _, _ in row.rate *= 2 },
        Fault("half as fast") { row, _, _ in row.rate *= 0.5 },
        Fault("a rate that is frozen in x") { row, recording, index in
            row.rate.x = recording.gyroscope[min(index, 4000)].x
        },
        Fault("a rate that is frozen in z") { row, recording, index in
            row.rate.z = recording.gyroscope[min(index, 4000)].z
        },
        Fault("y and z swapped") { row, _, _ in row.rate = SIMD3(row.rate.x, row.rate.z, row.rate.y) },
        Fault("x reversed") { row, _, _ in row.rate.x = -row.rate.x },
        Fault("z reversed") { row, _, _ in row.rate.z = -row.rate.z },
        Fault("degrees as radians") { row, _, _ in row.rate *= 57.29578 },
        Fault("cut at 100°/s") { row, _, _ in row.rate.clamp(lowerBound: -end, upperBound: end) },
        Fault("a burst of 0.1 s at 35 rad/s") { row, _, index in
            if (4000..<4014).contains(index) { row.rate = SIMD3(35, 0, 0) }
        },
        Fault("a field that is frozen") { row, recording, index in row.field = recording.field[min(index, 4000)] },
        Fault("a field that is 0.1 s late") { row, recording, index in row.field = recording.field[max(index - 14, 0)]
        },
        Fault("rates that are 0.1 s late") { row, recording, index in row.rate = recording.gyroscope[max(index - 14, 0)]
        },
        Fault("a field that is frozen in x") { row, recording, index in
            row.field.x = recording.field[min(index, 4000)].x
        },
        Fault("an acceleration that is frozen in x") { row, recording, index in
            row.acceleration.x = recording.acceleration[min(index, 4000)].x
        },
        Fault("an acceleration that is frozen") { row, recording, index in
            row.acceleration = recording.acceleration[min(index, 4000)]
        },
        Fault("an acceleration that is frozen in z") { row, recording, index in
            row.acceleration.z = recording.acceleration[min(index, 4000)].z
        },
        Fault("an acceleration that is 0.1 s late") { row, recording, index in
            row.acceleration = recording.acceleration[max(index - 14, 0)]
        },
        Fault("an acceleration that is cut at 9 m/s²") { row, _, _ in
            row.acceleration.clamp(lowerBound: -nine, upperBound: nine)
        },
    ]

    @Test(arguments: faults)
    func noHeadingIsWrongByMoreThanThreeTimesItsAccuracyForLong(fault: Fault) throws {
        for name in [
            "broad05_rotation", "broad07_fast_rotation", "broad18_fast_translation", "broad31_stationary_magnet",
        ] {
            let recording = try Recording(name)
            var settings = FusionSettings()
            (settings.plausibleField, settings.leastLevelField) = (20...70, 3)
            var fusion = Fusion(settings: settings)
            var (rows, wrong) = (0, 0)
            recording.play { index, time in
                var row = (recording.gyroscope[index], recording.acceleration[index], recording.field[index]) as Row
                fault.apply(&row, recording, index)
                fusion.update(gyroscope: row.rate, at: time)
                fusion.update(acceleration: row.acceleration, at: time)
                fusion.update(field: row.field, at: time)
                guard let reference = recording.reference[index] else { return }
                rows += 1
                guard fusion.fault == nil else { return }
                let error = (fusion.orientation * reference.conjugate).normalized
                let degrees = abs(2 * atan2(error.z, abs(error.w))) * 180 / .pi
                wrong += degrees > 3 * fusion.accuracyDegrees ? 1 : 0
            }
            let share = Double(wrong) / Double(rows)
            #expect(share < (fault.testDescription == "none" ? 0.0005 : 0.04), "\(name): \(share)")
        }
    }

    /// An accelerometer with an offset tilts the level until turns have shown it.
    @Test(arguments: [SIMD3<Float>(2, 0, 0), SIMD3(-1, 0, 0), SIMD3(0, 2, 0), SIMD3(0, 0, 2)])
    func anOffsetOfTheAccelerometerIsLearnedInTurns(offset: SIMD3<Float>) throws {
        for name in ["broad05_rotation", "broad07_fast_rotation", "broad31_stationary_magnet"] {
            let recording = try Recording(name)
            var fusion = Fusion()
            var late = Score()
            recording.play { index, time in
                fusion.update(gyroscope: recording.gyroscope[index], at: time)
                fusion.update(acceleration: recording.acceleration[index] + offset, at: time)
                fusion.update(field: recording.field[index], at: time)
                guard time > 60 * second else { return }
                late.take(fusion, reference: recording.reference[index], gyroscope: recording.gyroscope[index])
            }
            print("\(name), \(offset): \(late)")
            #expect(late.validShare >= 0.95 && late.within >= 0.9 && late.median <= 5, "\(name)")
        }
    }

    /// A chip of ten samples a second with much noise is neither a wrong gyroscope nor iron.
    @Test func aNoisyMagnetometerIsNotDoubted() throws {
        let recording = try Recording("broad05_rotation")
        var random = SeededGenerator(seed: 3)
        var settings = FusionSettings()
        (settings.plausibleField, settings.leastLevelField) = (20...70, 3)
        // 0.9 µT a sample, as the square root of a power density.
        settings.fieldNoise = 0.4
        var fusion = Fusion(settings: settings)
        var (rows, sure) = (0, 0)
        recording.play { index, time in
            fusion.update(gyroscope: recording.gyroscope[index], at: time)
            fusion.update(acceleration: recording.acceleration[index], at: time)
            if index.isMultiple(of: 14) {
                // Of twelve even numbers from 0 to 1 the sum has the variance 1.
                var noise = SIMD3<Float>(repeating: -6)
                for _ in 0..<12 { noise += SIMD3<Float>.random(in: 0...1, using: &random) }
                fusion.update(field: recording.field[index] + 0.9 * noise, at: time)
            }
            guard recording.reference[index] != nil, time > 30 * second else { return }
            rows += 1
            sure += fusion.fault == nil && fusion.accuracyDegrees < 10 ? 1 : 0
        }
        #expect(Double(sure) > 0.9 * Double(rows), "\(sure) of \(rows)")
    }

    /// A boat in a long curve, and straight on after it: what the curve shows is no offset.
    @Test func aCurveIsNoOffset() {
        var boat = FusionTests.Boat()
        boat.turn(0, seconds: 10)
        boat.sideways = 1.5
        boat.turn(30, seconds: 24)
        boat.sideways = 0
        boat.turn(0, seconds: 20)
        #expect(abs(boat.error) < 5, "\(boat.error)")
    }
}
