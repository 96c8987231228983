import Glibc

/// Logarithms of the C library.
enum Logarithm {
    static func ten(_ value: Double) -> Double { log10(value) }

    /// The greatest power of ten that is not above a positive value.
    static func powerOfTen(below value: Double) -> Double { pow(10, log10(value).rounded(.down)) }
}
