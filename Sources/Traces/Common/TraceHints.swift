package import Binnacle

/// What the user says about a recording, because the file does not.
package struct TraceHints: Sendable, Equatable {
    /// Columns, units and signs.
    package var map: ColumnMap?
    /// What bare `x`, `y`, `z` columns measure.
    package var assumedKind: SampleKind?
    /// The samples a second of a file without times.
    package var rateHz: Double?
    /// The sensors whose accelerations have the sign of gravity: the axis that points down reads positive.
    package var gravitySensors: Set<String> = []
    /// The sensors for which the file is used otherwise.
    package var otherSensors: Set<String> = []

    /// Whether it is played alone, so that a map can concern no other file.
    package var isOnlyFile = true

    package init(map: ColumnMap? = nil, assumedKind: SampleKind? = nil, rateHz: Double? = nil) {
        self.map = map
        self.assumedKind = assumedKind
        self.rateHz = rateHz
    }

    /// Whether the accelerations of a sensor, `nil` for one without a name, have to be turned about.
    func hasGravitySign(_ sensor: String?) -> Bool {
        if let acceleration = map?.acceleration { return acceleration == .gravity }
        guard !gravitySensors.isEmpty else { return false }
        guard let sensor, !gravitySensors.contains(sensor) else { return true }
        return !otherSensors.contains(sensor)
    }
}

/// What opens a file that was refused.
package enum TraceRemedy: Sendable, Equatable {
    /// The same command with these options.
    case options([String])
    /// The same command with another file, which a shell command makes first, unless it is empty, and with these options.
    case file(String, madeBy: String, options: [String] = [])
}

/// Writes words for a shell.
package enum ShellText {
    /// A word as a POSIX shell reads it, in quotes where it needs them.
    package static func quoted(_ word: String) -> String {
        let plain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", "=", ":", ",", "+", "@", "%": true
            default: false
            }
        }
        if plain, !word.isEmpty { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
