import LinuxSystem
import Synchronization

/// The distribution of a quantity that was measured several times.
package struct Spread: Sendable, Equatable {
    package let minimum: Double
    package let median: Double
    package let maximum: Double

    /// Summarises at least one value.
    package init(_ values: [Double]) {
        let sorted = values.sorted()
        precondition(!sorted.isEmpty, "a spread needs a value")
        minimum = sorted[0]
        maximum = sorted[sorted.count - 1]
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The ratio of the median to the best value, at least 1; it grows with other load on the machine.
    package var medianToBest: Double { minimum > 0 ? median / minimum : 1 }

    /// All values multiplied by a non-negative factor.
    package func scaled(by factor: Double) -> Spread {
        Spread([minimum * factor, median * factor, maximum * factor])
    }
}

/// Repeatable work, one of several alternatives.
struct Variant {
    let label: String
    /// Repeats the work, and returns the nanoseconds that it took.
    let measure: (_ times: Int) -> Int64

    /// Work measured in processor time of the calling thread.
    init(_ label: String, run: @escaping () -> Void) {
        self.label = label
        measure = { times in
            let start = SystemClock.threadTime()
            for _ in 0..<times { run() }
            return SystemClock.threadTime() - start
        }
    }

    /// Work measured in wall-clock time, without the preparation of each repetition.
    ///
    /// The median of the repetitions counts, so that an interrupted one does not matter.
    init(_ label: String, preparing prepare: @escaping () -> Void, run: @escaping () -> Void) {
        self.label = label
        measure = { times in
            let each = (0..<times).map { _ in
                prepare()
                let start = SystemClock.monotonic()
                run()
                return SystemClock.monotonic() - start
            }
            return max(1, each.sorted()[times / 2]) * Int64(times)
        }
    }

    /// Measures several variants in turn, so that other load affects all alike; returns the nanoseconds per repetition of each.
    static func measure(
        _ variants: [Variant], passes: Int, passNanoseconds: Int64, isCancelled: () -> Bool
    ) throws(BenchError) -> [Spread] {
        var repetitions: [Int] = []
        for variant in variants {
            guard !isCancelled() else { throw .cancelled }
            repetitions.append(variant.repetitions(filling: passNanoseconds))
        }
        var times = variants.map { _ in [Double]() }
        for _ in 0..<passes {
            for (number, variant) in variants.enumerated() {
                guard !isCancelled() else { throw .cancelled }
                times[number].append(Double(variant.measure(repetitions[number])) / Double(repetitions[number]))
            }
        }
        return times.map { Spread($0) }
    }

    /// Warms up, and finds the number of repetitions for a pass.
    private func repetitions(filling passNanoseconds: Int64) -> Int {
        var times = 1
        while true {
            let elapsed = max(1, measure(times))
            if elapsed >= passNanoseconds || times > 1 << 30 { return times }
            // At most a hundredfold, because the first run is cold.
            times = Int(Double(times) * min(Double(passNanoseconds) / Double(elapsed) * 1.1, 100)) + 1
        }
    }
}

/// Consumes unused results, so that the compiler keeps the work for them.
enum Sink {
    private static let value = Atomic<UInt64>(0)

    @inline(never)
    static func consume(_ result: UInt64) {
        value.store(result, ordering: .relaxed)
    }
}
