import Glibc
import Kernels

extension KernelMeasurement {
    /// K3: whether an axis points into a sector of headings.
    static func facing(_ options: BenchOptions) -> [KernelMeasurement] {
        [
            KernelMeasurement(
                .k3, name: "facing",
                title: "k3: facing a bearing within 10°, from columns of acceleration and field; 24 bytes a sample",
                rates: eventRates(options)
            ) { course in
                let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 24)
                let columns = (0..<6).map { _ in course.arena.column(Float.self, count: count) }
                var numbers = SeededNumbers(seed: 6)
                let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
                row.forEach(count: count) { index, isInside in
                    // Nearly flat; to the north or to the south, and nowhere else.
                    let heading = (isInside ? 0 : Float.pi) + numbers.signed() * (isInside ? 0.09 : 0.35)
                    columns[0][index] = 0.3 * numbers.signed()
                    columns[1][index] = 0.3 * numbers.signed()
                    columns[2][index] = 9.8
                    columns[3][index] = -20 * sinf(heading)
                    columns[4][index] = 20 * cosf(heading)
                    columns[5][index] = -40
                }
                let acceleration = AxisColumns(x: columns[0], y: columns[1], z: columns[2])
                let field = AxisColumns(x: columns[3], y: columns[4], z: columns[5])
                let kernel = CrossingKernel(count: count) { range, isEventful, isInside, crossings, set in
                    findFacing(
                        acceleration: acceleration, field: field, range: range,
                        sector: isEventful ? .eventful : .quiet, isFacing: &isInside, crossings: &crossings, using: set)
                }
                return kernel.contest(
                    .pairs(columns.map { UnsafePointer($0) }, count: count), row, course.instructionSets,
                    others: [HeadingLoop(acceleration, field, count: count).variant])
            }
        ]
    }
}

extension Sector {
    /// North, where the made-up device points now and then.
    fileprivate static let eventful = Sector(
        axis: 1, isReversed: false, bearingDegrees: 0, toleranceDegrees: 10, exitDegrees: 15)
    /// East, where it never points.
    fileprivate static let quiet = Sector(
        axis: 1, isReversed: false, bearingDegrees: 90, toleranceDegrees: 10, exitDegrees: 15)
}
