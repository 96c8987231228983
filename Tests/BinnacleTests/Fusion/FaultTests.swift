import Binnacle
import BinnacleHeading
import Glibc
import SensorGeometry
import Testing

/// Sensors that are wrong, in movements with an optical reference: what is not found is in the accuracy, or there is no heading.
@Suite struct FaultTests {
    /// A gyroscope's and a magnetometer's sample of a row with a fault.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sample: @Sendable (Recording, Int) -> (rate: SIMD3<Float>, field: SIMD3<Float>)
    }

    private static func rates(
        _ name: String, _ change: @escaping @Sendable (SIMD3<Float>) -> SIMD3<Float>
    ) -> Fault {
        Fault(testDescription: name) { (change($0.gyroscope[$1]), $0.field[$1]) }
    }

    private static let end = SIMD3<Float>(repeating: 1.7453)
    static let faults = [
        rates("none") { $0 },
        rates("one and a half times too fast") { $0 * 1.5 },
        rates("twice too fast") { $0 * 2 },
        rates("degrees as radians") { $0 * 57.29578 },
        rates("cut at 100°/s") { $0.clamped(lowerBound: -end, upperBound: end) },
        Fault(testDescription: "a burst of 0.1 s at 35 rad/s") {
            ((4000..<4014).contains($1) ? SIMD3(35, 0, 0) : $0.gyroscope[$1], $0.field[$1])
        },
        Fault(testDescription: "a field that is frozen") { ($0.gyroscope[$1], $0.field[min($1, 4000)]) },
        Fault(testDescription: "a field that is 0.1 s late") { ($0.gyroscope[$1], $0.field[max($1 - 14, 0)]) },
        Fault(testDescription: "rates that are 0.1 s late") { ($0.gyroscope[max($1 - 14, 0)], $0.field[$1]) },
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
                let (rate, field) = fault.sample(recording, index)
                fusion.update(gyroscope: rate, at: time)
                fusion.update(acceleration: recording.acceleration[index], at: time)
                fusion.update(field: field, at: time)
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
}
