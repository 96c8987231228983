/// The sentences of NMEA 0183 about a heading; the raw value is the sentence formatter.
package enum NMEASentence: String, Sendable, CaseIterable {
    /// The heading by the magnetic sensor, its deviation, and the local variation.
    case hdg = "HDG"
    /// The magnetic heading.
    case hdm = "HDM"
    /// The true heading.
    case hdt = "HDT"
    /// The rate of turn.
    case rot = "ROT"

    /// The sentence of a heading, from the dollar sign to the line end; `nil` when the heading lacks a required value.
    ///
    /// Deviation is empty, which the standard allows: the calibration has compensated for the iron on board, and the rest is
    /// unknown. An unknown variation is empty, too.
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
        case .rot:
            // In degrees per minute; negative when the bow turns to port.
            guard let rate = heading.turnRateDegreesPerSecond else { return nil }
            let tenths = Int((rate * 600).rounded())
            fields = "\(tenths < 0 ? "-" : "")\(Self.decimal(abs(tenths))),A"
        }
        let body = "\(talker)\(rawValue),\(fields)"
        return "$\(body)*\(Self.checksum(of: body))\r\n"
    }

    /// The XOR of all bytes between `$` and `*`, as two hexadecimal digits.
    package static func checksum(of body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// A bearing from 0.0 to 359.9; ``NMEAHeading`` limits the degrees, so that the conversion to `Int` cannot fail.
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
