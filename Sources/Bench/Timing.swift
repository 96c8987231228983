import LinuxSystem
import Synchronization

/// How the values of one quantity lie that was measured several times.
package struct Spread: Sendable, Equatable {
    package let minimum: Double
    /// The one in the middle, or the mean of the two in the middle.
    package let median: Double
    package let maximum: Double

    /// Takes values.
    ///
    /// - Precondition: There is at least one.
    package init(_ values: [Double]) {
        let sorted = values.sorted()
        precondition(!sorted.isEmpty, "a spread needs a value")
        minimum = sorted[0]
        maximum = sorted[sorted.count - 1]
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The median as a ratio to the best value, at least 1: what a machine adds that does other things as well.
    package var unrest: Double { minimum > 0 ? median / minimum : 1 }

    /// The same with every value multiplied by a number that is not negative.
    package func scaled(by factor: Double) -> Spread {
        Spread([minimum * factor, median * factor, maximum * factor])
    }
}

/// Work that can be repeated: one of several that are compared.
struct Variant {
    let label: String
    /// Does the work so many times, and says how many nanoseconds that took.
    let measure: (_ times: Int) -> Int64

    /// Names work of which the processor time of the calling thread is taken.
    init(_ label: String, run: @escaping () -> Void) {
        self.label = label
        measure = { times in
            let start = SystemClock.threadTime()
            for _ in 0..<times { run() }
            return SystemClock.threadTime() - start
        }
    }

    /// Names work that is timed by the wall clock, without what is prepared before each repetition.
    ///
    /// The median of the repetitions counts, so that one during which something else ran does not.
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

    /// Measures several variants in turn, again and again, so that what the machine does meanwhile is the same for all.
    ///
    /// - Returns: For each variant how many nanoseconds the work took, once.
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

    /// Warms up, and finds out how often the work fits into a pass.
    private func repetitions(filling passNanoseconds: Int64) -> Int {
        var times = 1
        while true {
            let elapsed = max(1, measure(times))
            if elapsed >= passNanoseconds || times > 1 << 30 { return times }
            // A hundredfold at most, because the first run is cold.
            times = Int(Double(times) * min(Double(passNanoseconds) / Double(elapsed) * 1.1, 100)) + 1
        }
    }
}

/// Takes results that are not used, so that the compiler does not leave out the work for them.
enum Sink {
    private static let value = Atomic<UInt64>(0)

    @inline(never)
    static func take(_ result: UInt64) {
        value.store(result, ordering: .relaxed)
    }
}
