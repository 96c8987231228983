package import Binnacle

/// A valid heading, the attitude, or both, for instruments; degrees of headings need not be between 0 and 360.
package struct NavigationReading: Sendable, Equatable {
    /// From magnetic north; `nil` if only the true heading is known.
    private(set) var magneticDegrees: Double?
    /// From true north; `nil` without the declination.
    private(set) var trueDegrees: Double?
    /// The declination, which mariners call variation; positive to the east.
    let declinationDegrees: Double?
    /// The rate of change of the heading, in °/s; `nil` without a gyroscope.
    var turnRateDegreesPerSecond: Double?
    /// The error that nine of ten headings stay within, in degrees; `nil` when unknown.
    let accuracyDegrees: Double?
    /// How the body lies; `nil` when only a sensor's heading is known.
    private(set) var tilt: Tilt?
    /// The time of the sample by the wall clock, in nanoseconds since 1970; `nil` in a replay.
    let wallNanoseconds: Int64?
    let detector: String?

    /// Roll and pitch, in degrees, with the signs of ships and of NMEA 0183 and Signal K.
    struct Tilt: Sendable, Equatable {
        /// Positive with the starboard side down; `nil` with a vertical forward axis.
        let rollDegrees: Double?
        /// Positive with the bow up.
        let pitchDegrees: Double
        /// The error that nine of ten verticals stay within; `nil` when unknown.
        let accuracyDegrees: Double?
    }

    /// The range of detectors' headings.
    private static let bounds = -720.0...720.0
    /// The range of gyroscopes, in °/s.
    private static let rates = -10_000.0...10_000.0

    /// Extracts the heading and the attitude of an event, as the row of its kind says; `nil` when neither is valid.
    ///
    /// A heading that is only held is not valid: a plotter cannot distinguish it from a measured one.
    package init?(_ event: Event) {
        guard let owner = event.kind.row.heading else { return nil }
        wallNanoseconds = event.wallNanoseconds
        detector = event.detector
        declinationDegrees = event.number(.declination).flatMap { (-180.0...180.0).contains($0) ? $0 : nil }
        // A bow that points up or down, which has no roll, has no heading that turns.
        let bodyRate = event.number(.roll) == nil ? nil : Self.bodyTurnRate(event)
        let rate = owner == .body ? bodyRate : event.number(.turnRate)
        turnRateDegreesPerSecond = rate.flatMap { Self.rates.contains($0) ? $0 : nil }
        let accuracy = event.number(owner == .body ? .yawAccuracy : .accuracy)
        accuracyDegrees = accuracy
        tilt = owner == .body ? Tilt(event) : nil
        if event.figure(.age) == nil, accuracy.map({ $0 >= 0 }) ?? true, let heading = event.number(.heading),
            Self.bounds.contains(heading)
        {
            let reference: HeadingReference?
            switch event.figure(.reference) {
            case nil: reference = owner == .sensor ? .magnetic : nil
            case .word(let word as HeadingReference): reference = word
            default: reference = nil
            }
            switch reference {
            case .true:
                trueDegrees = heading
                magneticDegrees = declinationDegrees.map { heading - $0 }
            case .magnetic:
                magneticDegrees = heading
                trueDegrees = declinationDegrees.map { heading + $0 }
            case .relative, nil: break
            }
        }
        guard hasHeading || tilt != nil else { return nil }
    }

    /// The same direction from 0 and below 360, with one or two decimals: rounded first, because 359.96° is 0.0°.
    static func direction(_ degrees: Double, decimals: Int) -> Double {
        let scale = decimals == 1 ? 10.0 : 100
        let turn = (degrees * scale).rounded().truncatingRemainder(dividingBy: 360 * scale)
        return (turn < 0 ? turn + 360 * scale : turn) / scale
    }

    var hasHeading: Bool { magneticDegrees != nil || trueDegrees != nil }

    /// The part whose error stays within a limit, in degrees; `nil` when there is none.
    func within(_ limitDegrees: Double) -> NavigationReading? {
        var reading = self
        if accuracyDegrees ?? 0 > limitDegrees { (reading.magneticDegrees, reading.trueDegrees) = (nil, nil) }
        if tilt?.accuracyDegrees ?? 0 > limitDegrees { reading.tilt = nil }
        return reading.hasHeading || reading.tilt != nil ? reading : nil
    }

    /// How fast the heading of a body grows, in °/s, by the rates about its axes, of which x is the forward one in either frame.
    ///
    /// Gravity, as a specific force, points up.
    private static func bodyTurnRate(_ event: Event) -> Double? {
        func vector(_ x: Figure.Name, _ y: Figure.Name, _ z: Figure.Name) -> SIMD3<Double>? {
            guard let x = event.number(x), let y = event.number(y), let z = event.number(z) else { return nil }
            return SIMD3(x, y, z)
        }
        guard let rate = vector(.rateX, .rateY, .rateZ), let gravity = vector(.gravityX, .gravityY, .gravityZ),
            gravity != .zero
        else { return nil }
        return headingRate(of: SIMD3(1, 0, 0), up: gravity / (gravity * gravity).sum().squareRoot(), rate: rate)
    }
}

extension NavigationReading.Tilt {
    /// Extracts the angles of an attitude; `nil` when they are missing or no angles.
    fileprivate init?(_ event: Event) {
        let range = -180.0...180.0
        guard let pitch = event.number(.pitch), range.contains(pitch),
            case .word(let frame as EarthFrame) = event.figure(.frame)
        else { return nil }
        let accuracy = event.number(.tiltAccuracy)
        guard accuracy.map({ $0 >= 0 }) ?? true else { return nil }
        accuracyDegrees = accuracy
        // In the frame of robots a pitch is positive with the nose down; a roll is the same in both.
        pitchDegrees = frame == .enu ? -pitch : pitch
        rollDegrees = event.number(.roll).flatMap { range.contains($0) ? $0 : nil }
    }
}
