package import Binnacle
package import Calibration
package import PlainText
import SensorGeometry

/// Collects one sensor's samples for a calibration, and reports what is missing.
package protocol CalibrationTask: AnyObject {
    func add(_ sample: Sample)
    /// Updates the properties below.
    func review()
    /// Whether more samples would not improve the result.
    var isComplete: Bool { get }
    /// Whether the samples are enough for a result that is worth showing.
    var mayFinish: Bool { get }
    /// From 0 to 1.
    var fraction: Double { get }
    /// An instruction for the user.
    var advice: String { get }
    /// Lines that show the coverage.
    var picture: [String] { get }
    /// The fraction, the advice and the picture, for a page.
    var progress: JSONObject { get }
    func finish() throws(CalibrationRefusal) -> CalibrationResult
}

extension CalibrationTask {
    package func review() {}
    package var picture: [String] { [] }
    package var mayFinish: Bool { isComplete }
    package var progress: JSONObject { progress(advice) }

    /// The cells of the picture are digits, 1 for what is measured; `now` is the cell of the last sample.
    func progress(_ advice: String, cells: String = "", now: Int? = nil) -> JSONObject {
        var object = JSONObject()
        object.add("fraction", raw: fraction.text(3))
        object.add("advice", advice)
        object.add("cells", cells)
        object.add("now", raw: now.map { "\($0)" } ?? "null")
        return object
    }
}

extension SampleKind {
    /// What calibrates a sensor of this kind.
    package func calibrationTask(_ judge: MagnetometerJudge) -> any CalibrationTask {
        switch self {
        case .magnetometer: MagnetometerTask(judge)
        case .accelerometer: AccelerometerTask()
        case .gyroscope: GyroscopeTask()
        }
    }
}

extension SIMD3<Double> {
    init(_ sample: Sample) { self.init(Double(sample.x), Double(sample.y), Double(sample.z)) }
}

/// The result of a calibration, in all output forms.
package struct CalibrationResult {
    /// Of the file's table.
    package let name: String
    /// The lines of the table, without its header.
    package internal(set) var table: [String]
    /// Figures and a verdict, as text.
    package let report: [String]
    package let figures: JSONObject
}

package struct CalibrationRefusal: Error {
    /// A keyword for programs.
    package let name: String
    /// The problem and the remedy.
    package let description: String
    package let figures: JSONObject
}

enum CalibrationText {
    /// A vector in TOML and JSON.
    static func list(_ vector: Vector3, _ decimals: Int) -> String {
        "[" + (0..<3).map { vector[$0].text(decimals) }.joined(separator: ", ") + "]"
    }

    /// A matrix in TOML and JSON.
    static func list(_ matrix: Matrix3, _ decimals: Int) -> String {
        "[" + matrix.rows.map { list($0, decimals) }.joined(separator: ", ") + "]"
    }

    /// A vector in a report.
    static func words(_ vector: Vector3, _ decimals: Int) -> String {
        (0..<3).map { vector[$0].text(decimals) }.joined(separator: ", ")
    }
}
