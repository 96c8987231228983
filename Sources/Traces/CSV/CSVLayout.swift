import Binnacle
import PlainText

/// The contents of a file's columns.
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
    /// The power of ten that makes the time nanoseconds; `nil` when the header has no unit.
    let timeExponent: Int?
    /// The streams in the order of their first columns; never empty.
    let streams: [Stream]
    /// Assumptions made where the header does not say enough.
    let assumptions: [String]

    /// Whether the file is a recording by Binnacle, which names its sensors and terminates every line.
    var isRecording: Bool { streams.allSatisfy { $0.sensor != nil } }

    /// Recognises the columns from their names, `#1` and so on without a header, and from the user's map, which takes
    /// precedence.
    init(
        names: [String], map: ColumnMap?, assumedKind: SampleKind?, fail: (String) -> TraceError
    ) throws(TraceError) {
        var columns = names.map { ColumnName($0) }
        if let map { try map.apply(to: &columns, names: names, fail: fail) }
        let list = Self.list(names)
        let times = columns.indices.filter { columns[$0].role == .time }
        // A column t may also be a temperature, so that every other column of times takes precedence.
        let time =
            times.first { columns[$0].hasKnownUnit }
            ?? times.first { columns[$0].unit == .none && names[$0].lowercased() != "t" }
            ?? times.first { columns[$0].unit == .none } ?? times.first
        guard let time else {
            throw fail("no column holds the time; found \(list). Name it with --map time=COLUMN:UNIT")
        }
        if case .unknown(let unit) = columns[time].unit {
            throw fail(
                "'\(names[time].printable)': '\(unit.printable)' is no unit of time that is known (s, ms, us, ns); say "
                    + "which it is with --map time=COLUMN:UNIT")
        }
        let found = try Self.group(columns, names, assumedKind, fail)
        guard !found.isEmpty else { throw fail(Self.nothingFound(columns, list)) }
        var assumptions: [String] = []
        var streams: [Stream] = []
        let hasWhole = found.contains { !$0.columns.contains(nil) }
        for group in found {
            let axes = group.columns.compactMap { $0 }
            if axes.count < 3, hasWhole {
                let shown = axes.map { names[$0].printable }.joined(separator: ", ")
                assumptions.append("\(shown) left out: no \(group.kind.rawValue) has fewer than three axes")
                continue
            }
            guard axes.count == 3 else {
                let missing = (0..<3).filter { group.columns[$0] == nil }.map { ["x", "y", "z"][$0] }
                throw fail(
                    "the \(group.kind.rawValue) has no column for \(missing.joined(separator: " and ")): a detector needs "
                        + "three axes. If a column has another name, say which with --map")
            }
            let shown = axes.map { names[$0].printable }.joined(separator: ", ")
            if group.unit == nil {
                let unit = group.kind == .accelerometer ? "m/s²" : "µT"
                assumptions.append("no unit for \(shown): taken as \(unit) (--map says otherwise)")
            }
            streams.append(
                Stream(sensor: group.sensor, kind: group.kind, factor: Self.factor(group.unit), columns: axes))
        }
        timeColumn = time
        if case .known(.time(let exponent)) = columns[time].unit { timeExponent = exponent } else { timeExponent = nil }
        self.streams = streams
        self.assumptions = assumptions
    }

    private struct Group {
        let sensor: String?
        let kind: SampleKind
        let unit: TraceUnit?
        var columns: [Int?] = [nil, nil, nil]
    }

    /// Groups the axes by sensor and kind.
    private static func group(
        _ columns: [ColumnName], _ names: [String], _ assumedKind: SampleKind?, _ fail: (String) -> TraceError
    ) throws(TraceError) -> [Group] {
        var found: [Group] = []
        for (index, column) in columns.enumerated() {
            guard case .axis(let axis, _) = column.role, let kind = column.kind(assuming: assumedKind) else { continue }
            let unit = try unit(of: column, kind, names[index].printable, fail)
            guard let place = found.firstIndex(where: { $0.sensor == column.sensor && $0.kind == kind }) else {
                var group = Group(sensor: column.sensor, kind: kind, unit: unit)
                group.columns[axis] = index
                found.append(group)
                continue
            }
            if let other = found[place].columns[axis] {
                throw fail(
                    "'\(names[other].printable)' and '\(names[index].printable)' both look like the \(kind.rawValue)'s "
                        + "\(["x", "y", "z"][axis]); choose with --map, by name or by number (#\(index + 1))")
            }
            guard found[place].unit == unit else {
                throw fail("the \(kind.rawValue)'s axes have different units; say which with --map")
            }
            found[place].columns[axis] = index
        }
        return found
    }

    /// The unit of an axis; `nil` when its name has none.
    private static func unit(
        of column: ColumnName, _ kind: SampleKind, _ name: String, _ fail: (String) -> TraceError
    ) throws(TraceError) -> TraceUnit? {
        let remedy = "say which it is with --map, as in ax=COLUMN:m/s2 or mx=COLUMN:uT"
        switch column.unit {
        case .none:
            return nil
        case .unknown(let unit):
            throw fail("'\(name)': '\(unit.printable)' is no unit that is known; \(remedy)")
        case .known(let unit):
            guard let meant = unit.meant(for: kind) else {
                throw fail(
                    "'\(name)': that is no unit of \(kind == .accelerometer ? "acceleration" : "a field"); \(remedy)")
            }
            return meant
        }
    }

    private static func factor(_ unit: TraceUnit?) -> Double {
        switch unit {
        case .acceleration(let factor), .field(let factor): factor
        default: 1
        }
    }

    private static func nothingFound(_ columns: [ColumnName], _ list: String) -> String {
        if columns.contains(where: { if case .axis(_, nil) = $0.role { true } else { false } }) {
            return "x, y, z could be an accelerometer or a magnetometer; found \(list). Say which with --map, or with "
                + "--bind SENSOR=FILE:accelerometer"
        }
        if columns.contains(where: { $0.role == .withoutGravity }) {
            return
                "linear acceleration alone cannot be used: without gravity there is no telling what is up; record the "
                + "accelerometer itself. Found \(list)"
        }
        return "neither an accelerometer nor a magnetometer; found \(list). Name the columns with --map "
            + "'ax=COLUMN:UNIT,ay=…,az=…'"
    }

    static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "'\($0.prefix(40).printable)'" }.joined(separator: ", ")
        return names.count > 12 ? shown + " and \(names.count - 12) more" : shown
    }
}

extension ColumnName {
    fileprivate var hasKnownUnit: Bool {
        if case .known = unit { true } else { false }
    }
}
