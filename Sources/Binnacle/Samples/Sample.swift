/// One reading of three axes with its timestamp.
///
/// Axes follow the device frame: x to the right, y to the top, z out of the screen. An accelerometer's sample is
/// specific force in m/s², so the axis that points up reads +9.81 at rest; a magnetometer's is the field in µT; a
/// gyroscope's is the angular velocity in rad/s by the right-hand rule, so a device that lies flat and turns
/// counter-clockwise, seen from above, has a positive z.
public struct Sample: Sendable, Equatable {
    /// The stamp as the device or the trace gave it, in nanoseconds; never the wall clock.
    public var timeNanoseconds: Int64
    /// The axis to the right.
    public var x: Float
    /// The axis to the top.
    public var y: Float
    /// The axis out of the screen.
    public var z: Float

    /// Creates a sample.
    public init(timeNanoseconds: Int64, x: Float, y: Float, z: Float) {
        self.timeNanoseconds = timeNanoseconds
        self.x = x
        self.y = y
        self.z = z
    }
}

extension Sample: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .x: figure.number(Double(x))
        case .y: figure.number(Double(y))
        case .z: figure.number(Double(z))
        default: nil
        }
    }
}

/// What a stream of samples measures.
public enum SampleKind: String, FigureWord, Hashable, CaseIterable {
    /// Specific force in m/s².
    case accelerometer
    /// Magnetic field in µT.
    case magnetometer
    /// Angular velocity in rad/s.
    case gyroscope
}
