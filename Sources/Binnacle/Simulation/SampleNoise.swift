/// Noise that is a function of a sample's index: it does not depend on which samples were asked for before.
///
/// The numbers are those of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014),
/// whose n-th number can be had without the others. Each is cut into four numbers of 16 bits, and their sum is nearly
/// normal (Irwin and Hall) and has a limit: no sample is further off than 3.47 standard deviations, at any rate and for
/// any time. So noise alone never crosses a threshold.
struct SampleNoise {
    private let key: UInt64

    private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Chooses the noise.
    ///
    /// - Parameters:
    ///   - seed: Neighbouring seeds give unlike noise.
    ///   - kind: The streams of one sensor have noise of their own.
    init(seed: UInt64, kind: SampleKind) {
        let own = Self.mix(seed &+ Self.increment)
        key =
            switch kind {
            case .accelerometer: own
            case .magnetometer: ~own
            case .gyroscope: Self.mix(~own)
            }
    }

    /// Three independent numbers of mean 0 and standard deviation 1.
    func vector(at index: Int64) -> SIMD3<Double> {
        let counter = key &+ UInt64(bitPattern: index) &* 3 &* Self.increment
        return SIMD3(
            Self.normal(Self.mix(counter)), Self.normal(Self.mix(counter &+ Self.increment)),
            Self.normal(Self.mix(counter &+ 2 &* Self.increment)))
    }

    private static func mix(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static func normal(_ bits: UInt64) -> Double {
        let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48)
        // Four uniform numbers of width w have the mean 2 w and the variance 4 w²/12.
        return (Double(sum) - 2 * 65_535) * (1.732_050_807_568_877_2 / 65_536)
    }
}
