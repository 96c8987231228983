import Binnacle

/// Compares the values of a stream with the unit that its columns' names state.
struct UnitCheck {
    /// The names of the columns, for messages.
    let names: String
    let quantity: Quantity
    let stated: TraceUnit

    /// The contradiction to the stated unit; `nil` if there is none or there are too few values; the values are those of the
    /// file.
    func contradiction(_ values: VectorStatistics) -> String? {
        guard values.isEnough,
            quantity.lacksGravity(values, in: stated)
                || !quantity.possible.contains(values.medianMagnitude * stated.factor)
        else { return nil }
        var hint = "the values are not those of such a sensor"
        switch quantity.judge(values) {
        case .unit(let index) where quantity.units[index].unit != stated:
            hint = "that would fit \(quantity.units[index].name)"
        case .withoutGravity where values.areEqual && values.medianMagnitude == 0:
            hint = "all values are 0, as those of a sensor that is never read"
        case .withoutGravity:
            hint =
                "gravity is missing, so that there are no headings, and falls that were none; "
                + "--map acceleration=linear adds it"
        default: break
        }
        let median = VectorStatistics.text(values.medianMagnitude * stated.factor)
        return "\(names): the median length is \(median) \(quantity.usual.name) in the unit that is stated, where "
            + "\(quantity.reference): \(hint) (override with --map)"
    }
}

/// A ``UnitCheck`` with the first samples, for values that were not available when the header was read, as from a pipe.
struct LateUnitCheck {
    private let check: UnitCheck
    private var axes: [[Double]] = [[], [], []]

    /// The number of samples that suffice.
    private static let most = 200

    init(_ check: UnitCheck) { self.check = check }

    var isDue: Bool { axes[0].count >= Self.most }

    /// Adds the samples of a window, in the unit of samples.
    mutating func add(_ batch: SampleBatch) {
        for index in 0..<min(batch.count, Self.most - axes[0].count) {
            let sample = batch[index]
            // The factor's sign does not change a length.
            axes[0].append(Double(sample.x) / check.stated.factor)
            axes[1].append(Double(sample.y) / check.stated.factor)
            axes[2].append(Double(sample.z) / check.stated.factor)
        }
    }

    var contradiction: String? { check.contradiction(VectorStatistics(axes[0], axes[1], axes[2])) }
}
