package import Binnacle
import Calibration
package import PlainText
import SensorGeometry

/// Collects one sensor's samples for a calibration, and says what is missing.
protocol CalibrationTask: AnyObject {
    /// Takes a sample.
    func add(_ sample: Sample)
    /// Looks at what has come, for the properties below.
    func review()
    /// Whether more samples would not make it better.
    var isComplete: Bool { get }
    /// How far it has come, from 0 to 1.
    var fraction: Double { get }
    /// What a person is to do.
    var advice: String { get }
    /// Lines that show what has come.
    var picture: [String] { get }
    /// Makes a calibration of what has come.
    func finish() throws(CalibrationRefusal) -> CalibrationResult
}

extension SIMD3<Double> {
    init(_ sample: Sample) { self.init(Double(sample.x), Double(sample.y), Double(sample.z)) }
}

/// What a calibration came to, in every form in which it is told.
package struct CalibrationResult {
    /// Which table of a file it is.
    package let kind: SampleKind
    /// The table's lines, without its header.
    package let table: [String]
    /// Figures and a verdict, for people.
    package let report: [String]
    /// The figures for programs, under their keys.
    package let figures: JSONObject
}

/// Why there is no result.
package struct CalibrationRefusal: Error {
    /// A word for programs.
    package let name: String
    /// What is wrong, and what to do about it.
    package let description: String
    /// The figures for programs, under their keys.
    package let figures: JSONObject
}

/// Numbers as reports, tables and JSON have them.
enum CalibrationText {
    /// A number with a fixed count of decimals.
    static func number(_ value: Double, _ decimals: Int) -> String {
        Figure.Value.number(value, decimals: decimals).description
    }

    /// A vector as TOML and JSON write it.
    static func list(_ vector: Vector3, _ decimals: Int) -> String {
        "[" + (0..<3).map { number(vector[$0], decimals) }.joined(separator: ", ") + "]"
    }

    /// A matrix as TOML and JSON write it.
    static func list(_ matrix: Matrix3, _ decimals: Int) -> String {
        "[" + matrix.rows.map { list($0, decimals) }.joined(separator: ", ") + "]"
    }

    /// A vector for people.
    static func words(_ vector: Vector3, _ decimals: Int) -> String {
        (0..<3).map { number(vector[$0], decimals) }.joined(separator: ", ")
    }
}
