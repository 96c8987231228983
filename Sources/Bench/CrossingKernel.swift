import Kernels

/// A kernel that finds crossings, gone through all samples as detectors do: in pieces of one delivery, with the side
/// carried from piece to piece.
final class CrossingKernel {
    /// Looks at a range of the samples.
    ///
    /// - Parameters:
    ///   - range: The samples.
    ///   - isEventful: Whether the limits are those that the samples cross; else they cross none.
    ///   - isInside: The side before; receives the side after.
    ///   - crossings: Receives the crossings.
    ///   - set: The form to use.
    typealias Body = (
        _ range: Range<Int>, _ isEventful: Bool, _ isInside: inout Bool, _ crossings: inout CrossingList,
        _ set: InstructionSet
    ) -> Void

    /// As many samples as a delivery of a replay has.
    private static let pieceCount = 4096

    private let count: Int
    private let body: Body
    private var crossings = CrossingList()
    private var reference = CrossingList()

    init(count: Int, body: @escaping Body) {
        self.count = count
        self.body = body
    }

    /// What is measured side by side.
    ///
    /// - Parameters:
    ///   - reading: The samples as they are read alone.
    ///   - row: Which runs are eventful.
    ///   - sets: The forms.
    ///   - others: What else is measured beside them.
    /// - Returns: The contest.
    func contest(
        _ reading: Reading, _ row: EventRow, _ sets: [InstructionSet], others: [Variant] = []
    ) -> Contest {
        Contest(
            sampleCount: count, byteCount: reading.byteCount, limits: reading.variants(sets),
            contenders: sets.map { set in
                Variant(set.rawValue) { times in
                    for repetition in 0..<times { self.run(set, isEventful: row.isEventful(repetition)) }
                }
            }, others: others,
            findFault: { self.fault(sets, row) })
    }

    private func run(_ set: InstructionSet, isEventful: Bool) {
        var isInside = false
        var found = 0
        var start = 0
        while start < count {
            let end = min(start + Self.pieceCount, count)
            body(start..<end, isEventful, &isInside, &crossings, set)
            found += crossings.count
            start = end
        }
        Sink.take(UInt64(found))
    }

    /// Compares each form's crossings and sides with those of the reference; gives the first that differs.
    private func fault(_ sets: [InstructionSet], _ row: EventRow) -> String? {
        // A row that is always eventful never has the other limits.
        for isEventful in row.period > 1 ? [true, false] : [true] {
            let expected = isEventful ? row.changeCount : 0
            if let label = fault(sets, isEventful: isEventful, expected) { return label }
        }
        return nil
    }

    /// The first form that does not find what the reference finds, or the reference, when that does not find as many
    /// crossings as the samples were made to have.
    private func fault(_ sets: [InstructionSet], isEventful: Bool, _ expected: Int) -> String? {
        var sides = sets.map { _ in false }
        var isInside = false
        var found = 0
        var start = 0
        while start < count {
            let range = start..<min(start + Self.pieceCount, count)
            body(range, isEventful, &isInside, &reference, .scalar)
            for (number, set) in sets.enumerated() where set != .scalar {
                body(range, isEventful, &sides[number], &crossings, set)
                guard sides[number] == isInside, crossings.isEqual(to: reference) else { return set.rawValue }
            }
            found += reference.count
            start = range.upperBound
        }
        return found == expected ? nil : "\(InstructionSet.scalar.rawValue): \(found) crossings of \(expected)"
    }
}

extension CrossingList {
    /// Whether two lists say the same.
    fileprivate func isEqual(to other: borrowing CrossingList) -> Bool {
        guard count == other.count, count == 0 || startsRising == other.startsRising else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }
}
