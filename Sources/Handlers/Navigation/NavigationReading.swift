package import Binnacle

/// A valid heading for sentences; degrees need not be between 0 and 360.
package struct NMEAHeading: Sendable, Equatable {
    /// From magnetic north; `nil` if only the true heading is known.
    let magneticDegrees: Double?
    /// From true north; `nil` without the declination.
    let trueDegrees: Double?
    /// The declination, which mariners call variation; positive to the east.
    let declinationDegrees: Double?
    /// The rate of change of the heading, in °/s; `nil` without a gyroscope.
    let turnRateDegreesPerSecond: Double?

    /// The range of detectors' headings.
    private static let bounds = -720.0...720.0
    /// The range of gyroscopes, in °/s.
    private static let rates = -10_000.0...10_000.0

    /// Extracts the heading of an event; `nil` when it is invalid, or only held: a plotter cannot distinguish that from a
    /// measured one.
    package init?(_ event: Event) {
        guard event.figure(.age) == nil, event.number(.accuracy).map({ $0 >= 0 }) ?? true,
            let heading = event.number(.heading), Self.bounds.contains(heading)
        else { return nil }
        turnRateDegreesPerSecond = event.number(.turnRate).flatMap { Self.rates.contains($0) ? $0 : nil }
        let declination = event.number(.declination).flatMap { (-180.0...180.0).contains($0) ? $0 : nil }
        declinationDegrees = declination
        let reference: HeadingReference
        switch event.figure(.reference) {
        case nil: reference = .magnetic
        case .word(let word as HeadingReference): reference = word
        default: return nil
        }
        switch reference {
        case .true:
            trueDegrees = heading
            magneticDegrees = declination.map { heading - $0 }
        case .magnetic:
            magneticDegrees = heading
            trueDegrees = declination.map { heading + $0 }
        case .relative: return nil
        }
    }
}
