import Kernels

extension KernelMeasurement {
    /// K4: gravity separated from movement, in deliveries of a device with a watermark and in those of a recording.
    static func gravity(_ options: BenchOptions) -> [KernelMeasurement] {
        [("live", 128), ("recording", 65_536)].map { name, pieceCount in
            KernelMeasurement(
                .k4, name: "gravity_\(name)",
                title:
                    "k4: gravity filter, |a − g|² and |a|² from columns t x y z, in deliveries of \(pieceCount); 20 bytes a sample",
                rates: [nil]
            ) { makeGravityContest($0, pieceCount: pieceCount) }
        }
    }

    private static func makeGravityContest(_ course: Course, pieceCount: Int) -> Contest {
        let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 20)
        let times = course.arena.column(Int64.self, count: count)
        let (x, y, z) = (
            course.arena.column(Float.self, count: count), course.arena.column(Float.self, count: count),
            course.arena.column(Float.self, count: count)
        )
        var numbers = SeededNumbers(seed: 5)
        for index in 0..<count {
            // 100 Hz, with the jitter of a busy machine.
            times[index] = Int64(index) * 10_000_000 + Int64(numbers.next() % 100_000)
            x[index] = 0.1 * numbers.signed()
            y[index] = 0.1 * numbers.signed()
            z[index] = 9.81 + 0.1 * numbers.signed()
        }
        var filter = OnePoleFilter(timeConstantSeconds: 0.5)
        let kernel = ColumnKernel(count: count, columnCount: 2, pieceCount: pieceCount, in: course.arena) {
            filter.reset()
        } body: { range, output, set in
            let start = range.lowerBound
            separateGravity(
                times: times + start, x: x + start, y: y + start, z: z + start, range: 0..<range.count,
                gravity: &filter, userSquared: output.columns[0], totalSquared: output.columns[1], using: set)
        }
        return kernel.contest(
            .samples(times, [UnsafePointer(x), UnsafePointer(y), UnsafePointer(z)], count: count),
            course.instructionSets)
    }
}
