/// What an ``OrientationDetector`` found at one sample.
package struct OrientationEvent: Sendable, Equatable {
    /// Which edge of the screen points up.
    package let orientation: ScreenOrientation
    /// How far the screen leans.
    package let tilt: ScreenTilt
    /// The sample that decided it, in m/s², with its own stamp.
    package let sample: Sample

    /// The stamp of the deciding sample, in nanoseconds.
    package var timeNanoseconds: Int64 { sample.timeNanoseconds }
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
