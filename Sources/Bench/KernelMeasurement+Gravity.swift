import Kernels

extension KernelMeasurement {
    /// K4: gravity separated from movement, in deliveries of a device with a watermark and in those of a recording, and of
    /// sixteen devices at once.
    static func gravity(_ options: BenchOptions) -> [KernelMeasurement] {
        let what = "k4: gravity filter, |a − g|² and |a|² from columns t x y z"
        let deliveries = [("live", 128), ("recording", 65_536)].map { name, pieceCount in
            KernelMeasurement(
                .k4, name: "gravity_\(name)", title: "\(what), in deliveries of \(pieceCount); 20 bytes a sample",
                rates: [nil]
            ) { makeGravityContest($0, pieceCount: pieceCount) }
        }
        let sensors = KernelMeasurement(
            .k4, name: "gravity_16_sensors", title: "\(what), of 16 sensors side by side; 20 bytes a sample",
            rates: [nil],
            makeContest: makeFramesContest)
        return deliveries + [sensors]
    }

    private static func makeGravityContest(_ course: Course, pieceCount: Int) -> Contest {
        let samples = MadeSamples(course, sensorCount: 1, seed: 5)
        var filter = OnePoleFilter(timeConstantSeconds: 0.5)
        let kernel = ColumnKernel(count: samples.count, columnCount: 2, pieceCount: pieceCount, in: course.arena) {
            filter.reset()
        } body: { range, output, set in
            let (times, x, y, z) = samples.columns(from: range.lowerBound)
            separateGravity(
                times: times, x: x, y: y, z: z, range: 0..<range.count, gravity: &filter,
                userSquared: output.columns[0], totalSquared: output.columns[1], using: set)
        }
        return kernel.contest(samples.reading, course.instructionSets)
    }

    private static func makeFramesContest(_ course: Course) -> Contest {
        let sensors = GravityFilters.count
        let samples = MadeSamples(course, sensorCount: sensors, seed: 6)
        var filters = GravityFilters(timeConstantSeconds: 0.5)
        let kernel = ColumnKernel(count: samples.count, columnCount: 2, in: course.arena) {
            filters = GravityFilters(timeConstantSeconds: 0.5)
        } body: { range, output, set in
            let (times, x, y, z) = samples.columns(from: range.lowerBound)
            separateGravity(
                times: times, x: x, y: y, z: z, frames: 0..<range.count / sensors, gravity: &filters,
                userSquared: output.columns[0], totalSquared: output.columns[1], using: set)
        }
        return kernel.contest(samples.reading, course.instructionSets)
    }
}
