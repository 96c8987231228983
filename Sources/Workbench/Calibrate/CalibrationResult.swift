package import Binnacle
package import PlainText

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
