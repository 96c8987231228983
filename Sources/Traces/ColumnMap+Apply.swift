import Binnacle
import PlainText

extension ColumnMap {
    /// Puts what the user says of columns in place of what their names say.
    ///
    /// Of several files each may have its own part of the map: where all axes of a kind are missing, another kind is
    /// not, that kind is meant for another file. Any other column that is missing is an error.
    ///
    /// - Parameters:
    ///   - columns: What the names say; changed.
    ///   - names: The names.
    ///   - fail: Makes the error for a message.
    /// - Throws: What `fail` makes, when a column is not there.
    func apply(
        to columns: inout [ColumnName], names: [String], fail: (String) -> TraceError
    ) throws(TraceError) {
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
            // Whatever else looked like the same thing no longer counts.
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
