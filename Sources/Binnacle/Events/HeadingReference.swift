/// Which north a heading counts from, and the turn of an attitude about the vertical.
public enum HeadingReference: String, FigureWord {
    /// Where the field points: the heading of a compass without deviation.
    case magnetic
    /// The geographic pole.
    case `true`
    /// No north, but the direction in which a body pointed at first: of an attitude without a magnetometer.
    case relative
}
