/// The first rows of a CSV file as columns of numbers, which decide what the header leaves open.
struct HeadTable {
    /// One column of the first rows.
    struct Column {
        /// The numbers; NaN for a field that has none, or a time of a clock.
        let values: [Double]
        /// The times of a clock in nanoseconds, when the fields are those.
        let clock: [Double]?
        let texts: Set<String>

        /// Whether nearly all fields are numbers.
        var isNumeric: Bool { !values.isEmpty && 10 * values.count(where: \.isFinite) >= 9 * values.count }

        /// How stamps follow one another: the median distance of those that differ, the part that repeats the one
        /// before, and the number of rows for a unit of time, counted between the first rise and the last.
        var steps: (median: Double, isRising: Bool, repeated: Double, rate: Double)? {
            let stamps = (clock ?? values).filter(\.isFinite)
            guard stamps.count > 1 else { return nil }
            var rises: [Double] = []
            var repeats = 0
            var risen: [Int] = []
            for (index, (one, next)) in zip(stamps, stamps.dropFirst()).enumerated() {
                if next > one {
                    rises.append(next - one)
                    risen.append(index + 1)
                }
                if next == one { repeats += 1 }
            }
            var rate = 0.0
            if let first = risen.first, let last = risen.last, last > first {
                rate = Double(last - first) / (stamps[last] - stamps[first])
            } else if let rise = rises.first {
                rate = Double(stamps.count) / 2 / rise
            }
            rises.sort()
            let count = stamps.count - 1
            return (
                rises.isEmpty ? 0 : rises[rises.count / 2], 10 * (rises.count + repeats) >= 9 * count,
                Double(repeats) / Double(count), rate
            )
        }
    }

    let columns: [Column]
    let rowCount: Int

    init(_ rows: [[String]], width: Int, _ dialect: CSVDialect) {
        rowCount = rows.count
        columns = (0..<width).map { place in
            let fields = rows.map { place < $0.count ? $0[place] : "" }
            let values = fields.map { dialect.number($0) ?? .nan }
            let texts = zip(fields, values).compactMap { $1.isFinite || $0.isEmpty ? nil : $0 }
            var clock: [Double]?
            if 2 * texts.count > fields.count {
                let times = fields.map { ClockTime($0).map { Double($0.nanoseconds) } ?? .nan }
                if 10 * times.count(where: \.isFinite) >= 9 * times.count { clock = times }
            }
            return Column(values: values, clock: clock, texts: Set(texts.prefix(32)))
        }
    }

    /// The first vectors in three columns.
    func vectors(_ places: [Int]) -> VectorStatistics {
        guard places.count == 3 else { return VectorStatistics([], [], []) }
        let axes = places.map { columns.indices.contains($0) ? columns[$0].values : [] }
        return VectorStatistics(axes[0], axes[1], axes[2])
    }

    private func areWhole(_ places: [Int]) -> Bool {
        places.allSatisfy { place in columns[place].values.allSatisfy { $0 == $0.rounded() } }
    }

    /// The neighbouring columns whose vectors look most like those of a kind in some unit.
    func candidates(
        for quantity: Quantity, without used: [Int]
    ) -> (places: [Int], unit: Quantity.Unit?, perG: Double)? {
        guard columns.count >= 3 else { return nil }
        var best: (places: [Int], unit: Quantity.Unit?, perG: Double, spread: Double)?
        // Small whole numbers are counts rather than m/s² or g.
        for isWhole in [false, true] where best == nil {
            for first in 0...(columns.count - 3) {
                let places = [first, first + 1, first + 2]
                guard places.allSatisfy({ isSensor($0) && !used.contains($0) }), areWhole(places) == isWhole else {
                    continue
                }
                let vectors = vectors(places)
                // The length of the right ones is steadier than that of some columns that happen to be neighbours.
                guard vectors.isConstant, vectors.spread < (best?.spread ?? 1) - 0.05 else { continue }
                switch quantity.judge(vectors) {
                case .unit(let unit) where !isWhole || quantity.units[unit].typical.lowerBound > 100:
                    best = (places, quantity.units[unit], 0, vectors.spread)
                case .counts(let perG): best = (places, nil, perG, vectors.spread)
                default: continue
                }
            }
        }
        return best.map { ($0.places, $0.unit, $0.perG) }
    }

    /// Whether a column has numbers that change.
    private func isSensor(_ place: Int) -> Bool {
        let values = columns[place].values
        return columns[place].isNumeric && values.contains { $0.isFinite && $0 != values[0] }
    }
}
