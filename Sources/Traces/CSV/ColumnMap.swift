import Binnacle
import PlainText

/// Columns and units named by the user, for a file whose header does not say enough.
///
/// Columns that are not mapped are recognised as usual; a unit that is not given is taken from the column's name.
///
/// Written `TARGET=COLUMN[:UNIT]`, separated by commas. A target is `time`, `ax`, `ay`, `az`, `mx`, `my` or `mz`; a
/// column is
/// its name in the header, or `#3` for the third one, which also works in a file without a header.
public struct ColumnMap: Sendable, Equatable {
    /// What a column is used for.
    enum Target: String, CaseIterable {
        case time, ax, ay, az, mx, my, mz

        var axis: (kind: SampleKind, index: Int)? {
            switch self {
            case .time: nil
            case .ax: (.accelerometer, 0)
            case .ay: (.accelerometer, 1)
            case .az: (.accelerometer, 2)
            case .mx: (.magnetometer, 0)
            case .my: (.magnetometer, 1)
            case .mz: (.magnetometer, 2)
            }
        }
    }

    enum Column: Equatable {
        case named(String)
        case numbered(Int)
    }

    struct Entry: Equatable {
        let target: Target
        let column: Column
        let unit: TraceUnit?
    }

    /// Why a text is not a column map.
    public struct ParseError: Error, CustomStringConvertible {
        /// What is wrong and what would be correct.
        public let description: String
    }

    private(set) var entries: [Entry]

    var usesNumbers: Bool {
        entries.contains {
            if case .numbered = $0.column { true } else { false }
        }
    }

    /// Parses texts as the user typed them.
    public init(_ texts: [String]) throws(ParseError) {
        entries = []
        for text in texts {
            for piece in Self.pieces(text) {
                let entry = try Self.entry(piece)
                guard !entries.contains(where: { $0.target == entry.target }) else {
                    throw ParseError(description: "'\(piece)': \(entry.target.rawValue) is mapped twice")
                }
                entries.append(entry)
            }
        }
        for (number, entry) in entries.enumerated() {
            if let other = entries[..<number].first(where: { $0.column == entry.column }) {
                throw ParseError(
                    description: "\(other.target.rawValue) and \(entry.target.rawValue) are mapped to the same column")
            }
        }
    }

    /// Splits at the commas in front of a target, because a column's name may contain a comma.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let startsTarget = Target.allCases.contains { part.trimmingBlanks().hasPrefix($0.rawValue + "=") }
            if startsTarget || pieces.isEmpty { pieces.append(part) } else { pieces[pieces.count - 1] += "," + part }
        }
        return pieces.map { $0.trimmingBlanks() }
    }

    private static func entry(_ piece: String) throws(ParseError) -> Entry {
        guard let equals = piece.firstIndex(of: "="), let target = Target(rawValue: String(piece[..<equals])) else {
            let names = Target.allCases.map(\.rawValue).joined(separator: ", ")
            throw ParseError(
                description: "'\(piece)' is not TARGET=COLUMN[:UNIT] with one of the targets \(names)")
        }
        var column = String(piece[piece.index(after: equals)...])
        var unit: TraceUnit?
        if let colon = column.lastIndex(of: ":") {
            let name = String(column[column.index(after: colon)...])
            guard let known = TraceUnit(name) else {
                throw ParseError(
                    description: "'\(piece)': '\(name)' is not a unit; known are s, ms, us, ns, m/s2, g, mg, uT, nT, "
                        + "mT, gauss, mgauss")
            }
            unit = known
            column = String(column[..<colon])
        }
        guard isFitting(unit, target) else {
            throw ParseError(description: "'\(piece)': that unit does not measure \(target.rawValue)")
        }
        guard column.hasPrefix("#") else { return Entry(target: target, column: .named(column), unit: unit) }
        guard let number = Int(column.dropFirst()), number > 0, number <= 4096 else {
            throw ParseError(description: "'\(piece)': '\(column)' is not a column number; the first is #1")
        }
        return Entry(target: target, column: .numbered(number), unit: unit)
    }

    private static func isFitting(_ unit: TraceUnit?, _ target: Target) -> Bool {
        guard let unit else { return true }
        if let kind = target.axis?.kind { return unit.meant(for: kind) != nil }
        if case .time = unit { return true }
        return false
    }
}

extension ColumnMap {
    /// Replaces what the columns' names say by what the user says; throws what `fail` makes when a column is missing.
    func apply(
        to columns: inout [ColumnName], names: [String], fail: (String) -> TraceError
    ) throws(TraceError) {
        // Each of several files may have its own part of the map: when all axes of one kind are missing and another kind is
        // there, the missing kind is meant for another file.
        let indices = entries.map { index(of: $0.column, names) }
        func isAbsent(_ kind: SampleKind) -> Bool {
            zip(entries, indices).allSatisfy { $0.target.axis?.kind != kind || $1 == nil }
        }
        let present = SampleKind.allCases.filter { !isAbsent($0) }
        for (entry, index) in zip(entries, indices) where index == nil {
            if let kind = entry.target.axis?.kind, isAbsent(kind), !present.isEmpty { continue }
            throw fail("--map wants column \(entry.column.shown); found \(CSVLayout.list(names))")
        }
        for (entry, index) in zip(entries, indices) {
            guard let index else { continue }
            let role = entry.role
            let sensor = columns[index].sensor
            // Other columns that were recognised as the same quantity are ignored.
            for other in columns.indices where columns[other].role == role && columns[other].sensor == sensor {
                columns[other] = ColumnName(role: .other, unit: .none, sensor: nil)
            }
            let unit = entry.unit.map { ColumnName.Unit.known($0) } ?? ColumnName(names[index]).unit
            columns[index] = ColumnName(role: role, unit: unit, sensor: sensor)
        }
    }

    private func index(of column: Column, _ names: [String]) -> Int? {
        switch column {
        case .named(let name): names.firstIndex(of: name)
        case .numbered(let number): number <= names.count ? number - 1 : nil
        }
    }
}

extension ColumnMap.Entry {
    fileprivate var role: ColumnName.Role {
        target.axis.map { .axis($0.index, $0.kind) } ?? .time
    }
}

extension ColumnMap.Column {
    fileprivate var shown: String {
        switch self {
        case .named(let name): "'\(name.printable)'"
        case .numbered(let number): "#\(number)"
        }
    }
}
