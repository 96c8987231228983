import Binnacle
import Calibration
import PlainText
import SensorGeometry

/// Collects the readings of an accelerometer at rest with each side up.
final class AccelerometerTask: CalibrationTask {
    private var phases = StillPhases()

    func add(_ sample: Sample) {
        phases.add(SIMD3<Double>(sample), timeNanoseconds: sample.timeNanoseconds)
    }

    var isComplete: Bool { phases.missing.isEmpty }

    var fraction: Double {
        Double(Face.allCases.count - phases.missing.count) / Double(Face.allCases.count)
    }

    var advice: String {
        guard phases.count > 0 else { return "waiting for the accelerometer" }
        let missing = phases.missing
        guard !missing.isEmpty else { return "enough" }
        return "hold it still, missing: \(missing.map(\.words).joined(separator: ", "))"
    }

    var picture: [String] {
        Face.allCases.map { face in
            let mark = phases.rests[face] == nil ? " " : "#"
            return "[\(mark)] \(face.words)\(phases.current == face ? "  ← now" : "")"
        }
    }

    /// The cells are the faces, whose words come with them.
    var progress: JSONObject {
        let all = Face.allCases
        var object = progress(
            advice, cells: all.map { phases.rests[$0] == nil ? "0" : "1" }.joined(),
            now: phases.current.flatMap { all.firstIndex(of: $0) })
        object.add("faces", list: all.map { JSONObject.quoted($0.words) })
        return object
    }

    func finish() throws(CalibrationRefusal) -> CalibrationResult {
        let missing = phases.missing
        do throws(AccelerometerRefusal) {
            guard missing.isEmpty else {
                throw .missing(missing, moving: missing.filter(phases.seen.contains))
            }
            return result(try AccelerometerFit.fit(phases.rests.mapValues(\.mean)))
        } catch {
            var figures = JSONObject()
            figures.add("samples_seen", raw: "\(phases.count)")
            figures.add("positions", raw: "\(Face.allCases.count - missing.count)")
            figures.add("missing", list: missing.map { JSONObject.quoted($0.words) })
            throw CalibrationRefusal(name: error.name, description: error.description, figures: figures)
        }
    }

    // MARK: - The result

    /// The difference of a reading's magnitude from 1 g, in m/s².
    private static func error(_ reading: Vector3) -> Double {
        (reading * reading).sum().squareRoot() - Gravity.standard
    }

    private func result(_ calibration: AccelerometerFit) -> CalibrationResult {
        let fit = [
            ("offset_m_s2", CalibrationText.list(calibration.offset, 5)),
            ("matrix", CalibrationText.list(calibration.matrix, 6)),
            ("fit_error_m_s2", calibration.fitError.text(4)),
        ]
        let table = fit.map { "\($0) = \($1)" } + ["positions = \(phases.rests.count)"]
        let rests = Face.allCases.compactMap { face in phases.rests[face].map { (face, $0.mean) } }
        let before = rests.map { Self.error($0.1) }
        let after = rests.map { Self.error(calibration.apply($0.1)) }
        var figures = JSONObject()
        figures.add("samples_seen", raw: "\(phases.count)")
        figures.add("positions", raw: "\(phases.rests.count)")
        for (key, value) in fit { figures.add(key, raw: value) }
        figures.add("faces", list: rests.map { JSONObject.quoted($0.0.words) })
        for (key, errors) in [("error_before_m_s2", before), ("error_after_m_s2", after)] {
            figures.add(key, list: errors.map { $0.text(4) })
        }
        let quality =
            calibration.skewDegrees.map {
                "fair: the sides were \($0.text(1))° off the vertical, so that offset and scale are corrected, and the directions of the "
                    + "axes are not"
            } ?? (calibration.fitError < 0.05 ? "good" : "fair")
        let rows = rests.indices.map { index in
            "  \(Self.padded(rests[index].0.words))|a| is off 1 g by \(before[index].text(3)) m/s² before, "
                + "\(after[index].text(3)) m/s² after"
        }
        let report =
            rows + [
                "  \(Self.padded("offset"))\(CalibrationText.words(calibration.offset, 3)) m/s²",
                "  \(Self.padded("fit error"))\(calibration.fitError.text(3)) m/s²",
                "verdict: \(quality)",
            ]
        return CalibrationResult(name: "accelerometer", table: table, report: report, figures: figures)
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(1, 16 - text.count))
    }
}
