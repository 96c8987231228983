/// Noise that is a function of a sample's index: it does not depend on which samples were asked for before.
///
/// The numbers are those of ``SplitMix64``, whose n-th number can be had without the others. Each is cut into four numbers
/// of 16 bits, and their sum is nearly normal (Irwin and Hall) and has a limit: no sample is further off than 3.47 standard
/// deviations, at any rate and for any time. So noise alone never crosses a threshold.
package struct SampleNoise {
    private let key: UInt64

    /// Neighbouring seeds give unlike noise, and so do the streams of one sensor.
    package init(seed: UInt64, kind: SampleKind) {
        let own = SplitMix64.mix(seed &+ SplitMix64.increment)
        key =
            switch kind {
            case .accelerometer: own
            case .magnetometer: ~own
            case .gyroscope: SplitMix64.mix(~own)
            }
    }

    /// Three independent numbers of mean 0 and standard deviation 1.
    package func vector(at index: Int64) -> SIMD3<Double> {
        let counter = key &+ UInt64(bitPattern: index) &* 3 &* SplitMix64.increment
        return SIMD3(
            Self.normal(SplitMix64.mix(counter)), Self.normal(SplitMix64.mix(counter &+ SplitMix64.increment)),
            Self.normal(SplitMix64.mix(counter &+ 2 &* SplitMix64.increment)))
    }

    private static func normal(_ bits: UInt64) -> Double {
        let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48)
        // Four uniform numbers of width w have the mean 2 w and the variance 4 w²/12.
        return (Double(sum) - 2 * 65_535) * (1.732_050_807_568_877_2 / 65_536)
    }
}
