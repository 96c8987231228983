/// Which edge of the screen points up.
///
/// The raw values are the words that `net.hadess.SensorProxy` has for them.
package enum ScreenOrientation: String, FigureWord, CaseIterable {
    /// It is not known yet.
    case undefined
    /// The top edge.
    case normal
    /// The bottom edge: the screen is upside down.
    case bottomUp = "bottom-up"
    /// The left edge.
    case leftUp = "left-up"
    /// The right edge.
    case rightUp = "right-up"
}

/// How far the screen leans back or forward.
///
/// The raw values are the words that `net.hadess.SensorProxy` has for them.
package enum ScreenTilt: String, FigureWord, CaseIterable {
    /// It is not known yet.
    case undefined
    /// The screen faces the ground.
    case faceDown = "face-down"
    /// The screen leans forward.
    case tiltedDown = "tilted-down"
    /// The screen stands upright, on whichever edge.
    case vertical
    /// The screen leans back.
    case tiltedUp = "tilted-up"
    /// The screen faces the sky.
    case faceUp = "face-up"
}
