/// What an ``OrientationDetector`` found at one sample.
public struct OrientationEvent: Sendable, Equatable {
    /// Which edge of the screen points up.
    public let orientation: ScreenOrientation
    /// How far the screen leans.
    public let tilt: ScreenTilt
    /// The sample that decided it, in m/s², with its own stamp.
    public let sample: Sample

    /// The stamp of the deciding sample, in nanoseconds.
    public var timeNanoseconds: Int64 { sample.timeNanoseconds }
}

extension OrientationEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .orientation: .word(orientation)
        case .tilt: .word(tilt)
        default: sample.value(of: figure)
        }
    }
}
