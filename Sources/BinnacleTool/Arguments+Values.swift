import Binnacle
import CommandRows
import Configuration
import Station

/// The values of options that several commands have.
extension Arguments {
    /// The maximum run time of a command: the option `--for`.
    func duration() throws(StationError) -> Duration? {
        guard let text = value(.for) else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw StationError(
                .usage, "--for \(text): has to be a time above 0 with its unit, as in 500ms, 10s, 5m, 1h")
        }
        return duration
    }

    /// The configurations that are named, as operands and with `--config`.
    var configurationPaths: [String] { operands + all(.config) }

    /// What the command line sets in the configuration: the option `--set`.
    func settings() throws(StationError) -> [CommandLineSetting] {
        var settings: [CommandLineSetting] = []
        for text in all(.set) {
            guard let setting = CommandLineSetting(text) else {
                throw StationError(
                    .usage, "--set \(text): has to be KEY=VALUE on one line, as in motion.moved.threshold_g=0.1")
            }
            settings.append(setting)
        }
        return settings
    }

    /// A factor of a speed: a number above 0; `nil` for other texts.
    static func factor(_ text: String) -> Double? {
        Double(text).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }
}
