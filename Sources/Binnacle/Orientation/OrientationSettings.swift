/// When a detector of orientations takes an edge of the screen for the upper one.
public struct OrientationSettings: CheckedSettings {
    /// What the signs of the samples mean.
    public enum Frame: String, Sendable, CaseIterable {
        /// As the desktops of Linux and the mount matrices of udev's hardware database have it: upright is y = −9.81 m/s²,
        /// the right edge up is x = −9.81 m/s², face up is z = +9.81 m/s².
        case desktop
        /// As ``Sample`` has it: upright is y = +9.81 m/s², the right edge up x, face up z.
        case device
    }

    /// What the signs of the samples mean; ``Frame/device`` by default.
    public var frame: Frame = .device
    /// Whether the samples were turned about after the mount matrix, which ``Frame/desktop`` does without.
    package var isReversed = false
    /// How long a change has to last before it counts; 0.25 s by default.
    public var dwell: Duration = .milliseconds(250)
    /// The distance between the angles at which a value is entered and left, at least 5°; 10° by default.
    ///
    /// A smaller one flutters where noise of 0.05 g turns the vector by 5°, which is a screen that leans back by 35°.
    public var hysteresisDegrees = 10.0
    /// A total acceleration that differs from 1 g by more changes nothing, in g; 0.25 by default.
    package var gateG: Float = 0.25
    /// Whether another length than 1 g is taken for gravity when it lasts, as that of a device whose scale is wrong.
    package var learnsLength = false
    /// How long a vector of another length than 1 g has to last until the length counts, and until its direction does.
    package static let (lengthPatienceSeconds, directionPatienceSeconds) = (2, 0.2)
    /// After a longer time without a sample a change that is not confirmed starts again; 1 s by default.
    package var gapLimit: Duration = .seconds(1)

    /// The postures in which the orientation changes; `nil` is all.
    ///
    /// In others, and while none is known, the orientation holds.
    public var postures: Set<Posture>?

    /// The defaults.
    public init() {}

    /// The hysteresis that is possible: from what noise needs to what still lets every value be reached.
    package static let hysteresisLimits = 5.0...30.0

    package func findProblems(_ list: inout ProblemList<OrientationSettings>) {
        list.requireNotNegative(\.dwell, dwell)
        list.require(
            \.hysteresisDegrees, Self.hysteresisLimits.contains(hysteresisDegrees),
            "(\(hysteresisDegrees)) is not between 5 and 30")
        list.requirePositive(\.gateG, gateG)
        list.require(\.gateG, gateG < 1, "(\(gateG)) is not below 1 g: free fall would count as an orientation")
        list.requirePositive(\.gapLimit, gapLimit)
        list.require(\.postures, postures?.isEmpty != true, "is empty: the orientation would never change")
    }
}
