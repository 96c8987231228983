import Binnacle

extension DeviceAxis {
    /// The component of a vector along this direction.
    func component(of vector: SIMD3<Double>) -> Double {
        switch self {
        case .plusX: vector.x
        case .minusX: -vector.x
        case .plusY: vector.y
        case .minusY: -vector.y
        case .plusZ: vector.z
        case .minusZ: -vector.z
        }
    }

    /// Which column of a vector it lies along: 0 for x, 1 for y, 2 for z.
    var column: Int {
        switch self {
        case .plusX, .minusX: 0
        case .plusY, .minusY: 1
        case .plusZ, .minusZ: 2
        }
    }
}
