import Binnacle
import Calibration

/// Numbers as reports, tables and JSON have them.
enum CalibrationText {
    /// A number with a fixed count of decimals.
    static func number(_ value: Double, _ decimals: Int) -> String {
        Figure.Value.number(value, decimals: decimals).description
    }

    /// A vector as TOML and JSON write it.
    static func list(_ vector: Vector, _ decimals: Int) -> String {
        "[" + (0..<3).map { number(vector[$0], decimals) }.joined(separator: ", ") + "]"
    }

    /// A matrix as TOML and JSON write it.
    static func list(_ matrix: Matrix3, _ decimals: Int) -> String {
        "[" + matrix.rows.map { list($0, decimals) }.joined(separator: ", ") + "]"
    }

    /// A vector for people.
    static func words(_ vector: Vector, _ decimals: Int) -> String {
        (0..<3).map { number(vector[$0], decimals) }.joined(separator: ", ")
    }
}
