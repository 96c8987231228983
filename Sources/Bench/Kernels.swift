import Binnacle
import Glibc
import Kernels
import PlainText

/// The measurement of a kernel with synthetic samples.
///
/// A measurement is single-threaded: ``Work`` and the columns of the arena are used by one thread, one pass at a time.
struct Kernel: Sendable {
    let part: BenchPart
    let title: String
    /// The bytes of input per sample; the results are not counted.
    let bytesPerSample: Int
    /// The maximum number of samples in one call of ``Work/run``.
    var pieceCount = Kernel.usualPieceCount
    private static let usualPieceCount = 4096
    /// The shares of samples at which a crossing occurs; `nil` for a kernel that finds no crossings.
    var rates: [Double?] = [0, 0.01, 0.5]
    /// Fills columns of an empty arena, and returns the work on them; `count` is a multiple of 64.
    ///
    /// The input is allocated first, because ``Arena/readings(byteCount:)`` reads the arena's first bytes.
    let prepare: @Sendable (_ arena: Arena, _ count: Int, _ rate: Double) -> Work

    struct Work {
        /// Resets the state that is carried from piece to piece; called at the beginning of each pass.
        var begin: () -> Void = {}
        /// Processes a piece of the columns with the form for an instruction set.
        var run: (_ piece: Range<Int>, _ set: InstructionSet) -> Void = { _, _ in }
        /// The results of the last piece, which has this number of samples, as bits that are compared with the reference.
        var found: (_ count: Int) -> [Int] = { _ in [] }

        /// The work of a kernel that finds crossings; the side of the last sample is carried from piece to piece.
        static func crossings(
            find: @escaping (Range<Int>, inout Bool, inout CrossingList, InstructionSet) -> Void
        ) -> Work {
            var list = CrossingList()
            var isInside = false
            return Work {
                isInside = false
            } run: { range, set in
                find(range, &isInside, &list, set)
            } found: { _ in
                (0..<list.count).map { list[$0] } + [isInside ? 1 : 0]
            }
        }
    }

    static let all = [limits, threshold, facing(0), facing(90), gravity(128), gravity(65_536), spectrum, decode]

    /// Without work of its own: its rows are those of ``Arena/readings(byteCount:)``.
    private static let limits = Kernel(part: .limits, title: "one stream", bytesPerSample: 16, rates: [nil]) {
        arena, count, _ in
        // Pages that were never written share one page of zeros, and reading them would be too fast.
        arena.column(UInt8.self, count: 16 * count).update(repeating: 1, count: 16 * count)
        return Work()
    }

    private static let threshold = Kernel(
        part: .k1, title: "threshold with hysteresis on |a|², from columns x y z", bytesPerSample: 12
    ) { arena, count, rate in
        let columns = arena.floats(3, count: count)
        var numbers = SeededNumbers(seed: 1)
        numbers.forEachSide(count: count, rate: rate) { index, isInside, numbers in
            columns[0][index] = numbers.signed()
            columns[1][index] = numbers.signed()
            columns[2][index] = (isInside ? 13 : 9.8) + 0.2 * numbers.signed()
        }
        // 12² and 11² (m/s²)²: no sample is between them, so there is a crossing exactly where the side changes.
        return .crossings { range, isInside, list, set in
            findCrossings(
                x: columns[0], y: columns[1], z: columns[2], range: range, threshold: Threshold(high: 144, low: 121),
                isInside: &isInside, crossings: &list, using: set)
        }
    }

    /// A sector around north or south is symmetric, so that the kernel compares with one ray instead of two: 0° and 90° measure
    /// both cases.
    private static func facing(_ bearing: Double) -> Kernel {
        Kernel(
            part: .k3, title: "facing \(Int(bearing))° within 10°, from columns of acceleration and field",
            bytesPerSample: 24
        ) { arena, count, rate in
            let columns = arena.floats(6, count: count)
            var numbers = SeededNumbers(seed: 6)
            numbers.forEachSide(count: count, rate: rate) { index, isInside, numbers in
                // Nearly level, and the heading either at the bearing or opposite to it.
                let heading =
                    Float(bearing) / 180 * .pi + (isInside ? 0.09 * numbers.signed() : .pi + 0.35 * numbers.signed())
                columns[0][index] = 0.3 * numbers.signed()
                columns[1][index] = 0.3 * numbers.signed()
                columns[2][index] = 9.8
                columns[3][index] = -20 * sinf(heading)
                columns[4][index] = 20 * cosf(heading)
                columns[5][index] = -40
            }
            let sector = Sector(
                axis: 1, isReversed: false, bearingDegrees: bearing, toleranceDegrees: 10, exitDegrees: 15)
            return .crossings { range, isInside, list, set in
                findFacing(
                    acceleration: AxisColumns(x: columns[0], y: columns[1], z: columns[2]),
                    field: AxisColumns(x: columns[3], y: columns[4], z: columns[5]), range: range, sector: sector,
                    isFacing: &isInside, crossings: &list, using: set)
            }
        }
    }

    private static func gravity(_ pieceCount: Int) -> Kernel {
        Kernel(
            part: .k4, title: "gravity filter, |a − g|² and |a|² from columns t x y z, in deliveries of \(pieceCount)",
            bytesPerSample: 20, pieceCount: pieceCount, rates: [nil]
        ) { arena, count, _ in
            let times = arena.column(Int64.self, count: count)
            let columns = arena.floats(3, count: count)
            let results = arena.floats(2, count: pieceCount)
            var numbers = SeededNumbers(seed: 5)
            // 100 Hz with a jitter of 0.1 ms.
            for index in 0..<count {
                times[index] = Int64(index) * 10_000_000 + Int64(numbers.next() % 100_000)
                for (axis, mean) in [0, 0, 9.81 as Float].enumerated() {
                    columns[axis][index] = mean + 0.1 * numbers.signed()
                }
            }
            var filter = GravityFilter(timeConstantSeconds: 0.5)
            return Work {
                filter.reset()
            } run: { range, set in
                let start = range.lowerBound
                separateGravity(
                    times: times + start, x: columns[0] + start, y: columns[1] + start, z: columns[2] + start,
                    range: 0..<range.count, gravity: &filter, userSquared: results[0], totalSquared: results[1],
                    using: set)
            } found: { count in
                results.flatMap { column in (0..<count).map { Int(column[$0].bitPattern) } }
            }
        }
    }

    private static let spectrum = Kernel(
        part: .k5, title: "spectrum and two bands of a second of vibration, from columns x y z", bytesPerSample: 12,
        rates: [nil]
    ) { arena, count, _ in
        let columns = arena.floats(3, count: count)
        var numbers = SeededNumbers(seed: 7)
        for index in 0..<count { for axis in 0..<3 { columns[axis][index] = numbers.signed() } }
        let spectrum = BandSpectrum()
        var powers: [BandSpectrum.Power] = []
        return Work(
            run: { range, set in
                spectrum.removeAll()
                let axes = AxisColumns(x: columns[0], y: columns[1], z: columns[2])
                _ = spectrum.append(axes, range: range, factors: SIMD4(1, 1, 1, 0))
                guard spectrum.transform(rateHz: Double(range.count), using: set) else { return }
                powers = [spectrum.power(from: 10, to: 100), spectrum.power(from: 100, to: 1000)]
            },
            found: { _ in
                powers.map { Int(truncatingIfNeeded: $0.acceleration.bitPattern ^ $0.velocity.bitPattern) }
            })
    }

    private static let decode = Kernel(
        part: .decode, title: "scans of 3 × s16 and a stamp into columns t x y z", bytesPerSample: 16, rates: [nil]
    ) { arena, count, _ in
        let words = arena.column(Int16.self, count: 8 * count)
        // The results have room for one piece.
        let times = arena.column(Int64.self, count: Kernel.usualPieceCount)
        let results = arena.floats(3, count: Kernel.usualPieceCount)
        var numbers = SeededNumbers(seed: 4)
        for word in 0..<8 * count { words[word] = Int16(truncatingIfNeeded: numbers.next()) }
        let format = ScanFormat(stride: 16, element: .int16LittleEndian, axisOffsets: (0, 2, 4), timestampOffset: 8)
        let conversion = ScanConversion(x: [0.01, 0, 0, 0], y: [0, 0.01, 0, 0], z: [0, 0, 0.01, 0])
        return Work(
            run: { range, set in
                guard let format else { return }
                decodeScans(
                    UnsafeRawPointer(words + 8 * range.lowerBound), count: range.count, format: format,
                    conversion: conversion, times: times, x: results[0], y: results[1], z: results[2], using: set)
            },
            found: { count in
                (0..<count).map { Int(times[$0]) }
                    + results.flatMap { column in (0..<count).map { Int(column[$0].bitPattern) } }
            })
    }
}

extension Bench {
    /// Measures the form of a kernel for each instruction set, at each level of memory and each share of crossings, after
    /// comparing its results with the scalar reference.
    ///
    /// Shared caches are omitted, because their figures depend on other programs.
    func measure(_ kernel: Kernel) throws(BenchError) {
        var rows: [FigureRow] = []
        for level in levels where !level.isShared {
            for rate in kernel.rates where !options.isQuick || rate != 0 {
                arena.removeAll()
                let count = max(64, level.byteCount / kernel.bytesPerSample / 64 * 64)
                let work = kernel.prepare(arena, count, rate ?? 0)
                try check(kernel, work, count: count, level)
                let limits = arena.readings(byteCount: count * kernel.bytesPerSample)
                let forms =
                    kernel.part == .limits
                    ? []
                    : machine.instructionSets.map { set in
                        Variant("\(set)") { Self.pass(kernel, work, count: count, set) }
                    }
                let times = try times(limits + forms).map { $0.scaled(by: 1 / Double(count)) }
                // No form can be faster than the fastest way to read the same bytes.
                let limit = times[..<limits.count].min { $0.median < $1.median } ?? Spread([0])
                noise.record(limit)
                // Plain reading has rows of its own only in the part `limits`.
                let first = forms.isEmpty ? 0 : limits.count
                for (form, time) in zip(limits + forms, times).dropFirst(first) {
                    var row = FigureRow(type: "kernel")
                    row.add("kernel", kernel.part.rawValue)
                    row.add("name", kernel.title)
                    row.add("level", level.name, head: "level")
                    row.add("bytes", count: count * kernel.bytesPerSample)
                    row.add("samples", count: count)
                    row.add("event_rate", number: rate, decimals: 2, head: rate == nil ? nil : "events")
                    row.add("form", form.label, head: "form")
                    row.add("gb_per_s", number: Double(kernel.bytesPerSample) / time.median, decimals: 1, head: "GB/s")
                    row.add("limit_gb_per_s", number: Double(kernel.bytesPerSample) / limit.median)
                    row.add("limit_percent", number: limit.median / time.median * 100, head: "%")
                    row.add("ns_per_sample", nanoseconds: time)
                    if !forms.isEmpty { row.object.add("is_checked", raw: "true") }
                    rows.append(row)
                }
            }
        }
        write("\(kernel.part.rawValue): \(kernel.title); \(kernel.bytesPerSample) bytes a sample", rows)
    }

    /// Processes all pieces once; `then` is called after each with its number of samples.
    private static func pass(
        _ kernel: Kernel, _ work: Kernel.Work, count: Int, _ set: InstructionSet, then: (Int) -> Void = { _ in }
    ) {
        work.begin()
        for start in stride(from: 0, to: count, by: kernel.pieceCount) {
            let piece = start..<min(start + kernel.pieceCount, count)
            work.run(piece, set)
            then(piece.count)
        }
    }

    /// Throws ``BenchError`` if the results with an instruction set differ in any bit from the reference.
    private func check(
        _ kernel: Kernel, _ work: Kernel.Work, count: Int, _ level: MemoryLevel
    ) throws(BenchError) {
        func digest(_ set: InstructionSet) -> Int {
            var digest = Hasher()
            Self.pass(kernel, work, count: count, set) { digest.combine(work.found($0)) }
            return digest.finalize()
        }
        let expected = digest(.scalar)
        for set in machine.instructionSets where digest(set) != expected {
            throw .wrongResult(
                "\(kernel.title), \(set), \(level.name): differs from the scalar reference; this is a fault of "
                    + "binnacle, please report it")
        }
    }
}

/// A reproducible sequence of random numbers.
struct SeededNumbers {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    /// A number in [−1, 1).
    mutating func signed() -> Float {
        Float(Int32(truncatingIfNeeded: next() >> 32)) * 0x1p-31
    }

    /// Calls `body` for each sample with its side of a threshold, which changes with the probability `rate` (0 to 1).
    mutating func forEachSide(
        count: Int, rate: Double, _ body: (_ index: Int, _ isInside: Bool, _ numbers: inout SeededNumbers) -> Void
    ) {
        var isInside = false
        for index in 0..<count {
            if Double(next() >> 11) * 0x1p-53 < rate { isInside.toggle() }
            body(index, isInside, &self)
        }
    }
}
