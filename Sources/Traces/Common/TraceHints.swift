package import Binnacle

/// The user's statements about a recording that does not describe itself.
package struct TraceHints: Sendable, Equatable {
    /// Columns, units and signs.
    package var map: ColumnMap?
    /// The kind of bare `x`, `y`, `z` columns.
    package var assumedKind: SampleKind?
    /// The sampling rate of a file without times, in Hz.
    package var rateHz: Double?
    /// The sensors whose accelerations have the sign of gravity: the axis that points down reads positive.
    package var gravitySensors: Set<String> = []
    /// The sensors whose accelerations do not have that sign.
    package var otherSensors: Set<String> = []
    /// Whether a device that plays in place of the file has the sign of gravity; `record` has turned its samples already.
    package var hasDeviceOfGravity = false

    /// Whether the file is played alone, so that a map cannot refer to another file.
    package var isOnlyFile = true
    /// Whether a refusal looks for another file that would do.
    var seeksOthers = true

    package init(map: ColumnMap? = nil, assumedKind: SampleKind? = nil, rateHz: Double? = nil) {
        self.map = map
        self.assumedKind = assumedKind
        self.rateHz = rateHz
    }

    /// The remedy for one of several files: options that would apply to all of them convert it alone first.
    func remedy(_ remedy: TraceRemedy?, for path: String) -> TraceRemedy? {
        guard case .options(let options)? = remedy, !isOnlyFile, options.first != "--bind", map == nil, rateHz == nil,
            assumedKind == nil
        else { return remedy }
        return .file(ForeignFormat.beside(path, ForeignFormat.convertedSuffix), madeBy: .conversion(options))
    }

    /// Whether the accelerations of a sensor, `nil` for one without a name, have to be negated.
    func hasGravitySign(_ sensor: String?, isRecorded: Bool) -> Bool {
        if let acceleration = map?.acceleration { return acceleration == .gravity }
        if hasDeviceOfGravity, !isRecorded { return true }
        guard !gravitySensors.isEmpty else { return false }
        guard let sensor, !gravitySensors.contains(sensor) else { return true }
        return !otherSensors.contains(sensor)
    }
}

/// The way to open a file that was refused.
package enum TraceRemedy: Sendable, Equatable {
    /// The same command with additional options.
    case options([String])
    /// The same command with another file, and with additional options.
    case file(String, madeBy: Maker, options: [String] = [])
    /// The same command without the file, whose samples no detector uses.
    case leftOut

    /// What makes the other file first.
    package enum Maker: Sendable, Equatable {
        case none
        case command(String)
        /// A shell command that reads the refused file from standard input, and writes the other to standard output.
        case filter(String)
        /// `binnacle convert` with these options.
        case conversion([String])
    }
}

/// Writes words for a shell.
package enum ShellText {
    /// A word for a POSIX shell, quoted if necessary.
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
