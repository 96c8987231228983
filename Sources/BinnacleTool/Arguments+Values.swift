import Binnacle
import CommandRows
import Station
import Traces

/// What options say that several commands have.
extension Arguments {
    /// How long a command runs at most: the option `--for`.
    ///
    /// - Throws: ``StationError`` when it is no time.
    func duration() throws(StationError) -> Duration? {
        guard let text = value(.for) else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw StationError(
                .usage, "--for \(text): has to be a time above 0 with its unit, as in 500ms, 10s, 5m, 1h")
        }
        return duration
    }

    /// What the columns of traces are called: the option `--map`.
    ///
    /// - Throws: ``StationError`` when it is not written as it has to be.
    func columnMap() throws(StationError) -> ColumnMap? {
        guard has(.map) else { return nil }
        do throws(ColumnMap.ParseError) {
            return try ColumnMap(all(.map))
        } catch {
            throw StationError(.usage, "--map: \(error.description)")
        }
    }
}
