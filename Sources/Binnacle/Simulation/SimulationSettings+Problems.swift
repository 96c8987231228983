extension SimulationSettings {
    /// The rates in Hz that can be simulated.
    package static let rates: ClosedRange<Double> = 0.1...1_000_000

    package func problems() -> [SettingsProblem<SimulationSettings>] {
        var list = ProblemList<SimulationSettings>()
        list.require(\.rateHz, Self.rates.contains(rateHz), "(\(rateHz)) has to be from 0.1 to 1000000")
        return list.problems
    }
}
