/// The quantity of each sample that is compared with a threshold.
protocol Measure {
    /// The quantity of one sample.
    func one(_ index: Int) -> Float
    /// The quantities of four samples.
    func four(_ index: Int) -> SIMD4<Float>
    /// The quantity that ends *inside*, if it is another one.
    func oneFalling(_ index: Int) -> Float
    /// The quantities that end *inside*, of four samples.
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
    func four(_ index: Int) -> SIMD4<Float> { Quad.load(values + index) }
}

/// The squared lengths of vectors, always added in the same order, so that every form gives the same bits.
struct VectorMeasure: Measure {
    let x: UnsafePointer<Float>
    let y: UnsafePointer<Float>
    let z: UnsafePointer<Float>

    @inline(__always)
    func one(_ index: Int) -> Float { x[index] * x[index] + y[index] * y[index] + z[index] * z[index] }

    @inline(__always)
    func four(_ index: Int) -> SIMD4<Float> {
        let (x, y, z) = (Quad.load(x + index), Quad.load(y + index), Quad.load(z + index))
        return x * x + y * y + z * z
    }
}
