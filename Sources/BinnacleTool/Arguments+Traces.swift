import Binnacle
import CommandRows
import LinuxSystem
import Station
import Traces

/// The options of all commands that read recordings: ``OptionRow/ofTraces``.
extension Arguments {
    /// The recordings named as operands and by `--bind`, with the columns and rate of `--map` and `--rate`.
    func traces(_ paths: [String]) throws(StationError) -> TraceSet {
        var set = TraceSet(paths.map(Self.path))
        for text in all(.bind) { set.bindings.append(try Self.binding(text)) }
        set.map = try columnMap()
        // At a lower rate every sample would follow a gap.
        set.rateHz = try number(.rate, in: 2...100_000, "a number of samples a second from 2 to 100000")
        try set.openFolders()
        return set
    }

    private static func binding(_ text: String) throws(StationError) -> TraceSet.Binding {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw .usage("--bind \(text): has to be SENSOR=FILE or SENSOR=FILE:KIND")
        }
        var path = String(text[text.index(after: equals)...])
        var kind: SampleKind?
        if let colon = path.lastIndex(of: ":"),
            let named = SampleKind(rawValue: String(path[path.index(after: colon)...]))
        {
            kind = named
            path = String(path[..<colon])
        }
        guard !path.isEmpty else { throw .usage("--bind \(text): names no file") }
        return TraceSet.Binding(sensor: String(text[..<equals]), path: Self.path(path), kind: kind)
    }

    /// The path of a trace; `-` is standard input.
    private static func path(_ path: String) -> String { path == "-" ? standardInput : path }

    /// What `-` stands for.
    static let standardInput = "/dev/stdin"

    private func columnMap() throws(StationError) -> ColumnMap? {
        guard has(.map) else { return nil }
        return try mapError({ StationError(.usage, "--map: \($0)") }) { try ColumnMap(all(.map)) }
    }
}
