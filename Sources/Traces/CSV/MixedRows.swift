import Binnacle

/// What the values of the first rows say about a column that may tell devices apart.
extension HeadTable {
    /// Whether the rows of each value of a column have a course of their own, as those of several devices have: the samples go on from
    /// row to row of one value, and jump between neighbouring rows of different ones; or words alternate in a fixed order, or share
    /// each time.
    ///
    /// Of one device, the neighbouring row is the nearest, and that of the same value is further away.
    func areOfDevices(_ place: Int, _ roles: [ColumnName]) -> Bool {
        let labels = columns[place].fields
        let axes = axes(roles)
        let rows = (0..<rowCount).filter { row in axes.allSatisfy { columns[$0].values[row].isFinite } }
        guard axes.count > 2, rows.count >= 20 else { return false }
        var previous: [String: Int] = [:]
        var (within, between): ([Double], [Double]) = ([], [])
        for (number, row) in rows.enumerated() {
            if let same = previous[labels[row]] { within.append(distance(axes, row, same)) }
            if number > 0, labels[rows[number - 1]] != labels[row] {
                between.append(distance(axes, row, rows[number - 1]))
            }
            previous[labels[row]] = row
        }
        guard !within.isEmpty, 10 * between.count > 3 * rows.count else { return false }
        let lengths = rows.map { row in axes.reduce(0) { $0 + columns[$1].values[row] * columns[$1].values[row] } }
        let jump = Self.median(between)
        // In squares: three times as far, and a fiftieth of the length, which is more than the steps of a coarse sensor.
        if jump > 9 * Self.median(within), jump > 4e-4 * Self.median(lengths) { return true }
        guard columns[place].texts.count == previous.count else { return false }
        let isPeriodic = zip(rows, rows.dropFirst(previous.count)).allSatisfy { labels[$0] == labels[$1] }
        return isPeriodic || shareTimes(rows, labels, roles)
    }

    /// The axes of the accelerometer, or else of another sensor.
    private func axes(_ roles: [ColumnName]) -> [Int] {
        for kind in [.accelerometer, nil, .magnetometer] as [SampleKind?] {
            let places = roles.indices.filter { if case .axis(_, kind) = roles[$0].role { true } else { false } }
            if places.count > 2, places.allSatisfy(columns.indices.contains) { return places }
        }
        return []
    }

    /// Whether many rows have the time of the row before, and none that of the row before of the same word.
    private func shareTimes(_ rows: [Int], _ labels: [String], _ roles: [ColumnName]) -> Bool {
        guard let time = roles.firstIndex(where: { $0.role == .time }), columns.indices.contains(time) else {
            return false
        }
        let stamps = columns[time].stamps
        let shared = zip(rows, rows.dropFirst()).count { stamps[$0] == stamps[$1] }
        let places = Set(rows.map { "\(stamps[$0]) \(labels[$0])" })
        return 5 * shared > 2 * rows.count && places.count == rows.count
    }

    /// The square of the distance of two rows.
    private func distance(_ axes: [Int], _ one: Int, _ other: Int) -> Double {
        axes.reduce(0) { sum, place in
            let step = columns[place].values[one] - columns[place].values[other]
            return sum + step * step
        }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
