/// How values of one quantity, measured several times, lie.
package struct Spread: Sendable, Equatable {
    /// The smallest.
    package let minimum: Double
    /// The one in the middle, or what lies between the two in the middle.
    package let median: Double
    /// The greatest.
    package let maximum: Double

    /// Takes values.
    ///
    /// - Precondition: There is at least one.
    package init(_ values: [Double]) {
        let sorted = values.sorted()
        precondition(!sorted.isEmpty, "a spread needs a value")
        minimum = sorted[0]
        maximum = sorted[sorted.count - 1]
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// How far the median lies above the best value, as a ratio of at least 1.
    ///
    /// It is what a machine adds that does other things as well. Only for quantities of which less is better.
    package var unrest: Double { minimum > 0 ? median / minimum : 1 }

    /// The same with every value multiplied by a number that is not negative.
    package func scaled(by factor: Double) -> Spread {
        Spread([minimum * factor, median * factor, maximum * factor])
    }
}
