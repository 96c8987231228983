/// What is drawn of a detector over one axis of time: curves, a heading, or states.
///
/// It names values; the detector's limits, latest figures and sampled values have the same names.
package struct Lane: Sendable, Equatable {
    /// A value as a curve.
    package struct Curve: Sendable, Equatable {
        /// What stands beside the curve, as in "turn".
        package let label: String
        /// The value, as in "turn_deg".
        package let name: String
    }

    /// A direction from 0° to 360°, with its accuracy as a band.
    package struct Direction: Sendable, Equatable {
        /// The value, in degrees.
        package let name: String
        /// The value of its accuracy, in degrees to either side.
        package let accuracy: String

        package init(name: String, accuracy: String) {
            self.name = name
            self.accuracy = accuracy
        }
    }

    /// A value that is one of some words, as a row for each word that occurs.
    package struct States: Sendable, Equatable {
        /// The name of ``EventDetector/state`` as a value.
        package static let state = "state"

        /// The value: a figure, or ``state``.
        package let name: String
        /// What stands before each word, as in "tilt: ".
        package var prefix = ""
        /// The words of a sampled value, each a bit, the lowest first; live readings are without them.
        package var words: [String] = []

        package init(name: String, prefix: String = "", words: [String] = []) {
            self.name = name
            self.prefix = prefix
            self.words = words
        }
    }

    /// A range of bearings that a direction enters and leaves.
    package struct Sector: Sendable, Equatable {
        /// What is entered, as in "facing".
        package let label: String
        /// Where it begins, and where it ends clockwise from there, in degrees.
        package let from: Double
        package let to: Double
        /// How far outside it is left, in degrees.
        package let margin: Double

        package init(label: String, from: Double, to: Double, margin: Double) {
            self.label = label
            self.from = from
            self.to = to
            self.margin = margin
        }
    }

    /// What it shows, of what.
    package let title: String
    /// The unit of the curves; empty for none.
    package var unit = ""
    package var curves: [Curve] = []
    package var direction: Direction?
    package var states: [States] = []
    package var sectors: [Sector] = []
}

extension Lane {
    /// Creates a lane, to which curves, directions and sectors may be added.
    package init(title: String, unit: String = "", states: [States] = []) {
        self.title = title
        self.unit = unit
        self.states = states
    }

    /// Creates a lane of curves: the name of each value by what stands beside its curve.
    package init(_ title: String, _ unit: String, _ curves: KeyValuePairs<String, String>, states: [States] = []) {
        self.init(title: title, unit: unit, states: states)
        self.curves = curves.map { Curve(label: $0, name: $1) }
    }
}
