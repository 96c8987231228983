import Binnacle

/// Which column of a file holds what.
struct CSVLayout: Equatable {
    /// One stream in the file.
    struct Stream: Equatable {
        /// The sensor's name, when the header gives one.
        let sensor: String?
        let kind: SampleKind
        /// The factor that makes the values m/s² or µT.
        let factor: Double
        /// The columns of x, y and z, from 0.
        let columns: [Int]
    }

    /// The time's column, from 0.
    let timeColumn: Int
    /// The power of ten that makes the time nanoseconds; `nil` when the header does not say.
    let timeExponent: Int?
    /// The streams in the order of their first columns; never empty.
    let streams: [Stream]
    /// What was assumed because the header does not say it.
    let assumptions: [String]

    /// Whether the file is a recording of our own, which names its sensors and ends every line.
    var isRecording: Bool { streams.allSatisfy { $0.sensor != nil } }

    /// Recognises the columns from their names.
    ///
    /// - Parameters:
    ///   - names: The header's fields.
    ///   - assumedKind: What bare `x`, `y`, `z` without a unit measure, when the user said so.
    ///   - fail: Makes the error for a message.
    /// - Throws: What `fail` makes, when no time or no three axes are found.
    init(
        names: [String], assumedKind: SampleKind?, fail: (String) -> TraceError
    ) throws(TraceError) {
        let columns = names.map { ColumnName($0) }
        let times = columns.indices.filter { columns[$0].role == .time }
        guard let time = times.first(where: { columns[$0].unit != nil }) ?? times.first else {
            throw fail(
                "no column holds the time; found \(Self.list(names)). Name the columns with --map "
                    + "'time=COLUMN:UNIT,ax=COLUMN:UNIT,…'")
        }
        var found: [(sensor: String?, kind: SampleKind, unit: TraceUnit?, columns: [Int?])] = []
        for (index, column) in columns.enumerated() {
            guard case .axis(let axis, let named) = column.role, let kind = named ?? assumedKind else { continue }
            let place = found.firstIndex { $0.sensor == column.sensor && $0.kind == kind }
            if let place {
                if let other = found[place].columns[axis] {
                    throw fail(
                        "'\(names[other])' and '\(names[index])' both look like the \(kind.rawValue)'s "
                            + "\(["x", "y", "z"][axis]); choose one with --map")
                }
                guard found[place].unit == column.unit else {
                    throw fail("the \(kind.rawValue)'s axes have different units; say which with --map")
                }
                found[place].columns[axis] = index
            } else {
                var axes: [Int?] = [nil, nil, nil]
                axes[axis] = index
                found.append((column.sensor, kind, column.unit, axes))
            }
        }
        var assumptions: [String] = []
        var streams: [Stream] = []
        for stream in found {
            guard let x = stream.columns[0], let y = stream.columns[1], let z = stream.columns[2] else {
                let missing = (0..<3).filter { stream.columns[$0] == nil }.map { ["x", "y", "z"][$0] }
                throw fail(
                    "the \(stream.kind.rawValue) has no column for \(missing.joined(separator: " and ")): a detector "
                        + "needs three axes. If a column has another name, say which with --map")
            }
            if stream.unit == nil { assumptions.append(Self.assumption(stream.kind, [names[x], names[y], names[z]])) }
            streams.append(
                Stream(
                    sensor: stream.sensor, kind: stream.kind, factor: Self.factor(stream.unit), columns: [x, y, z]))
        }
        guard !streams.isEmpty else { throw fail(Self.nothingFound(columns, names)) }
        timeColumn = time
        timeExponent = Self.timeExponent(columns[time].unit)
        self.streams = streams
        self.assumptions = assumptions
    }

    /// Takes the columns that the user named.
    ///
    /// - Parameters:
    ///   - map: The columns.
    ///   - names: The header's fields; `nil` for a file without a header.
    ///   - fail: Makes the error for a message.
    /// - Throws: What `fail` makes, when a column is not there.
    init(map: ColumnMap, names: [String]?, fail: (String) -> TraceError) throws(TraceError) {
        var columns: [ColumnMap.Target: Int] = [:]
        for entry in map.entries {
            switch entry.column {
            case .numbered(let number):
                if let names, number > names.count {
                    throw fail("--map wants column #\(number), but there are \(names.count)")
                }
                columns[entry.target] = number - 1
            case .named(let name):
                guard let names else {
                    throw fail("--map wants column '\(name)', but the file has no header: use its number, as in #1")
                }
                guard let index = names.firstIndex(of: name) else {
                    throw fail("--map wants column '\(name)'; found \(Self.list(names))")
                }
                columns[entry.target] = index
            }
        }
        // The map has been checked for a time and complete axes when it was read.
        guard let time = columns[.time] else { throw fail("--map names no time") }
        let units = Dictionary(uniqueKeysWithValues: map.entries.map { ($0.target, $0.unit) })
        var streams: [Stream] = []
        var assumptions: [String] = []
        for (kind, axes) in [
            (SampleKind.accelerometer, [ColumnMap.Target.ax, .ay, .az]), (.magnetometer, [.mx, .my, .mz]),
        ] {
            let indices = axes.compactMap { columns[$0] }
            guard indices.count == 3 else { continue }
            let given = axes.map { units[$0] ?? nil }
            guard given.allSatisfy({ $0 == given[0] }) else {
                throw fail("--map gives the \(kind.rawValue)'s axes different units")
            }
            if given[0] == nil {
                assumptions.append(Self.assumption(kind, indices.map { names?[$0] ?? "#\($0 + 1)" }))
            }
            streams.append(Stream(sensor: nil, kind: kind, factor: Self.factor(given[0]), columns: indices))
        }
        timeColumn = time
        timeExponent = Self.timeExponent(units[.time] ?? nil)
        self.streams = streams
        self.assumptions = assumptions
    }

    private static func factor(_ unit: TraceUnit?) -> Double {
        switch unit {
        case .acceleration(let factor), .field(let factor): factor
        default: 1
        }
    }

    private static func timeExponent(_ unit: TraceUnit?) -> Int? {
        if case .time(let exponent) = unit { exponent } else { nil }
    }

    private static func assumption(_ kind: SampleKind, _ names: [String]) -> String {
        let unit = kind == .accelerometer ? "m/s²" : "µT"
        return "no unit for \(names.joined(separator: ", ")): taken as \(unit) (--map says otherwise)"
    }

    private static func nothingFound(_ columns: [ColumnName], _ names: [String]) -> String {
        let bare = columns.contains { if case .axis(_, nil) = $0.role { true } else { false } }
        if bare {
            return
                "x, y, z could be an accelerometer or a magnetometer; found \(list(names)). Say which with --map, or "
                + "with --bind SENSOR=FILE:accelerometer"
        }
        return "neither an accelerometer nor a magnetometer; found \(list(names)). Name the columns with --map "
            + "'time=COLUMN:UNIT,ax=COLUMN:UNIT,…'"
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "'\($0.prefix(40).printable)'" }.joined(separator: ", ")
        return names.count > 12 ? shown + " and \(names.count - 12) more" : shown
    }
}
