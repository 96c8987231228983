/// Measures several variants in turn, again and again, so that what the machine does meanwhile is the same for all.
struct Rounds {
    /// How often each variant is measured.
    let passes: Int
    /// How long one measurement takes at least; short work is repeated until then.
    let passNanoseconds: Int64

    /// Measures.
    ///
    /// - Parameters:
    ///   - variants: What to measure.
    ///   - isCancelled: Asked between two measurements.
    /// - Returns: For each variant how many nanoseconds the work took, once.
    /// - Throws: ``BenchError/cancelled``.
    func measure(_ variants: [Variant], isCancelled: () -> Bool) throws(BenchError) -> [Spread] {
        var repetitions: [Int] = []
        for variant in variants {
            guard !isCancelled() else { throw .cancelled }
            repetitions.append(self.repetitions(of: variant))
        }
        var times = variants.map { _ in [Double]() }
        for _ in 0..<passes {
            for (number, variant) in variants.enumerated() {
                guard !isCancelled() else { throw .cancelled }
                let elapsed = variant.measure(repetitions[number])
                times[number].append(Double(elapsed) / Double(repetitions[number]))
            }
        }
        return times.map { Spread($0) }
    }

    /// Warms up, and finds out how often the work fits into a pass.
    private func repetitions(of variant: Variant) -> Int {
        var times = 1
        while true {
            let elapsed = max(1, variant.measure(times))
            if elapsed >= passNanoseconds { return times }
            precondition(times < 1 << 40, "\(variant.label) does nothing that takes time")
            // Towards the aim in steps of a hundredfold at most, because the first run is cold.
            let wanted = Double(passNanoseconds) / Double(elapsed) * 1.1
            times = Int(Double(times) * min(wanted, 100)) + 1
        }
    }
}
