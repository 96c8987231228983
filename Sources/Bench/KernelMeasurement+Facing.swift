import Glibc
import Kernels

extension KernelMeasurement {
    /// K3: whether an axis points into a sector of headings, around north, whose two limits are one, and around any bearing.
    static func facing(_ options: BenchOptions) -> [KernelMeasurement] {
        [
            facing(
                "facing_north", "facing north within 10°", quiet: 0, eventful: 90,
                rates: options.isQuick ? [0.0001] : [0, 0.0001]),
            facing("facing", "facing a bearing within 10°", quiet: 90, eventful: 0, rates: eventRates(options)),
        ]
    }

    /// - Parameters:
    ///   - name: What figures are known by.
    ///   - what: What is decided, in a few words.
    ///   - quiet: The bearing of runs without events, in degrees; the device never points there.
    ///   - eventful: The bearing of the others; the device points there now and then, and otherwise to the south.
    ///   - rates: The event rates.
    /// - Returns: The measurement.
    private static func facing(
        _ name: String, _ what: String, quiet: Double, eventful: Double, rates: [Double?]
    ) -> KernelMeasurement {
        KernelMeasurement(
            .k3, name: name, title: "k3: \(what), from columns of acceleration and field; 24 bytes a sample",
            rates: rates
        ) { course in
            let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: 24)
            let columns = (0..<6).map { _ in course.arena.column(Float.self, count: count) }
            var numbers = SeededNumbers(seed: 6)
            let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
            let inside = Float(eventful) / 180 * Float.pi
            row.forEach(count: count) { index, isInside in
                // Nearly flat; to the bearing or to the south, and nowhere else.
                let heading = (isInside ? inside : Float.pi) + numbers.signed() * (isInside ? 0.09 : 0.35)
                columns[0][index] = 0.3 * numbers.signed()
                columns[1][index] = 0.3 * numbers.signed()
                columns[2][index] = 9.8
                columns[3][index] = -20 * sinf(heading)
                columns[4][index] = 20 * cosf(heading)
                columns[5][index] = -40
            }
            let acceleration = AxisColumns(x: columns[0], y: columns[1], z: columns[2])
            let field = AxisColumns(x: columns[3], y: columns[4], z: columns[5])
            let (quiet, eventful) = (Sector.measured(around: quiet), Sector.measured(around: eventful))
            let kernel = CrossingKernel(count: count) { range, isEventful, isInside, crossings, set in
                findFacing(
                    acceleration: acceleration, field: field, range: range, sector: isEventful ? eventful : quiet,
                    isFacing: &isInside, crossings: &crossings, using: set)
            }
            return kernel.contest(
                .pairs(columns.map { UnsafePointer($0) }, count: count), row, course.instructionSets,
                others: [HeadingLoop(acceleration, field, count: count).variant])
        }
    }
}

extension Sector {
    fileprivate static func measured(around bearing: Double) -> Sector {
        Sector(axis: 1, isReversed: false, bearingDegrees: bearing, toleranceDegrees: 10, exitDegrees: 15)
    }
}
