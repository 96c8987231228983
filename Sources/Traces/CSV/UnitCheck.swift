import Binnacle

/// Holds the values of a stream against the unit that its columns' names state.
struct UnitCheck {
    /// The names of the columns, for messages.
    let names: String
    let quantity: Quantity
    let stated: TraceUnit

    /// What contradicts the unit; `nil` when nothing does, or there are too few values, as they stand in the file.
    func contradiction(_ values: VectorStatistics) -> String? {
        guard values.isEnough, !quantity.possible.contains(values.medianMagnitude * stated.factor) else { return nil }
        var hint = "the values are not those of such a sensor"
        switch quantity.judge(values) {
        case .unit(let index) where quantity.units[index].unit != stated:
            hint = "that would fit \(quantity.units[index].name)"
        case .withoutGravity: hint = "gravity is missing, so that there are no headings, and falls that were none"
        default: break
        }
        let median = VectorStatistics.text(values.medianMagnitude * stated.factor)
        return "\(names): the median length is \(median) \(quantity.usual.name) in the unit that is stated, where "
            + "\(quantity.reference): \(hint) (--map says otherwise)"
    }
}

/// A ``UnitCheck`` of values that had not come when the header was read, as of a pipe: it is made with the first samples.
struct LateUnitCheck {
    private let check: UnitCheck
    private var axes: [[Double]] = [[], [], []]

    /// The number of samples that decide.
    private static let most = 200

    init(_ check: UnitCheck) { self.check = check }

    /// Whether there are enough samples.
    var isDue: Bool { axes[0].count >= Self.most }

    /// Takes the samples of a window, in the unit of samples.
    mutating func add(_ batch: SampleBatch) {
        for index in 0..<min(batch.count, Self.most - axes[0].count) {
            let sample = batch[index]
            // The factor's sign does not change a length.
            axes[0].append(Double(sample.x) / check.stated.factor)
            axes[1].append(Double(sample.y) / check.stated.factor)
            axes[2].append(Double(sample.z) / check.stated.factor)
        }
    }

    /// What contradicts the unit.
    var contradiction: String? { check.contradiction(VectorStatistics(axes[0], axes[1], axes[2])) }
}
