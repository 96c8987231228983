/// How a simulated sensor moves.
public struct SimulationSettings: CheckedSettings {
    /// A movement that repeats.
    public enum Model: String, Sendable, CaseIterable {
        /// Lies flat and does not move.
        case still
        /// Is carried by a person who walks and rests.
        case walk
        /// Is shaken violently to and fro.
        case shake
        /// Lies on a table and is tapped once, twice and three times.
        case tap
        /// Turns clockwise through all bearings and rests facing north.
        case turn
        /// Is held, falls, strikes the ground and lies there.
        case drop
        /// Stands on a washing machine, which tumbles, spins and rests.
        case wash
        /// Is a screen that is held upright, and turned until each of its edges was up.
        case screen
        /// Rests on each side in turn, and turns about the vertical meanwhile, with sensors that need a calibration.
        case tumble

        /// All of them, for messages and help.
        package static let names = allCases.map(\.rawValue).joined(separator: ", ")

        /// Samples a second when nothing else is asked for: between those of 100 Hz a tap is lost.
        package var rateHz: Double { self == .tap ? 400 : 100 }
    }

    /// The movement.
    package var model: Model = .still
    /// What the noise is made from: the same seed gives the same samples.
    package var seed: UInt64 = 1
    /// Samples a second, of each stream; see ``Model/rateHz``.
    package var rateHz: Double = 100
    /// The longest time that a sample waits until it is delivered, as one of a device does.
    package var latency: Duration = .zero

    /// The rates in Hz that can be simulated.
    package static let rates: ClosedRange<Double> = 0.1...1_000_000

    package init() {}

    package func findProblems(_ list: inout ProblemList<SimulationSettings>) {
        list.require(\.rateHz, Self.rates.contains(rateHz), "(\(rateHz)) has to be from 0.1 to 1000000")
    }
}
