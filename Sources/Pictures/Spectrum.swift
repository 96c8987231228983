import Glibc

/// Estimates how the power of vibrations is spread over their frequencies, by Welch's method, in bounded memory.
///
/// Segments of 512 samples, half of which they share with the next, are freed of their mean, weighted by a Hann window, and
/// transformed; their periodograms are averaged. The sum over the three axes is a density in (m/s²)²/Hz, one-sided.
/// Averages are kept for equal stretches of time, so that each stretch of the recording has a spectrum of its own.
///
/// Source: P. Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE Transactions on Audio and
/// Electroacoustics 15 (1967), 70–73.
package final class Spectrum {
    /// The number of samples of a segment.
    package static let length = 512
    /// The number of frequencies: from 0 to half the sampling rate.
    package static let frequencyCount = length / 2 + 1

    /// The average of some neighbouring segments.
    package struct Cell {
        /// The first and the last stamp of the segments, in nanoseconds.
        package var startNanoseconds: Int64
        package var endNanoseconds: Int64
        /// How many segments there are.
        package var count: Int
        /// The sum of their periodograms without the factor that makes a density of them, in (m/s²)².
        package var power: [Float]
    }

    /// The averages, in the order of time; each of the same number of segments but the last.
    package private(set) var cells: [Cell] = []
    /// The sampling rate as the mean of all segments, in Hz; 0 without any.
    package var rateHz: Double { segmentSeconds > 0 ? segmentSamples / segmentSeconds : 0 }
    /// What makes a density in (m/s²)²/Hz of an average: 2 / (rate · Σ w²), which holds for all frequencies but 0 and the last.
    package var density: Double { rateHz > 0 ? 2 / (rateHz * windowPower) : 0 }

    private var samples: [SIMD3<Float>] = []
    private var stamps: [Int64] = []
    private var segmentSeconds = 0.0
    private var segmentSamples = 0.0
    private var segmentsPerCell = 1
    private let window: [Float]
    private let windowPower: Double
    private let transform = FourierTransform(Spectrum.length)
    private let gapNanoseconds: Int64

    /// The most averages that are kept.
    private static let mostCells = 128

    /// Creates a spectrum of no samples.
    ///
    /// - Parameter gapNanoseconds: A longer distance of two samples begins a new segment.
    package init(gapNanoseconds: Int64 = 1_000_000_000) {
        self.gapNanoseconds = gapNanoseconds
        window = (0..<Self.length).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(Self.length))) }
        windowPower = window.reduce(0) { $0 + Double($1) * Double($1) }
        samples.reserveCapacity(Self.length)
        stamps.reserveCapacity(Self.length)
    }

    /// Takes a sample; one that is not finite, and one after a gap, begins a new segment.
    @inline(__always)
    package func append(_ sample: SIMD3<Float>, timeNanoseconds: Int64) {
        guard (sample.x + sample.y + sample.z).isFinite else { return restart() }
        if let last = stamps.last {
            let (distance, overflow) = timeNanoseconds.subtractingReportingOverflow(last)
            if overflow || distance < 0 || distance > gapNanoseconds { restart() }
        }
        samples.append(sample)
        stamps.append(timeNanoseconds)
        if samples.count == Self.length { finishSegment() }
    }

    private func restart() {
        samples.removeAll(keepingCapacity: true)
        stamps.removeAll(keepingCapacity: true)
    }

    private func finishSegment() {
        let half = Self.length / 2
        let (start, end) = (stamps[0], stamps[Self.length - 1])
        // Each sample counts once, although two segments have it.
        if end > start {
            segmentSeconds += Double(end - start) * 1e-9
            segmentSamples += Double(Self.length - 1)
            add(start, end)
        }
        samples.removeFirst(half)
        stamps.removeFirst(half)
    }

    private func add(_ start: Int64, _ end: Int64) {
        let mean = samples.reduce(SIMD3<Float>.zero, +) / Float(Self.length)
        // Two axes are the two parts of one complex transform; the third has one of its own.
        for index in 0..<Self.length {
            let value = (samples[index] - mean) * window[index]
            transform.real[index] = value.x
            transform.imaginary[index] = value.y
        }
        if let last = cells.indices.last, cells[last].count < segmentsPerCell {
            cells[last].endNanoseconds = end
        } else {
            if cells.count == Self.mostCells { joinPairs() }
            if cells.last.map({ $0.count >= segmentsPerCell }) ?? true {
                cells.append(
                    Cell(
                        startNanoseconds: start, endNanoseconds: end, count: 0,
                        power: Array(repeating: 0, count: Self.frequencyCount)))
            }
        }
        let cell = cells.count - 1
        cells[cell].endNanoseconds = end
        cells[cell].count += 1
        transform.run()
        transform.addPower(to: &cells[cell].power)
        for index in 0..<Self.length {
            transform.real[index] = (samples[index].z - mean.z) * window[index]
            transform.imaginary[index] = 0
        }
        transform.run()
        transform.addPower(to: &cells[cell].power)
    }

    private func joinPairs() {
        segmentsPerCell *= 2
        var joined: [Cell] = []
        for pair in stride(from: 0, to: cells.count, by: 2) {
            var cell = cells[pair]
            if pair + 1 < cells.count {
                let next = cells[pair + 1]
                cell.endNanoseconds = next.endNanoseconds
                cell.count += next.count
                for index in cell.power.indices { cell.power[index] += next.power[index] }
            }
            joined.append(cell)
        }
        cells = joined
    }
}

/// The discrete Fourier transform of a power of two of complex numbers, in place: decimation in time, radix 2.
final class FourierTransform {
    var real: [Float]
    var imaginary: [Float]
    private let cosines: [Float]
    private let sines: [Float]
    private let order: [Int]

    init(_ length: Int) {
        precondition(length > 1 && length & (length - 1) == 0, "the length is a power of two")
        real = Array(repeating: 0, count: length)
        imaginary = real
        cosines = (0..<length / 2).map { Float(cos(2 * .pi * Double($0) / Double(length))) }
        sines = (0..<length / 2).map { Float(-sin(2 * .pi * Double($0) / Double(length))) }
        let bits = length.trailingZeroBitCount
        order = (0..<length).map { index in
            (0..<bits).reduce(0) { $0 | ((index >> $1) & 1) << (bits - 1 - $1) }
        }
    }

    func run() {
        let length = real.count
        // Pointers, because the checks of each index take longer than the arithmetic; they stay within this function.
        real.withUnsafeMutableBufferPointer { re in
            imaginary.withUnsafeMutableBufferPointer { im in
                guard let re = re.baseAddress, let im = im.baseAddress else { return }
                for index in 0..<length where order[index] > index {
                    (re[index], re[order[index]]) = (re[order[index]], re[index])
                    (im[index], im[order[index]]) = (im[order[index]], im[index])
                }
                cosines.withUnsafeBufferPointer { cosines in
                    sines.withUnsafeBufferPointer { sines in
                        guard let c = cosines.baseAddress, let s = sines.baseAddress else { return }
                        Self.combine(re, im, c, s, length)
                    }
                }
            }
        }
    }

    private static func combine(
        _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>, _ c: UnsafePointer<Float>,
        _ s: UnsafePointer<Float>, _ length: Int
    ) {
        var half = 1
        while half < length {
            let step = length / (2 * half)
            var start = 0
            while start < length {
                for k in 0..<half {
                    let (a, b, turn) = (start + k, start + k + half, k * step)
                    let r = re[b] * c[turn] - im[b] * s[turn]
                    let i = re[b] * s[turn] + im[b] * c[turn]
                    re[b] = re[a] - r
                    im[b] = im[a] - i
                    re[a] += r
                    im[a] += i
                }
                start += 2 * half
            }
            half *= 2
        }
    }

    /// Adds the sum of the squared lengths of both parts' transforms.
    ///
    /// With X and Y the transforms of the real and of the imaginary part, |X(k)|² + |Y(k)|² = (|Z(k)|² + |Z(−k)|²) / 2.
    func addPower(to power: inout [Float]) {
        let length = real.count
        for k in 0...length / 2 {
            let mirrored = (length - k) & (length - 1)
            power[k] +=
                (real[k] * real[k] + imaginary[k] * imaginary[k] + real[mirrored] * real[mirrored]
                    + imaginary[mirrored] * imaginary[mirrored]) / 2
        }
    }
}
