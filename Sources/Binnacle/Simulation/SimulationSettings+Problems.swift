extension SimulationSettings {
    /// The rates in Hz that can be simulated.
    public static let rates: ClosedRange<Double> = 0.1...1_000_000

    /// Everything that is wrong with the settings, each with the configuration's key and a sentence.
    public func problems() -> [SettingsProblem] {
        var list = ProblemList()
        list.require("rate_hz", Self.rates.contains(rateHz), "(\(rateHz)) has to be from 0.1 to 1000000")
        return list.problems
    }
}
