/// A direction fixed to the device: x to the right, y to the top, z out of the screen.
public enum DeviceAxis: String, FigureWord, CaseIterable {
    /// To the right.
    case plusX = "+x"
    /// To the left.
    case minusX = "-x"
    /// To the top.
    case plusY = "+y"
    /// To the bottom.
    case minusY = "-y"
    /// Out of the screen.
    case plusZ = "+z"
    /// Into the screen, where a camera on the back looks.
    case minusZ = "-z"
}

extension DeviceAxis {
    /// Whether it points against its column of a vector.
    package var isReversed: Bool {
        switch self {
        case .plusX, .plusY, .plusZ: false
        case .minusX, .minusY, .minusZ: true
        }
    }
}
