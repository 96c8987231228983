/// When a detector of steps takes a rhythm for a walk.
public struct StepSettings: CheckedSettings {
    /// The number of regular steps with which a walk begins, and which its first event brings; 8 by default.
    public var regularSteps = 8
    /// The root mean square, from 0.9 to 3.2 Hz, of the total acceleration of a walk, in g; 0.08 by default.
    ///
    /// A drive of half an hour has 0.03 g most of the time and 0.07 g for a tenth of it; slow counted walks have 0.08 g.
    public var thresholdG = 0.08
    /// Who counts steps; the samples by default.
    package var watch = MotionSettings.Watch.samples

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<StepSettings>) {
        list.require(\.regularSteps, (3...20).contains(regularSteps), "(\(regularSteps)) is not from 3 to 20")
        list.require(\.thresholdG, (0.02...1).contains(thresholdG), "(\(thresholdG)) is not between 0.02 and 1")
    }
}
