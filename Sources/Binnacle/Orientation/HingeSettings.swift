/// When a detector of hinges takes a laptop for set up otherwise.
public struct HingeSettings: CheckedSettings {
    /// What the signs of the samples mean; ``OrientationSettings/Frame/device`` by default, for which all three may be reversed.
    public var frame: OrientationSettings.Frame = .device
    /// How long a change of posture has to last before it counts; 0.5 s by default.
    public var dwell: Duration = .milliseconds(500)
    /// The least change of the angle that is reported, in degrees; 10 by default.
    public var filterDegrees = 10.0
    /// With a total acceleration of either part that differs from 1 g by more the angle is unknown, in g; 0.25 by default.
    package var gateG: Float = 0.25
    /// After a longer time without a sample a change that is not confirmed starts again; 1 s by default.
    ///
    /// An older sample of the base says nothing about the angle.
    package var gapLimit: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<HingeSettings>) {
        list.requireNotNegative(\.dwell, dwell)
        list.require(
            \.filterDegrees, (1...180).contains(filterDegrees), "(\(filterDegrees)) is not between 1 and 180")
        list.requirePositive(\.gateG, gateG)
        list.require(\.gateG, gateG < 1, "(\(gateG)) is not below 1 g: free fall would have an angle")
        list.requirePositive(\.gapLimit, gapLimit)
    }
}
