import Kernels

/// What is measured side by side: reading the data and nothing else, and every form of a kernel on the same data.
struct Contest {
    /// How many samples one run of every variant takes.
    let sampleCount: Int
    /// How many bytes one run reads.
    let byteCount: Int
    /// The reading alone, with each instruction set; the fastest is the limit.
    let limits: [Variant]
    /// The forms of the kernel.
    let contenders: [Variant]
    /// What else a person would write, for comparison.
    let others: [Variant]
    /// Compares what every form finds with what the reference finds; gives the label of one that differs.
    let findFault: () -> String?

    /// Puts variants together.
    init(
        sampleCount: Int, byteCount: Int, limits: [Variant], contenders: [Variant], others: [Variant] = [],
        findFault: @escaping () -> String?
    ) {
        self.sampleCount = sampleCount
        self.byteCount = byteCount
        self.limits = limits
        self.contenders = contenders
        self.others = others
        self.findFault = findFault
    }

    /// Measures everything in turn.
    func measure(_ rounds: Rounds, isCancelled: () -> Bool) throws(BenchError) -> (limit: Spread, forms: [Figure]) {
        let times = try rounds.measure(limits + contenders + others, isCancelled: isCancelled)
        let perSample = times.map { $0.scaled(by: 1 / Double(sampleCount)) }
        let limit = perSample[..<limits.count].min { $0.median < $1.median } ?? Spread([0])
        let labels = (contenders + others).map(\.label)
        let forms = zip(labels, perSample[limits.count...]).map { Figure(label: $0, nanosecondsPerSample: $1) }
        return (limit, forms)
    }

    /// What was measured of one variant.
    struct Figure {
        let label: String
        let nanosecondsPerSample: Spread
    }
}
