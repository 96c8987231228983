/// Why the text of a model cannot be used.
package struct GeomagneticModelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// What is wrong there, and what belongs there.
    package let message: String

    /// `line: message`.
    package var description: String { "\(line): \(message)" }
}
