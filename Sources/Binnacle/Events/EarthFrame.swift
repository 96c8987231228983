/// The frame of the Earth that an attitude is given in, and with it the axes of the body.
///
/// Both are right-handed. A body's attitude is the rotation from its axes to those of the Earth; roll, pitch and yaw are the turns about
/// its own axes of which that rotation is made, yaw first (Tait-Bryan angles z-y′-x″).
public enum EarthFrame: String, FigureWord, CaseIterable {
    /// North, east, down, with a body whose axes point forward, to the right (starboard) and down: that of ships and aircraft.
    ///
    /// Roll is positive with the right side down, pitch with the bow up, yaw clockwise from north.
    case ned
    /// East, north, up, with a body whose axes point forward, to the left and up: that of robots (REP 103), and with the device's own
    /// axes that of Android and the W3C's sensors.
    ///
    /// Roll is positive with the right side down, pitch with the nose down, yaw counter-clockwise from east.
    case enu
}
