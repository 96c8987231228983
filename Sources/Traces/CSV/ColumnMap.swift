import Binnacle
import PlainText

/// Columns, units and signs that the user states for a file with an incomplete header.
///
/// Columns that are not mapped are recognised as usual; a unit that is not given is taken from the column's name.
///
/// The syntax is `TARGET=[-]COLUMN[:UNIT]`, separated by commas. A target is `time`, `ax`, `ay`, `az`, `mx`, `my`, `mz`, `gx`, `gy` or
/// `gz`; a column is its name in the header, or `#3` for the third one, which also works in a file without a header; a minus reverses the
/// axis; a unit may have a scale, as in `g/256` for counts; that of a time may be `dmy`, `mdy` or `ymd`, the order of
/// dates.
/// `acceleration=gravity` is for recordings in which the axis that points down reads positive, and `acceleration=linear` for those
/// without gravity.
public struct ColumnMap: Sendable, Equatable {
    enum Target: Equatable {
        case time
        case axis(SampleKind, Int)

        static let all: [Target] =
            [.time] + Quantity.all.flatMap { quantity in (0..<3).map { .axis(quantity.kind, $0) } }

        var name: String {
            switch self {
            case .time: "time"
            case .axis(let kind, let index): Quantity.of(kind).letter + ["x", "y", "z"][index]
            }
        }

        var kind: SampleKind? { if case .axis(let kind, _) = self { kind } else { nil } }
    }

    enum Column: Equatable {
        case named(String)
        case numbered(Int)

        fileprivate var shown: String {
            switch self {
            case .named(let name): "'\(name.printable)'"
            case .numbered(let number): "#\(number)"
            }
        }
    }

    struct Entry: Equatable {
        let target: Target
        let column: Column
        let isNegative: Bool
        let unit: TraceUnit?

        fileprivate var role: ColumnName.Role {
            if case .axis(let kind, let index) = target { .axis(index, kind) } else { .time }
        }
    }

    /// Why a text is not a column map.
    package struct ParseError: Error, CustomStringConvertible {
        /// What is wrong and what would be correct.
        package let description: String
    }

    private(set) var entries: [Entry]
    /// The sign convention of accelerations that the user states.
    enum Acceleration: String, CaseIterable {
        /// The axis that points up reads positive at rest.
        case specificForce = "specific_force"
        /// The axis that points down reads positive at rest.
        case gravity
        /// All axes read 0 at rest: 1 g is added to z.
        case linear
    }

    private(set) var acceleration: Acceleration?

    /// The key of the entry for all accelerations.
    static let signKey = "acceleration"

    var usesNumbers: Bool {
        entries.contains {
            if case .numbered = $0.column { true } else { false }
        }
    }

    /// Parses the texts of the command line.
    ///
    /// - Parameter texts: As in `ax=X:g,ay=Y:g,az=Z:g`, without limit to their number.
    /// - Throws: An error whose description says what is wrong and what would be correct.
    public init(_ texts: [String]) throws {
        entries = []
        for text in texts {
            for piece in Self.pieces(text) {
                if piece.hasPrefix(Self.signKey + "=") {
                    acceleration = try Self.acceleration(piece)
                    continue
                }
                let entry = try Self.entry(piece)
                guard !entries.contains(where: { $0.target == entry.target }) else {
                    throw ParseError(description: "'\(piece)': \(entry.target.name) is mapped twice")
                }
                entries.append(entry)
            }
        }
        for (number, entry) in entries.enumerated() {
            if let other = entries[..<number].first(where: { $0.column == entry.column }) {
                throw ParseError(
                    description: "\(other.target.name) and \(entry.target.name) are mapped to the same column")
            }
        }
    }

    /// Splits at a comma only before a target, because a column's name may contain a comma.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        let starts = Target.all.map { $0.name + "=" } + [signKey + "="]
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let startsTarget = starts.contains { part.trimmingBlanks().hasPrefix($0) }
            if startsTarget || pieces.isEmpty { pieces.append(part) } else { pieces[pieces.count - 1] += "," + part }
        }
        return pieces.map { $0.trimmingBlanks() }
    }

    private static func acceleration(_ piece: String) throws(ParseError) -> Acceleration {
        guard let known = Acceleration(rawValue: String(piece.dropFirst(signKey.count + 1))) else {
            throw ParseError(
                description:
                    "'\(piece)' has to be acceleration=gravity, where the axis that points down reads positive, "
                    + "acceleration=specific_force, where the one that points up does, or acceleration=linear, where all "
                    + "read 0 at rest")
        }
        return known
    }

    private static func entry(_ piece: String) throws(ParseError) -> Entry {
        guard let equals = piece.firstIndex(of: "="),
            let target = Target.all.first(where: { $0.name == piece[..<equals] })
        else {
            let names = Target.all.map(\.name).joined(separator: ", ")
            throw ParseError(
                description: "'\(piece)' is not TARGET=COLUMN[:UNIT] with one of the targets \(names)")
        }
        var column = String(piece[piece.index(after: equals)...])
        let isNegative = column.hasPrefix("-")
        if isNegative { column.removeFirst() }
        guard !isNegative || target != .time else { throw ParseError(description: "'\(piece)': a time has no sign") }
        var unit: TraceUnit?
        if let colon = column.lastIndex(of: ":") {
            let name = String(column[column.index(after: colon)...])
            guard let known = TraceUnit(scaled: name) else {
                throw ParseError(
                    description:
                        "'\(piece)': '\(name)' is not a unit; known are \(TraceUnit.known), and scales of them "
                        + "such as g/256 (256 counts are one g)")
            }
            unit = known
            column = String(column[..<colon])
        }
        guard isFitting(unit, target) else {
            throw ParseError(description: "'\(piece)': that unit does not measure \(target.name)")
        }
        guard column.hasPrefix("#") else {
            return Entry(target: target, column: .named(column), isNegative: isNegative, unit: unit)
        }
        guard let number = Int(column.dropFirst()), number > 0, number <= 4096 else {
            throw ParseError(description: "'\(piece)': '\(column)' is not a column number; the first is #1")
        }
        return Entry(target: target, column: .numbered(number), isNegative: isNegative, unit: unit)
    }

    private static func isFitting(_ unit: TraceUnit?, _ target: Target) -> Bool {
        guard let unit else { return true }
        if let kind = target.kind { return unit.meant(for: kind) != nil }
        return unit.kind == nil
    }
}

/// A map applied to the columns of one file.
struct MappedColumns {
    /// The columns, with the user's statements in place of their names' meanings.
    var columns: [ColumnName]
    /// The columns whose axis is reversed.
    var negative: Set<Int> = []
    /// The kinds for which the user named a column.
    var kinds: Set<SampleKind> = []

    /// The stem of axes that the user named.
    static let stem = "--map"
}

extension ColumnMap {
    /// Replaces the meanings of the columns' names by the user's; throws the result of `fail` when a column is missing.
    func applied(
        to names: [String], fail: (String) -> TraceError
    ) throws(TraceError) -> MappedColumns {
        var mapped = MappedColumns(columns: ColumnName.all(names))
        // Each of several files may have its own part of the map: if all axes of one kind are missing and those of another are
        // present, the missing kind belongs to another file.
        let indices = entries.map { index(of: $0.column, names) }
        func isAbsent(_ kind: SampleKind) -> Bool {
            zip(entries, indices).allSatisfy { $0.target.kind != kind || $1 == nil }
        }
        let present = SampleKind.allCases.filter { !isAbsent($0) }
        for (entry, index) in zip(entries, indices) where index == nil {
            if let kind = entry.target.kind, isAbsent(kind), !present.isEmpty { continue }
            throw fail("--map wants column \(entry.column.shown); found \(CSVLayout.list(names))")
        }
        for (entry, index) in zip(entries, indices) {
            guard let index else { continue }
            if case .named(let name) = entry.column, let other = names[(index + 1)...].firstIndex(of: name) {
                throw fail(
                    "--map wants column \(entry.column.shown), and several have that name: say which by its number, as in "
                        + "\(entry.target.name)=#\(index + 1) or \(entry.target.name)=#\(other + 1)")
            }
            let sensor = mapped.columns[index].sensor
            let unit = entry.unit.map { ColumnName.Unit.known($0) } ?? ColumnName(names[index]).unit
            var column = ColumnName(role: entry.role, unit: unit, sensor: sensor)
            column.stem = MappedColumns.stem
            // Other columns of the same quantity are ignored; its remaining axes are excluded with this one.
            for other in mapped.columns.indices where other != index && mapped.columns[other].sensor == sensor {
                if mapped.columns[other].role == column.role {
                    mapped.columns[other] = .unused
                } else if let kind = entry.target.kind, case .axis(_, kind) = mapped.columns[other].role {
                    mapped.columns[other].stem = MappedColumns.stem
                    mapped.columns[other].content = .usual
                }
            }
            mapped.columns[index] = column
            if entry.isNegative { mapped.negative.insert(index) }
            if let kind = entry.target.kind { mapped.kinds.insert(kind) }
        }
        return mapped
    }

    private func index(of column: Column, _ names: [String]) -> Int? {
        switch column {
        case .named(let name): names.firstIndex(of: name)
        case .numbered(let number): number <= names.count ? number - 1 : nil
        }
    }
}
