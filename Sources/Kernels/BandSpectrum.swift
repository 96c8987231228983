import Glibc

/// The mean squares of one stretch of an acceleration in bands of frequency, and those of its velocity.
///
/// Samples are collected one stretch at a time. ``transform(rateHz:using:)`` subtracts their mean, weights them by a Hann window,
/// pads them with zeros to a power of two, and computes the power at N/2 + 1 frequencies. The sum over the axes is
/// kept.
///
/// By Parseval's theorem the power in a band is 2 Σ |X(k)|² / (M Σ w²), for M samples with the zeros: the window's noise
/// bandwidth of 1.5 bins is in Σ w². A bin counts as far as it lies within the band. The window spreads each frequency by two
/// bins of the stretch, ±2/T for its duration T, so a sine that is nearer to an edge of a band is partly outside of
/// it: at the edge itself half of its power is.
///
/// Source: P. Welch, IEEE Transactions on Audio and Electroacoustics 15 (1967), 70–73; F. Harris, "On the use of windows
/// for harmonic analysis with the discrete Fourier transform", Proceedings of the IEEE 66 (1978), 51–83.
package final class BandSpectrum {
    /// The most samples of a stretch.
    package static let mostSamples = 65_536
    /// The fewest that a spectrum is computed of.
    package static let leastSamples = 16

    package struct Power: Sendable, Equatable {
        /// The mean square of the acceleration, in the square of the samples' unit.
        package var acceleration = 0.0
        /// The mean square of the velocity, in the square of the samples' unit times a second.
        package var velocity = 0.0
        /// The frequency with the greatest acceleration, in Hz.
        package var strongestHz = 0.0

        package init() {}
    }

    /// The number of samples of the stretch.
    package private(set) var count = 0
    /// |X(k)|² of the last stretch that was transformed, over all axes.
    package private(set) var power: [Float] = []
    /// The distance of neighbours in ``power``, in Hz; 0 before the first stretch.
    package private(set) var binHz = 0.0

    private static let leastLength = 64
    private var samples = Array(repeating: SIMD4<Float>.zero, count: BandSpectrum.leastLength)
    private var window: [Float] = []
    private var windowedCount = 0
    private var windowPower = 0.0
    private var resolutionHz = 0.0
    private var transform = RealTransform(BandSpectrum.leastLength)

    package init() {}

    package func removeAll() { count = 0 }

    /// Appends samples as far as there is room, each multiplied by the factors of its axes; returns how many that were.
    ///
    /// The memory grows to the longest stretch.
    package func append(_ columns: AxisColumns, range: Range<Int>, factors: SIMD4<Float>) -> Int {
        let taken = min(range.count, Self.mostSamples - count)
        while samples.count < count + taken { samples += Array(repeating: .zero, count: samples.count) }
        let start = count - range.lowerBound
        // A pointer, because index checks take longer than the copy; it does not leave this function.
        samples.withUnsafeMutableBufferPointer { samples in
            for index in range.prefix(taken) {
                samples[start + index] = SIMD4(columns.x[index], columns.y[index], columns.z[index], 0) * factors
            }
        }
        count += taken
        return taken
    }

    /// Computes the spectrum of the stretch; returns whether all samples were finite, and at least ``leastSamples``.
    package func transform(rateHz: Double, using instructionSet: InstructionSet = .current) -> Bool {
        guard count >= Self.leastSamples else { return false }
        adapt()
        // In double precision: a mean of 65,536 numbers of gravity's size would lose its last digits.
        var sum = SIMD4<Double>.zero
        for index in 0..<count { sum += SIMD4<Double>(samples[index]) }
        guard (sum * sum).sum().isFinite else { return false }
        for index in power.indices { power[index] = 0 }
        transform.addPower(
            of: samples, minus: SIMD4<Float>(sum / Double(count)), weightedBy: window, to: &power,
            using: instructionSet)
        binHz = rateHz / Double(samples.count)
        resolutionHz = rateHz / Double(count)
        return power.allSatisfy(\.isFinite)
    }

    /// Makes the window that of the stretch's length.
    private func adapt() {
        // A longer stretch that was not transformed has made room for more samples than the window has.
        guard windowedCount != count || window.count != samples.count else { return }
        // A rate that was far higher for a while does not make every later transform longer.
        while samples.count > Self.leastLength, count <= samples.count / 4 { samples.removeLast(samples.count / 2) }
        let length = samples.count
        if window.count != length {
            power = Array(repeating: 0, count: length / 2 + 1)
            window = Array(repeating: 0, count: length)
            transform = RealTransform(length)
        }
        windowPower = 0
        for index in 0..<length {
            // Zeros follow the stretch, and what an earlier one left there has no weight.
            let weight = index < count ? 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(count)) : 0
            window[index] = Float(weight)
            windowPower += weight * weight
        }
        windowedCount = count
    }

    /// The power of the last stretch that was transformed, from one frequency to another in Hz.
    ///
    /// The velocity is the acceleration divided by (2πf)². Within a bin from a to b the mean of 1/f² is 1/(ab). A sine is
    /// spread over its neighbours before it is divided, which would make it greater by 1 + 1/(fT)², because the mean square
    /// of the spread is 1/(3T²) for a Hann window; so f² + 1/T² is divided by. For noise that is too much by up to 0.2 % at
    /// 10 Hz of a second.
    package func power(from low: Double, to high: Double) -> Power {
        guard binHz > 0, high > low else { return Power() }
        var found = Power()
        var strongest = (index: 0, power: -Float.infinity)
        let first = max(1, Int((low / binHz).rounded()))
        let last = min(power.count - 1, Int((high / binHz).rounded()))
        guard first <= last else { return found }
        for index in first...last {
            let start = max(low, (Double(index) - 0.5) * binHz)
            let end = min(high, (Double(index) + 0.5) * binHz)
            guard start < end else { continue }
            let level = Double(power[index]) * (end - start)
            found.acceleration += level
            found.velocity += level / (start * end + resolutionHz * resolutionHz)
            if power[index] > strongest.power { strongest = (index, power[index]) }
        }
        let scale = 2 / (binHz * Double(samples.count) * windowPower)
        found.acceleration *= scale
        found.velocity *= scale / (4 * .pi * .pi)
        found.strongestHz = min(high, max(low, binHz * (Double(strongest.index) + offset(at: strongest.index))))
        return found
    }

    /// The root mean squares that a sine alone would have to show such a power, of up to `most` equal ranges of frequencies, in the
    /// samples' unit: the greatest of each; they begin half a bin above 0 and end at `high`, in Hz.
    package func sines(to high: Double, most: Int) -> (fromHz: Double, stepHz: Double, values: [Float]) {
        let last = min(power.count - 1, Int(high / max(binHz, .leastNormalMagnitude)))
        guard last > 0 else { return (0, 0, []) }
        let width = (last + most - 1) / most
        // A Hann window of n samples has the sum n/2.
        let factor = 8 / Float(windowedCount * windowedCount)
        let values = stride(from: 1, through: last, by: width).map { first in
            (factor * (power[first...min(last, first + width - 1)].max() ?? 0)).squareRoot()
        }
        return (binHz / 2, Double(width) * binHz, values)
    }

    /// The density of noise on one of `axes` axes, of which all have the same, in the square of the samples' unit in a hertz.
    ///
    /// It is that of the geometric mean of the bins, which a few strong frequencies raise little. For chi-squared bins of two
    /// degrees of freedom for each axis that is below their mean by exp(ψ(axes)) / axes.
    package func noiseDensity(from low: Double, to high: Double, axes: Int) -> Double {
        let (first, last) = (Int((low / binHz).rounded(.up)), min(power.count - 1, Int(high / binHz)))
        guard first <= last else { return .nan }
        let digamma = (1..<axes).reduce(-0.577_215_664_9) { $0 + 1 / Double($1) }
        let mean = (first...last).reduce(0) { $0 + log(Double(power[$1])) } / Double(last - first + 1)
        return 2 * exp(mean - digamma) / (binHz * Double(samples.count) * windowPower)
    }

    /// How far the top of a parabola through the logarithms of a bin and its neighbours lies beside the bin, in bins.
    private func offset(at index: Int) -> Double {
        guard index > 0, index + 1 < power.count else { return 0 }
        let (before, at, after) = (log(power[index - 1]), log(power[index]), log(power[index + 1]))
        let curvature = before - 2 * at + after
        guard curvature.isFinite, curvature < 0 else { return 0 }
        return min(0.5, max(-0.5, Double((before - after) / (2 * curvature))))
    }
}
