/// On which side of a threshold each sample of a row lies, so that the side changes as often as wanted.
package struct EventRow {
    /// How often the side changes, as a share of the samples.
    package let rate: Double
    /// The number of changes in the row; even, so that the row can follow itself.
    package let changeCount: Int
    /// Of so many rows on end one has its changes, and the others none: a short row cannot have a tenth of a change.
    package let period: Int
    /// The samples at which the side changes, in order.
    private let changes: [Int]

    /// Draws a row.
    ///
    /// - Parameters:
    ///   - count: The number of samples, at least 2.
    ///   - rate: How often the side changes, as a share of the samples.
    ///   - numbers: Where chance comes from.
    package init(count: Int, rate: Double, numbers: inout SeededNumbers) {
        self.rate = rate
        let wanted = Double(count) * rate
        guard wanted > 0 else {
            (changeCount, period, changes) = (0, 1, [])
            return
        }
        guard wanted >= 2 else {
            (changeCount, period, changes) = (2, Int((2 / wanted).rounded()), [count / 3, count / 2])
            return
        }
        var changes: [Int] = []
        changes.reserveCapacity(Int(wanted * 1.1) + 16)
        for index in 0..<count where numbers.happens(rate) { changes.append(index) }
        if !changes.count.isMultiple(of: 2) { changes.removeLast() }
        (changeCount, period, self.changes) = (changes.count, 1, changes)
    }

    /// Calls back for each sample, in order, with its side.
    package func forEach(count: Int, _ body: (_ index: Int, _ isInside: Bool) -> Void) {
        var next = 0
        var isInside = false
        for index in 0..<count {
            if next < changes.count, changes[next] == index {
                isInside.toggle()
                next += 1
            }
            body(index, isInside)
        }
    }

    /// Whether a repetition is one with changes.
    package func isEventful(_ repetition: Int) -> Bool { changeCount > 0 && repetition % period == 0 }
}
