/// Which taps are found.
public struct TapSettings: CheckedSettings {
    /// How far an impulse rises above what the accelerometer measured before it, in g; 0.2 by default.
    public var thresholdG = 0.2
    /// The most taps that are counted as one event, from 1 to 3; 3 by default.
    ///
    /// A burst of more is none. With 1 a tap is reported at once, whatever follows it.
    public var mostTaps = 3
    /// The longest time from one tap to the next of the same event; 0.4 s by default.
    ///
    /// An event is reported when it has passed after the last tap.
    public var double: Duration = .milliseconds(400)
    /// The shortest time from one tap to the next; 80 ms by default.
    ///
    /// An impulse that follows sooner, and later than the ringing of 50 ms, is a bounce, and the event is none.
    package var bounce: Duration = .milliseconds(80)
    /// How long it has to be calm before the first tap; 0.5 s by default.
    public var quiet: Duration = .milliseconds(500)
    /// What calm is: the greatest acceleration before a tap, as a part of its peak; 0.15 by default.
    ///
    /// Where impulses that are no taps came before, a further tap exceeds this part of the first.
    package var calmShare = 0.15
    /// Whether the detector or the chip looks for taps; the detector by default.
    package var watch = MotionSettings.Watch.samples

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<TapSettings>) {
        list.require(
            \.thresholdG, thresholdG >= 0.05 && thresholdG.isFinite,
            "(\(thresholdG)) is not a number from 0.05, which is the noise of many accelerometers")
        list.require(\.mostTaps, (1...3).contains(mostTaps), "(\(mostTaps)) is not from 1 to 3")
        list.require(
            \.bounce, bounce >= .milliseconds(50) && bounce < double,
            "(\(bounce)) is not from 0.05 s to below \(\TapSettings.double)",
            others: [\.double])
        list.require(\.double, double <= .seconds(2), "(\(double)) is longer than 2 s")
        list.requirePositive(\.quiet, quiet)
        list.require(\.calmShare, calmShare > 0 && calmShare < 1, "(\(calmShare)) is not between 0 and 1")
    }
}
