/// A change between rest and motion.
package struct StationaryEvent: DetectorResult, Equatable {
    /// The stamp at which the rest, or the motion, began, in nanoseconds.
    package let onsetNanoseconds: Int64
    /// The stamp of the sample that decided it, in nanoseconds.
    package let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        figure == .onset ? .integer(onsetNanoseconds) : nil
    }
}
