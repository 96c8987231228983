import Kernels

extension KernelMeasurement {
    /// K2: the threshold straight on scans.
    static func scanThresholds(_ options: BenchOptions) -> [KernelMeasurement] {
        ScanLayout.measured(options).map { layout in
            KernelMeasurement(
                .k2, name: "threshold_\(layout.name)",
                title:
                    "k2: threshold with hysteresis on |a|², from \(layout.title); \(layout.format.stride) bytes a sample",
                rates: layout.isCommon ? eventRates(options) : [0.0001, 0.5]
            ) { course in
                let scans = MadeScans(layout, course, seed: 3)
                let eventful = layout.threshold(high: 12, low: 11)
                let quiet = layout.threshold(high: 1_000, low: 900)
                let stride = layout.format.stride
                let kernel = CrossingKernel(count: scans.count) { range, isEventful, isInside, crossings, set in
                    (isEventful ? eventful : quiet).findCrossings(
                        scans: scans.bytes + range.lowerBound * stride, count: range.count, isInside: &isInside,
                        crossings: &crossings, using: set)
                }
                return kernel.contest(
                    .stream(scans.bytes, byteCount: scans.count * stride), scans.row, course.instructionSets)
            }
        }
    }

    /// Scans into columns.
    static func decoding(_ options: BenchOptions) -> [KernelMeasurement] {
        decodedLayouts(options) + (options.isQuick ? [] : [scaling])
    }

    private static func decodedLayouts(_ options: BenchOptions) -> [KernelMeasurement] {
        ScanLayout.measured(options).filter(\.isDecoded).map { layout in
            KernelMeasurement(
                .decode, name: "decode_\(layout.name)",
                title: "decode: \(layout.title) into columns t x y z; \(layout.format.stride) bytes a sample",
                rates: [nil]
            ) { course in
                let scans = MadeScans(layout, course, seed: 4)
                let kernel = ColumnKernel(count: scans.count, columnCount: 3, in: course.arena) { range, output, set in
                    decodeScans(
                        scans.bytes + range.lowerBound * layout.format.stride, count: range.count,
                        format: layout.format,
                        conversion: layout.conversion, times: output.times, x: output.columns[0], y: output.columns[1],
                        z: output.columns[2], using: set)
                }
                return kernel.contest(
                    .stream(scans.bytes, byteCount: scans.count * layout.format.stride), course.instructionSets)
            }
        }
    }

    /// Values from one unit into another, in place.
    private static var scaling: KernelMeasurement {
        KernelMeasurement(
            .decode, name: "scale", title: "decode: one column multiplied by a factor, in place; 4 bytes a sample",
            rates: [nil]
        ) { course in
            let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 4)
            let values = course.arena.column(Float.self, count: count, filledWith: 1.5)
            let reading = Reading.stream(values, byteCount: count * 4)
            return Contest(
                sampleCount: count, byteCount: reading.byteCount, limits: reading.variants(course.instructionSets),
                contenders: [
                    // Values keep their size however often it is done; by 1, nothing would be done at all.
                    Variant(InstructionSet.baseline.rawValue) { times in
                        for _ in 0..<times { scale(values, range: 0..<count, by: -1) }
                    }
                ],
                findFault: {
                    values.update(repeating: 1.5, count: count)
                    scale(values, range: 0..<count, by: 3)
                    let isWrong = (0..<count).contains { values[$0] != 4.5 }
                    values.update(repeating: 1.5, count: count)
                    return isWrong ? InstructionSet.baseline.rawValue : nil
                })
        }
    }
}
