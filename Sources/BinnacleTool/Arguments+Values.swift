import Binnacle
import CommandRows
import Station
import Traces

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

    /// The names of a trace's columns: the option `--map`.
    func columnMap() throws(StationError) -> ColumnMap? {
        guard has(.map) else { return nil }
        do throws(ColumnMap.ParseError) {
            return try ColumnMap(all(.map))
        } catch {
            throw StationError(.usage, "--map: \(error.description)")
        }
    }
}
