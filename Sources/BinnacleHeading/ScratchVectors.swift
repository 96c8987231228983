import Binnacle
import Kernels

/// Vectors as columns that grow to the largest batch seen and are then reused.
struct ScratchVectors {
    private let x = ScratchColumn()
    private let y = ScratchColumn()
    private let z = ScratchColumn()

    /// Makes room for `count` vectors and forgets what was there.
    func reserve(_ count: Int) {
        x.reserve(count)
        y.reserve(count)
        z.reserve(count)
    }

    /// The columns as the kernels take them; valid until the next call of ``reserve(_:)``.
    var columns: AxisColumns { AxisColumns(x: x.values, y: y.values, z: z.values) }

    /// The vector at an index for which there is room.
    subscript(index: Int) -> SIMD3<Float> {
        get { SIMD3(x.values[index], y.values[index], z.values[index]) }
        nonmutating set {
            x.values[index] = newValue.x
            y.values[index] = newValue.y
            z.values[index] = newValue.z
        }
    }
}
