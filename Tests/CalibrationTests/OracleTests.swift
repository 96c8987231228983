import Calibration
import Foundation
import TestSupport
import Testing

/// Clouds whose hard and soft iron are known, and six positions of an accelerometer.
@Suite struct OracleTests {
    @Test func aFullSphereGivesAnEllipsoid() throws {
        let found = try MagnetometerJudge().judge(cloud("synth_full_sphere_400.csv"))
        print("full", found.coverage.condition, found.calibration, found.spreadBeforePercent, found.spreadAfterPercent, found.map.coveredShare, found.map.missing)
    }
    @Test func flat() throws {
        do { print(try MagnetometerJudge().judge(cloud("synth_flat_spin_300.csv"))) } catch { print("flat", error) }
        for w in [0.0, 5, 8, 10, 12, 15, 18, 20, 30, 45] {
            do { let f = try MagnetometerJudge().judge(spin(wobbleDegrees: w)); print(w, f.coverage.condition, f.calibration.model, f.calibration.hardIronMicrotesla, f.calibration.fieldMicrotesla, f.map.missing) } catch { print(w, "\(error)") }
        }
    }
    @Test func accel() throws {
        var rests: [Face: Vector] = [:]
        for row in try table("calibration/accel_six_position.csv") {
            rests[try #require(Face(Vector(row[0], row[1], row[2])))] = Vector(row[3], row[4], row[5])
        }
        print(try AccelerometerCalibration.sixPositions(rests))
    }
}
