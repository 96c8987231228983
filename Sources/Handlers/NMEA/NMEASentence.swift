/// The sentences of NMEA 0183 that tell a heading; the raw value is the formatter, which stands behind the talker.
package enum NMEASentence: String, Sendable, CaseIterable {
    /// The heading by the magnetic sensor, its deviation, and the variation of the place.
    case hdg = "HDG"
    /// The magnetic heading.
    case hdm = "HDM"
    /// The true heading.
    case hdt = "HDT"

    /// The sentence of a heading, from the dollar sign to the line end.
    ///
    /// Deviation is left empty, which the standard allows: whatever compensates for the iron on board has done so before
    /// there is a heading, and what remains of it is not known. A variation that is not known is left empty as well.
    ///
    /// - Parameters:
    ///   - heading: The heading.
    ///   - talker: Two letters that say what kind of device speaks.
    /// - Returns: ASCII; `nil` when the sentence tells what is not known of this heading.
    package func text(_ heading: NMEAHeading, talker: String) -> String? {
        let fields: String
        switch self {
        case .hdg:
            guard let magnetic = heading.magneticDegrees else { return nil }
            fields = "\(Self.bearing(magnetic)),,,\(Self.variation(heading.declinationDegrees))"
        case .hdm:
            guard let magnetic = heading.magneticDegrees else { return nil }
            fields = "\(Self.bearing(magnetic)),M"
        case .hdt:
            guard let degrees = heading.trueDegrees else { return nil }
            fields = "\(Self.bearing(degrees)),T"
        }
        let body = "\(talker)\(rawValue),\(fields)"
        return "$\(body)*\(Self.checksum(of: body))\r\n"
    }

    /// The exclusive or of all bytes between `$` and `*`, as two hexadecimal digits.
    package static func checksum(of body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// A bearing from 0.0 to 359.9; what would round to 360.0 is north.
    ///
    /// - Parameter degrees: A finite number that an integer of tenths can hold.
    /// - Returns: The number with one decimal.
    private static func bearing(_ degrees: Double) -> String {
        let tenths = Int((degrees * 10).rounded()) % 3600
        return decimal(tenths < 0 ? tenths + 3600 : tenths)
    }

    private static func variation(_ degrees: Double?) -> String {
        guard let degrees else { return "," }
        let tenths = Int((degrees * 10).rounded())
        return "\(decimal(abs(tenths))),\(tenths < 0 ? "W" : "E")"
    }

    private static func decimal(_ tenths: Int) -> String {
        "\(tenths / 10).\(tenths % 10)"
    }
}
