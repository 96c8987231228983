import Binnacle

/// A range of bearings that is entered and left, such as from 80° to 100°.
public struct HeadingSector: Sendable, Equatable {
    /// The name that events carry.
    public let name: String
    /// Where it begins, in degrees clockwise from north, from 0 up to but not including 360.
    package let fromDegrees: Double
    /// Where it ends, clockwise from where it begins; a sector may lie across north.
    package let toDegrees: Double
    /// How far outside the device has to look until the sector is left; 2° by default.
    package let marginDegrees: Double

    /// Creates a sector.
    public init(name: String, fromDegrees: Double, toDegrees: Double, marginDegrees: Double = 2) {
        self.name = name
        self.fromDegrees = fromDegrees
        self.toDegrees = toDegrees
        self.marginDegrees = marginDegrees
    }

    /// Half of its width, in degrees.
    var toleranceDegrees: Double { Angle.normalizedDegrees(toDegrees - fromDegrees) / 2 }
    /// Its middle, in degrees.
    var bearingDegrees: Double { Angle.normalizedDegrees(fromDegrees + toleranceDegrees) }
    /// How far from the middle it is left, in degrees.
    var exitDegrees: Double { toleranceDegrees + marginDegrees }
}

/// What a detector found out about a sector with a heading.
struct SectorEvent: DetectorResult {
    let sector: HeadingSector
    let heading: HeadingEvent

    var timeNanoseconds: Int64 { heading.timeNanoseconds }

    func value(of figure: Figure.Name) -> Figure.Value? {
        figure == .sector ? .text(sector.name) : heading.value(of: figure)
    }
}
