import CKernels
import Glibc

/// The power spectrum of real values, for four series side by side, by the discrete Fourier transform.
///
/// Values at even and odd indices are the real and imaginary parts of half as many complex numbers z. Their transform Z
/// of N/2 numbers is computed in place, by decimation in time with radix 2. That of the even values is E(k) = (Z(k) +
/// Z̄(−k)) / 2, that of the odd ones O(k) = (Z(k) − Z̄(−k)) / 2i, and that of all X(k) = E(k) + e^(−2πik/N) · O(k).
///
/// Source: W. H. Press et al., Numerical Recipes, 3rd edition, Cambridge 2007, section 12.3.
package final class RealTransform {
    private var real: [SIMD4<Float>]
    private var imaginary: [SIMD4<Float>]
    /// cos and −sin of 2πk/N for k below N/2.
    private let cosines: [Float]
    private let sines: [Float]
    /// Bit-reversed indices.
    private let order: [Int]

    /// Creates a transform of `length` values, a power of two of at least 4.
    package init(_ length: Int) {
        precondition(length > 3 && length & (length - 1) == 0, "the length is a power of two")
        let half = length / 2
        real = Array(repeating: .zero, count: half)
        imaginary = real
        cosines = (0..<half).map { Float(cos(2 * .pi * Double($0) / Double(length))) }
        sines = (0..<half).map { Float(-sin(2 * .pi * Double($0) / Double(length))) }
        let bits = half.trailingZeroBitCount
        order = (0..<half).map { index in
            (0..<bits).reduce(0) { $0 | ((index >> $1) & 1) << (bits - 1 - $1) }
        }
    }

    /// Adds Σ |X(k)|² over the four series to N/2 + 1 sums, for k from 0 to N/2.
    ///
    /// The mean is subtracted before the window is applied. All forms of the butterflies give the same bits.
    package func addPower(
        of samples: [SIMD4<Float>], minus mean: SIMD4<Float>, weightedBy window: [Float], to power: inout [Float],
        using instructionSet: InstructionSet = .current
    ) {
        let half = order.count
        precondition(samples.count == 2 * half && window.count == 2 * half && power.count == half + 1)
        // Pointers, because index checks take longer than the arithmetic; they do not leave this function.
        real.withUnsafeMutableBufferPointer { re in
            imaginary.withUnsafeMutableBufferPointer { im in
                guard let re = re.baseAddress, let im = im.baseAddress else { return }
                samples.withUnsafeBufferPointer { samples in
                    window.withUnsafeBufferPointer { window in
                        for index in 0..<half {
                            let place = 2 * order[index]
                            re[index] = (samples[place] - mean) * window[place]
                            im[index] = (samples[place + 1] - mean) * window[place + 1]
                        }
                    }
                }
                cosines.withUnsafeBufferPointer { cosines in
                    sines.withUnsafeBufferPointer { sines in
                        guard let c = cosines.baseAddress, let s = sines.baseAddress else { return }
                        Self.combine(re, im, c, s, half, using: instructionSet)
                        power.withUnsafeMutableBufferPointer { Self.addPower(re, im, c, s, half, to: $0) }
                    }
                }
            }
        }
    }

    /// The butterflies of N/2 numbers in bit-reversed order.
    private static func combine(
        _ re: UnsafeMutablePointer<SIMD4<Float>>, _ im: UnsafeMutablePointer<SIMD4<Float>>, _ c: UnsafePointer<Float>,
        _ s: UnsafePointer<Float>, _ length: Int, using instructionSet: InstructionSet
    ) {
        guard instructionSet == .scalar else {
            // Four floats are a SIMD4<Float> in memory.
            return re.withMemoryRebound(to: Float.self, capacity: 4 * length) { re in
                im.withMemoryRebound(to: Float.self, capacity: 4 * length) { im in
                    instructionSet.forms.butterflies(re, im, c, s, length)
                }
            }
        }
        var half = 1
        while half < length {
            // The tables are for N, twice the length.
            let step = length / half
            var start = 0
            while start < length {
                for k in 0..<half {
                    let (a, b) = (start + k, start + k + half)
                    let (cosine, sine) = (c[k * step], s[k * step])
                    let r = re[b] * cosine - im[b] * sine
                    let i = re[b] * sine + im[b] * cosine
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

    private static func addPower(
        _ re: UnsafeMutablePointer<SIMD4<Float>>, _ im: UnsafeMutablePointer<SIMD4<Float>>, _ c: UnsafePointer<Float>,
        _ s: UnsafePointer<Float>, _ half: Int, to power: UnsafeMutableBufferPointer<Float>
    ) {
        for k in 0..<half {
            let mirrored = (half - k) & (half - 1)
            let (evenReal, evenImaginary) = ((re[k] + re[mirrored]) / 2, (im[k] - im[mirrored]) / 2)
            let (oddReal, oddImaginary) = ((im[k] + im[mirrored]) / 2, (re[mirrored] - re[k]) / 2)
            let r = evenReal + oddReal * c[k] - oddImaginary * s[k]
            let i = evenImaginary + oddReal * s[k] + oddImaginary * c[k]
            power[k] += (r * r + i * i).sum()
        }
        // At half the sampling rate the factor of the odd values is −1.
        let last = re[0] - im[0]
        power[half] += (last * last).sum()
    }
}
