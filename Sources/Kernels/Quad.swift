import CKernels

/// Unaligned loads and stores of four values, and a conversion that Swift's SIMD types lack.
enum Quad {
    @inline(__always)
    static func load(_ values: UnsafePointer<Float>) -> SIMD4<Float> {
        UnsafeRawPointer(values).loadUnaligned(as: SIMD4<Float>.self)
    }

    @inline(__always)
    static func load(_ values: UnsafePointer<Int64>) -> SIMD4<Int64> {
        UnsafeRawPointer(values).loadUnaligned(as: SIMD4<Int64>.self)
    }

    @inline(__always)
    static func store(_ lanes: SIMD4<Float>, at values: UnsafeMutablePointer<Float>) {
        UnsafeMutableRawPointer(values).storeBytes(of: lanes, as: SIMD4<Float>.self)
    }

    @inline(__always)
    static func floats(_ numbers: SIMD4<Int32>) -> SIMD4<Float> {
        #if arch(x86_64)
            ck_floats(unsafeBitCast(numbers, to: SIMD2<Int64>.self))
        #elseif arch(arm64)
            ck_floats(numbers)
        #else
            SIMD4<Float>(numbers)
        #endif
    }
}
