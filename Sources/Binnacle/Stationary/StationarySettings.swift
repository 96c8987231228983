/// When a detector of rest takes a device for one that rests, or that goes somewhere.
public struct StationarySettings: CheckedSettings {
    /// The change of the acceleration below 2 Hz that is motion, in g; 0.03 by default, which a turn of 1.7° gives.
    ///
    /// What shakes faster is no motion, such as a table with a machine on it.
    public var thresholdG = 0.03
    /// How long it has to move, or to be still, until that counts; 5 s by default, as Android defines it.
    public var dwell: Duration = .seconds(5)
    /// Whether the detector or the chip looks for movement while the device rests; the detector by default.
    package var watch = MotionSettings.Watch.samples

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<StationarySettings>) {
        list.require(\.thresholdG, (0.002...1).contains(thresholdG), "(\(thresholdG)) is not between 0.002 and 1")
        list.require(\.dwell, dwell >= .seconds(1), "(\(dwell)) is shorter than 1 s")
    }
}
