/// What a threshold is compared with, sample by sample.
protocol Measure {
    /// The measure of one sample.
    func one(_ index: Int) -> Float
    /// The measures of four samples.
    func four(_ index: Int) -> SIMD4<Float>
    /// The measure of one sample with which it ends *inside*, where that is another one.
    func oneFalling(_ index: Int) -> Float
    /// The measures of four samples with which they end *inside*.
    func fourFalling(_ index: Int) -> SIMD4<Float>
}

extension Measure {
    @inline(__always)
    func oneFalling(_ index: Int) -> Float { one(index) }

    @inline(__always)
    func fourFalling(_ index: Int) -> SIMD4<Float> { four(index) }
}

/// The values themselves.
struct ColumnMeasure: Measure {
    let values: UnsafePointer<Float>

    @inline(__always)
    func one(_ index: Int) -> Float { values[index] }

    @inline(__always)
    func four(_ index: Int) -> SIMD4<Float> { load(values + index) }
}

/// The squared lengths of vectors, added in one order, so that every form gives the same bits.
struct VectorMeasure: Measure {
    let x: UnsafePointer<Float>
    let y: UnsafePointer<Float>
    let z: UnsafePointer<Float>

    @inline(__always)
    func one(_ index: Int) -> Float { x[index] * x[index] + y[index] * y[index] + z[index] * z[index] }

    @inline(__always)
    func four(_ index: Int) -> SIMD4<Float> {
        let (x, y, z) = (load(x + index), load(y + index), load(z + index))
        return x * x + y * y + z * z
    }
}

/// Four values from anywhere: nobody promises that columns begin at a multiple of 16 bytes.
@inline(__always)
func load(_ values: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(values).loadUnaligned(as: SIMD4<Float>.self)
}
