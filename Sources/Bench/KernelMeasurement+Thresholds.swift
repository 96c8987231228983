import Kernels

extension KernelMeasurement {
    /// K1: thresholds with hysteresis.
    static func thresholds(_ options: BenchOptions) -> [KernelMeasurement] {
        options.isQuick ? [vectors(options)] : [vectors(options), column(options)]
    }

    private static func vectors(_ options: BenchOptions) -> KernelMeasurement {
        KernelMeasurement(
            .k1, name: "threshold_vectors",
            title: "k1: threshold with hysteresis on |a|², from columns x y z; 12 bytes a sample",
            rates: eventRates(options)
        ) { course in
            let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 12)
            let (x, y, z) = (
                course.arena.column(Float.self, count: count), course.arena.column(Float.self, count: count),
                course.arena.column(Float.self, count: count)
            )
            var numbers = SeededNumbers(seed: 1)
            let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
            row.forEach(count: count) { index, isInside in
                x[index] = numbers.signed()
                y[index] = numbers.signed()
                z[index] = (isInside ? 13 : 9.8) + 0.2 * numbers.signed()
            }
            let kernel = CrossingKernel(count: count) { range, isEventful, isInside, crossings, set in
                findCrossings(
                    x: x, y: y, z: z, range: range, threshold: isEventful ? .eventful : .quiet, isInside: &isInside,
                    crossings: &crossings, using: set)
            }
            return kernel.contest(
                .columns([UnsafePointer(x), UnsafePointer(y), UnsafePointer(z)], count: count), row,
                course.instructionSets)
        }
    }

    private static func column(_ options: BenchOptions) -> KernelMeasurement {
        KernelMeasurement(
            .k1, name: "threshold_column", title: "k1: threshold with hysteresis on one column; 4 bytes a sample",
            rates: eventRates(options)
        ) { course in
            let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 4)
            let values = course.arena.column(Float.self, count: count)
            var numbers = SeededNumbers(seed: 2)
            let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
            row.forEach(count: count) { index, isInside in
                values[index] = (isInside ? 169 : 96) + 4 * numbers.signed()
            }
            let kernel = CrossingKernel(count: count) { range, isEventful, isInside, crossings, set in
                findCrossings(
                    values: values, range: range, threshold: isEventful ? .eventful : .quiet, isInside: &isInside,
                    crossings: &crossings, using: set)
            }
            return kernel.contest(.stream(values, byteCount: count * 4), row, course.instructionSets)
        }
    }

    /// How often the side changes, as a share of the samples: never, rarely, often, nearly always.
    static func eventRates(_ options: BenchOptions) -> [Double?] {
        options.isQuick ? [0.0001, 0.5] : [0, 0.0001, 0.01, 0.5]
    }
}

extension Threshold {
    /// Between what the made-up samples are when quiet and when moved: 11 and 12 m/s², squared.
    fileprivate static let eventful = Threshold(high: 144, low: 121)
    /// Above everything that they are.
    fileprivate static let quiet = Threshold(high: 1_000, low: 900)
}
