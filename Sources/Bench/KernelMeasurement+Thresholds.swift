import Kernels

extension KernelMeasurement {
    /// K1: thresholds with hysteresis.
    static func thresholds(_ options: BenchOptions) -> [KernelMeasurement] {
        options.isQuick ? [vectors(options)] : [vectors(options), column(options), extremes]
    }

    private static func vectors(_ options: BenchOptions) -> KernelMeasurement {
        KernelMeasurement(
            .k1, name: "threshold_vectors",
            title: "k1: threshold with hysteresis on |a|², from columns x y z; 12 bytes a sample",
            rates: eventRates(options)
        ) { course in
            let vectors = MadeVectors(course, seed: 1)
            let kernel = CrossingKernel(count: vectors.count) { range, isEventful, isInside, crossings, set in
                findCrossings(
                    x: vectors.x, y: vectors.y, z: vectors.z, range: range, threshold: isEventful ? .eventful : .quiet,
                    isInside: &isInside,
                    crossings: &crossings, using: set)
            }
            return kernel.contest(vectors.reading, vectors.row, course.instructionSets)
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

    /// The least and the greatest |a|²: what settles a block in which nothing happens.
    private static var extremes: KernelMeasurement {
        KernelMeasurement(
            .k1, name: "extremes_vectors", title: "k1: least and greatest |a|², from columns x y z; 12 bytes a sample",
            rates: [nil]
        ) { course in
            let vectors = MadeVectors(course, seed: 1)
            @inline(__always)
            func find(_ set: InstructionSet, _ take: (Extremes) -> Void) {
                var start = 0
                while start < vectors.count {
                    // As many samples as a delivery of a replay has.
                    let end = min(start + 4096, vectors.count)
                    take(Kernels.extremes(x: vectors.x, y: vectors.y, z: vectors.z, range: start..<end, using: set))
                    start = end
                }
            }
            func all(_ set: InstructionSet) -> [Extremes] {
                var found: [Extremes] = []
                find(set) { found.append($0) }
                return found
            }
            return Contest(
                sampleCount: vectors.count, byteCount: vectors.reading.byteCount,
                limits: vectors.reading.variants(course.instructionSets),
                contenders: course.instructionSets.map { set in
                    Variant(set.rawValue) { times in
                        for _ in 0..<times { find(set) { Sink.take(UInt64($0.greatest.bitPattern)) } }
                    }
                },
                findFault: {
                    let expected = all(.scalar)
                    return course.instructionSets.first { all($0) != expected }?.rawValue
                })
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
