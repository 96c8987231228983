import Kernels

/// Accelerations of a made-up device as columns, in m/s².
struct MadeVectors {
    let x: UnsafeMutablePointer<Float>
    let y: UnsafeMutablePointer<Float>
    let z: UnsafeMutablePointer<Float>
    let count: Int
    /// When the device is moved.
    let row: EventRow

    /// Makes as many as a level of memory takes.
    ///
    /// - Parameters:
    ///   - course: The level, and how often the device begins or ends to be moved.
    ///   - seed: What chance begins with.
    init(_ course: KernelMeasurement.Course, seed: UInt64) {
        let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 12)
        let (x, y, z) = (
            course.arena.column(Float.self, count: count), course.arena.column(Float.self, count: count),
            course.arena.column(Float.self, count: count)
        )
        var numbers = SeededNumbers(seed: seed)
        let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
        row.forEach(count: count) { index, isInside in
            x[index] = numbers.signed()
            y[index] = numbers.signed()
            z[index] = (isInside ? 13 : 9.8) + 0.2 * numbers.signed()
        }
        (self.x, self.y, self.z, self.count, self.row) = (x, y, z, count, row)
    }

    /// The columns as they are read alone.
    var reading: Reading {
        .columns([UnsafePointer(x), UnsafePointer(y), UnsafePointer(z)], count: count)
    }
}
