/// The mean and the variance of figures of late, each sample weighing less the older it is.
struct RunningSpread<Figures: SIMD & Sendable>: Sendable where Figures.Scalar == Double {
    private(set) var variance = Figures(repeating: 0)
    private var mean: Figures?

    /// Takes a sample, towards which the mean goes by a share of the way.
    mutating func update(_ figures: Figures, share: Double) {
        guard let mean else {
            self.mean = figures
            return
        }
        let difference = figures - mean
        self.mean = mean + difference * share
        variance = (variance + difference * difference * share) * (1 - share)
    }

    mutating func reset() { self = RunningSpread() }
}
