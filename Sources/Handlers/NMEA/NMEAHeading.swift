package import Binnacle

/// A valid heading for sentences; degrees need not be between 0 and 360.
package struct NMEAHeading: Sendable, Equatable {
    /// From magnetic north; `nil` when only the true heading is known.
    let magneticDegrees: Double?
    /// From true north; `nil` when the declination is not known.
    let trueDegrees: Double?
    /// The declination, which mariners call variation; positive to the east.
    let declinationDegrees: Double?
    /// How fast the heading grows, in °/s; `nil` when no gyroscope measures it.
    let turnRateDegreesPerSecond: Double?

    /// No detector finds headings beyond these bounds.
    private static let bounds = -720.0...720.0
    /// No gyroscope measures more, in °/s.
    private static let rates = -10_000.0...10_000.0

    /// Takes the heading out of an event; `nil` when it is invalid, or only held because there is no new one: a plotter
    /// cannot tell that from a heading that was measured.
    package init?(_ event: Event) {
        guard event.figure(.age) == nil, event.number(.accuracy).map({ $0 >= 0 }) ?? true,
            let heading = event.number(.heading), Self.bounds.contains(heading)
        else { return nil }
        turnRateDegreesPerSecond = event.number(.turnRate).flatMap { Self.rates.contains($0) ? $0 : nil }
        let declination = event.number(.declination).flatMap { (-180.0...180.0).contains($0) ? $0 : nil }
        declinationDegrees = declination
        let reference: HeadingEvent.Reference
        switch event.figure(.reference) {
        case nil: reference = .magnetic
        case .word(let word as HeadingEvent.Reference): reference = word
        default: return nil
        }
        switch reference {
        case .true:
            trueDegrees = heading
            magneticDegrees = declination.map { heading - $0 }
        case .magnetic:
            magneticDegrees = heading
            trueDegrees = declination.map { heading + $0 }
        }
    }
}
