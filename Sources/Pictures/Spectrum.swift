package import Binnacle
import Glibc
import Kernels

/// Estimates the power spectral density of vibrations by Welch's method, in bounded memory.
///
/// Segments of 512 samples that overlap by half lose their mean, are weighted by a Hann window, and transformed; their
/// periodograms are averaged. The sum over the three axes is a one-sided density in (m/s²)²/Hz. Averages are kept for
/// equal numbers of consecutive segments, so that the spectrum is known over time.
///
/// Source: P. Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE Transactions on
/// Audio and Electroacoustics 15 (1967), 70–73.
package final class Spectrum {
    /// Samples of a segment.
    static let length = 512
    /// Frequencies from 0 to half the sampling rate.
    package static let frequencyCount = length / 2 + 1

    /// The sum of consecutive segments; their mean density is ``levels`` · ``density``.
    package struct Cell {
        /// First and last stamp of the segments, in nanoseconds; there may be gaps between.
        var startNanoseconds: Int64
        var endNanoseconds: Int64
        /// The number of segments.
        package var count: Int
        /// The sum of their periodograms before scaling to a density, in (m/s²)², at frequencies `rateHz` / `length` apart.
        package var power: [Float]

        /// The mean periodogram, one-sided.
        package var levels: [Double] {
            power.indices.map { index in
                // Frequency 0 and the last one have no negative counterpart.
                let share = index == 0 || index == power.count - 1 ? 0.5 : 1
                return share * Double(power[index]) / Double(count)
            }
        }
    }

    /// In the order of time; each of the same number of segments, except the last.
    package private(set) var cells: [Cell] = []
    /// The mean sampling rate of all segments, in Hz; 0 without segments.
    package var rateHz: Double { segmentSeconds > 0 ? segmentSamples / segmentSeconds : 0 }
    /// Factor from ``Cell/levels`` to a density in (m/s²)²/Hz: 2 / (rate · Σ w²).
    package var density: Double { rateHz > 0 ? 2 / (rateHz * windowPower) : 0 }

    /// Samples of the current segment, with room for a whole one; the last lane is 0.
    private var samples = Array(repeating: SIMD4<Float>.zero, count: Spectrum.length)
    private var stamps = Array(repeating: Int64(0), count: Spectrum.length)
    private var filled = 0
    /// The duration of all segments, and the number of intervals between samples in it.
    private var segmentSeconds = 0.0
    private var segmentSamples = 0.0
    private var segmentsPerCell = 1
    private let window: [Float]
    private let windowPower: Double
    private let transform = RealTransform(Spectrum.length)
    private let gapNanoseconds: Int64

    /// Even, because cells are joined in pairs.
    private static let mostCells = 128

    /// Creates an empty spectrum; a gap longer than this between two samples ends a segment, which is discarded.
    package init(gapNanoseconds: Int64 = 1_000_000_000) {
        self.gapNanoseconds = gapNanoseconds
        window = (0..<Self.length).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(Self.length))) }
        windowPower = window.reduce(0) { $0 + Double($1) * Double($1) }
    }

    /// Adds samples of one accelerometer, in m/s².
    ///
    /// A sample that follows a gap, or whose stamp goes backwards, begins a new segment. One that is not finite is discarded,
    /// and the next one begins a new segment.
    package func append(_ columns: SampleColumns) {
        var next = 0
        while next < columns.count {
            next = fill(columns, from: next)
            if filled == Self.length { finishSegment() }
        }
    }

    /// Adds samples up to the end of the segment; returns the index of the next one.
    private func fill(_ columns: SampleColumns, from start: Int) -> Int {
        var (place, index) = (filled, start)
        let limit = gapNanoseconds
        // Pointers, because index checks take longer than the copy; they do not leave this function.
        samples.withUnsafeMutableBufferPointer { samples in
            stamps.withUnsafeMutableBufferPointer { stamps in
                while index < columns.count, place < Self.length {
                    let time = columns.times[index]
                    if place > 0, time < stamps[place - 1] || isGap(from: stamps[place - 1], to: time, limit: limit) {
                        place = 0
                    }
                    let sample = SIMD4(columns.x[index], columns.y[index], columns.z[index], 0)
                    index += 1
                    guard sample.sum().isFinite else {
                        place = 0
                        continue
                    }
                    samples[place] = sample
                    stamps[place] = time
                    place += 1
                }
            }
        }
        filled = place
        return index
    }

    /// Adds the full segment to its cell, and begins the next one with the second half of it.
    private func finishSegment() {
        let half = Self.length / 2
        let (start, end) = (stamps[0], stamps[Self.length - 1])
        // Intervals in two segments count twice in both sums, of which only the ratio is used.
        if end > start {
            segmentSeconds += Double(end - start) * 1e-9
            segmentSamples += Double(Self.length - 1)
            add(start, end)
        }
        samples.withUnsafeMutableBufferPointer { _ = $0[..<half].update(fromContentsOf: $0[half...]) }
        stamps.withUnsafeMutableBufferPointer { _ = $0[..<half].update(fromContentsOf: $0[half...]) }
        filled = half
    }

    /// Adds the periodogram of a segment to the last cell, or to a new one if that is full.
    private func add(_ start: Int64, _ end: Int64) {
        var isFull: Bool { cells.last.map { $0.count >= segmentsPerCell } ?? true }
        if isFull, cells.count == Self.mostCells { joinPairs() }
        if isFull {
            let none = Array(repeating: Float(0), count: Self.frequencyCount)
            cells.append(Cell(startNanoseconds: start, endNanoseconds: end, count: 0, power: none))
        }
        let cell = cells.count - 1
        cells[cell].endNanoseconds = end
        cells[cell].count += 1
        let mean = samples.reduce(SIMD4<Float>.zero, +) / Float(Self.length)
        transform.addPower(of: samples, minus: mean, weightedBy: window, to: &cells[cell].power)
    }

    /// Halves the number of cells, each of which then has twice as many segments.
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
