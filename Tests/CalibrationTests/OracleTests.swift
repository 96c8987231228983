import Binnacle
import BinnacleHeading
import Calibration
import Foundation
import SensorGeometry
import TestSupport
import Testing

/// Clouds whose hard and soft iron are known, a recording with a magnet, and six positions of an accelerometer.
@Suite struct OracleTests {
    private struct Oracle: Decodable {
        struct Fit: Decodable {
            let V: [Double]
            let W: [[Double]]
            let B: Double
            let fit_error_pct: Double
            let heading_err_max_deg: Double
        }
        struct Fits: Decodable {
            let sphere4: Fit
            let full10: Fit
        }
        struct Positions: Decodable {
            let lsq12: [[Double]]
            let b: [Double]
        }
        let full_sphere_400: Fits
        let accel6: Positions
    }

    private static let hardIron = Vector3(32, -18, 57)

    private func oracle() throws -> Oracle {
        let data = try Data(contentsOf: URL(fileURLWithPath: Binary.fixtures + "/calibration/calibration_oracle.json"))
        return try JSONDecoder().decode(Oracle.self, from: data)
    }

    private func vector(_ list: [Double]) -> Vector3 { Vector3(list[0], list[1], list[2]) }

    @Test func aFullSphereGivesTheEllipsoidOfTheReference() throws {
        let found = try MagnetometerJudge().judge(cloud("synth_full_sphere_400.csv"))
        let expected = try oracle().full_sphere_400.full10
        let calibration = found.calibration
        #expect(calibration.model == .ellipsoid)
        #expect(found.sphereReason == nil)
        #expect(length(calibration.hardIronMicrotesla - Self.hardIron) < 0.1)
        #expect(length(calibration.hardIronMicrotesla - vector(expected.V)) < 0.01)
        #expect(abs(calibration.fieldMicrotesla - expected.B) < 0.01)
        #expect(abs(calibration.fitErrorPercent - expected.fit_error_pct) < 0.01)
        for row in 0..<3 { #expect(length(calibration.softIron.rows[row] - vector(expected.W[row])) < 0.001) }
        #expect(abs(found.coverage.condition - 4.73) < 0.01)
        #expect(found.map.missing.isEmpty)
        #expect(found.spreadBeforePercent > 30)
        #expect(found.spreadAfterPercent < 1.2)
    }

    /// The headings are off by at most what the reference is off from the truth, and what this fit is off from it.
    @Test func theHeadingsOfTheEllipsoidAreRight() throws {
        let found = try MagnetometerJudge().judge(cloud("synth_full_sphere_400.csv")).calibration
        let expected = try oracle().full_sphere_400.full10
        let reference = Matrix3(rows: expected.W.map(vector))
        var greatest = 0.0
        for heading in stride(from: 0.0, to: 360, by: 0.5) {
            let angle = heading * .pi / 180
            // As the turning device measures it, hard iron and all; the soft iron matters little for the comparison.
            let measured = Self.hardIron + Vector3(-21 * sin(angle), 21 * cos(angle), -45)
            let own = try #require(Attitude(acceleration: [0, 0, 9.8], field: found.apply(measured)))
            let other = try #require(
                Attitude(acceleration: [0, 0, 9.8], field: reference * (measured - vector(expected.V))))
            let difference = try #require(own.headingDegrees(of: .plusY)) - #require(other.headingDegrees(of: .plusY))
            greatest = max(greatest, abs(remainder(difference, 360)))
        }
        print(
            "ellipsoid: headings within \(greatest)° of the reference's, whose greatest error is "
                + "\(expected.heading_err_max_deg)°")
        #expect(greatest + expected.heading_err_max_deg < 0.6)
    }

    @Test func theSphereIsThatOfTheReference() throws {
        let found = try #require(MagnetometerFit.sphere(cloud("synth_full_sphere_400.csv")))
        let expected = try oracle().full_sphere_400.sphere4
        #expect(length(found.hardIronMicrotesla - vector(expected.V)) < 0.01)
        #expect(abs(found.fieldMicrotesla - expected.B) < 0.01)
        #expect(found.softIron == .identity)
    }

    @Test(arguments: [nil, MagnetometerFit.Model.sphere, .ellipsoid])
    func theFlatSpinIsRefused(model: MagnetometerFit.Model?) throws {
        var judge = MagnetometerJudge()
        judge.model = model
        let samples = try cloud("synth_flat_spin_300.csv")
        let refusal = try #require(throws: MagnetometerRefusal.self) { try judge.judge(samples) }
        guard case .coverage(let condition, let missing) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(abs(condition - 103.8) < 0.1)
        #expect(missing == [.upperHalf, .lowerHalf])
        #expect(refusal.description.contains("keep turning: the upper half and the lower half are missing"))
    }

    @Test(arguments: [15.0, 18, 20, 30, 45])
    func aSpinThatWobblesGivesASphereAtMost(degrees: Double) throws {
        let found = try MagnetometerJudge().judge(spin(wobbleDegrees: degrees))
        #expect(found.calibration.model == .sphere)
        #expect(found.sphereReason == (found.coverage.condition > Coverage.ellipsoidLimit ? .coverage : .regions))
        #expect(length(found.calibration.hardIronMicrotesla - Self.hardIron) < 1)
        var judge = MagnetometerJudge()
        judge.model = .ellipsoid
        let refusal = #expect(throws: MagnetometerRefusal.self) { try judge.judge(spin(wobbleDegrees: degrees)) }
        #expect(refusal?.name == "sphere_at_most")
    }

    @Test(arguments: [0.0, 5, 10, 12])
    func aSpinThatWobblesTooLittleIsRefused(degrees: Double) throws {
        let refusal = #expect(throws: MagnetometerRefusal.self) {
            try MagnetometerJudge().judge(spin(wobbleDegrees: degrees))
        }
        #expect(refusal?.name == "coverage")
    }

    /// A real recording: fitted on half of the time in which a magnet was on the sensor, and tried on the other half.
    @Test func aMagnetIsTakenOutOfTheHeading() throws {
        let rows = try table("broad/broad33_attached_magnet_2cm.csv")
        let fitted = rows.filter { (50...74).contains($0[0]) }.map { Vector3($0[4], $0[5], $0[6]) }
        let sphere = try #require(MagnetometerFit.sphere(fitted))
        print("broad33: \(sphere)")
        #expect(length(sphere.hardIronMicrotesla - Vector3(-4.1, 0.1, 27.4)) < 1)
        #expect(abs(sphere.fieldMicrotesla - 44.7) < 1)
        var judge = MagnetometerJudge()
        judge.model = .sphere
        #expect(try judge.judge(fitted).calibration == sphere)

        // What was not fitted; at 96 s the experimenter begins to take the magnet off.
        let heldOut = rows.filter { $0[0] > 74 && $0[0] <= 99 }
        let own = try #require(
            MagnetometerFit.sphere(heldOut.filter { $0[0] <= 96 }.map { Vector3($0[4], $0[5], $0[6]) }))
        func heading(_ row: [Double], _ correct: (Vector3) -> Vector3) -> Double? {
            let field = correct(Vector3(row[4], row[5], row[6]))
            return Attitude(acceleration: Vector3(row[1], row[2], row[3]), field: field)?.headingDegrees(of: .plusY)
        }
        func medianError(_ truth: ([Double]) -> Double?, _ correct: (Vector3) -> Vector3) -> Double {
            let errors = heldOut.compactMap { row -> Double? in
                guard let found = heading(row, correct), let truth = truth(row) else { return nil }
                return abs(remainder(found - truth, 360))
            }.sorted()
            return errors[errors.count / 2]
        }
        let before = medianError({ $0[7] }) { $0 }
        let after = medianError({ $0[7] }, sphere.apply)
        let least = medianError({ $0[7] }, own.apply)
        print(
            "broad33, held out, off the reference heading: \(before)° before, \(after)° after, \(least)° with their own fit"
        )
        // The device is turned by hand all the time. What is left is the accelerometer, which takes its movement for tilt: a
        // fit to these very samples does no better.
        #expect(after <= before / 3)
        #expect(after <= least)
        // The magnetometer's share alone: the heading that this fit would have given is the truth, movement and all.
        let shareBefore = medianError({ heading($0, own.apply) }) { $0 }
        let shareAfter = medianError({ heading($0, own.apply) }, sphere.apply)
        print("broad33, held out, the magnetometer's share: \(shareBefore)° before, \(shareAfter)° after")
        #expect(shareAfter <= shareBefore / 5)
    }

    @Test func sixPositionsGiveTheAccelerometersErrors() throws {
        var rests: [Face: Vector3] = [:]
        for row in try table("calibration/accel_six_position.csv") {
            rests[try #require(Face(Vector3(row[0], row[1], row[2])))] = Vector3(row[3], row[4], row[5])
        }
        let found = try AccelerometerFit.sixPositions(rests)
        let expected = try oracle().accel6
        #expect(length(found.offset - vector(expected.b)) < 1e-6)
        for row in 0..<3 { #expect(length(found.matrix.rows[row] - vector(expected.lsq12[row])) < 1e-6) }
        #expect(found.fitError < 1e-6)
        for (face, read) in rests { #expect(length(found.apply(read) - 9.80665 * face.axis) < 1e-5) }
    }

    /// Made: soft iron of the device itself, and a region from which nothing has come.
    @Test func softIronWithAMissingRegionAsksForMoreTurns() throws {
        let samples = try table("calibration/soft_iron_region_missing.csv").map { Vector3($0[1], $0[2], $0[3]) }
        let refusal = try #require(throws: MagnetometerRefusal.self) { try MagnetometerJudge().judge(samples) }
        guard case .softIron(let percent, let missing) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(percent > MagnetometerJudge.greatestErrorPercent && !missing.isEmpty)
        #expect(refusal.description.contains("keep turning: \(missing[0].rawValue)"))
        #expect(!refusal.description.contains("keep away"))
    }

    /// Made: a band of directions, in which soft iron moves the centre of a sphere by 22 % of the field, 9.6 µT.
    @Test func aCentreThatMissingDirectionsHideIsRefused() throws {
        var thinning = SampleThinning()
        for row in try table("calibration/band_soft_iron.csv") { thinning.add(Vector3(row[1], row[2], row[3])) }
        let samples = thinning.samples
        let refusal = try #require(throws: MagnetometerRefusal.self) { try MagnetometerJudge().judge(samples) }
        guard case .centre(let error, let missing) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect((9.6 / 3...9.6 * 3).contains(error) && !missing.isEmpty)
    }

    @Test func theErrorOfACalibrationIsThatOfItsFitWithSamplesFromEverywhere() throws {
        let full = try MagnetometerJudge().judge(cloud("synth_full_sphere_400.csv"))
        #expect(full.errorMicrotesla < 1.5 * full.calibration.residualMicrotesla)
        // A sensor's calibration has the same error, which headings state.
        #expect(MagnetometerCalibration(full).residualMicrotesla == full.errorMicrotesla)
    }

    @Test func sixtyWellSpreadSamplesGiveAnEllipsoid() throws {
        // A spiral from pole to pole, in a field of 50 µT that soft iron stretches.
        let samples = (0..<60).map { index in
            let z = 1 - (2 * Double(index) + 1) / 60
            let angle = Double(index) * 2.399_963
            let radius = (1 - z * z).squareRoot()
            return Vector3(20 + 50 * radius * cos(angle), -10 + 55 * radius * sin(angle), 30 + 46 * z)
        }
        let found = try MagnetometerJudge().judge(samples)
        #expect(found.map.missing.isEmpty)
        #expect(found.calibration.model == .ellipsoid)
        #expect(length(found.calibration.hardIronMicrotesla - Vector3(20, -10, 30)) < 0.1)
    }
}
