/// Which north a heading counts from.
public enum HeadingReference: String, FigureWord {
    /// Where the field points: the heading of a compass without deviation.
    case magnetic
    /// The geographic pole.
    case `true`
}
