/// Accelerations of made-up devices that lie still, in m/s², with their stamps, as columns: one sample of each device
/// after the other.
struct MadeSamples {
    /// The number of samples of all devices together.
    let count: Int

    private let times: UnsafeMutablePointer<Int64>
    private let x: UnsafeMutablePointer<Float>
    private let y: UnsafeMutablePointer<Float>
    private let z: UnsafeMutablePointer<Float>

    /// Makes as many as a level of memory takes.
    ///
    /// - Parameters:
    ///   - course: The level.
    ///   - sensorCount: The number of devices.
    ///   - seed: What chance begins with.
    init(_ course: KernelMeasurement.Course, sensorCount: Int, seed: UInt64) {
        count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 20)
        times = course.arena.column(Int64.self, count: count)
        x = course.arena.column(Float.self, count: count)
        y = course.arena.column(Float.self, count: count)
        z = course.arena.column(Float.self, count: count)
        var numbers = SeededNumbers(seed: seed)
        for index in 0..<count {
            // 100 Hz, with the jitter of a busy machine.
            times[index] = Int64(index / sensorCount) * 10_000_000 + Int64(numbers.next() % 100_000)
            x[index] = 0.1 * numbers.signed()
            y[index] = 0.1 * numbers.signed()
            z[index] = 9.81 + 0.1 * numbers.signed()
        }
    }

    /// The columns from a sample on.
    func columns(
        from start: Int
    ) -> (times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>) {
        (UnsafePointer(times + start), UnsafePointer(x + start), UnsafePointer(y + start), UnsafePointer(z + start))
    }

    /// The columns as they are read alone.
    var reading: Reading {
        .samples(times, [UnsafePointer(x), UnsafePointer(y), UnsafePointer(z)], count: count)
    }
}
