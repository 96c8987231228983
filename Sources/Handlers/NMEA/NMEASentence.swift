import PlainText

/// The sentences of NMEA 0183 about a heading and an attitude; the raw value is the sentence formatter.
package enum NMEASentence: String, Sendable, CaseIterable {
    /// The heading by the magnetic sensor, its deviation, and the local variation.
    case hdg = "HDG"
    /// The magnetic heading.
    case hdm = "HDM"
    /// The true heading.
    case hdt = "HDT"
    /// The true heading, roll and pitch, which inertial units send; gpsd reads it behind HDT.
    case pashr = "PASHR"
    /// The rate of turn.
    case rot = "ROT"
    /// Pitch and roll.
    case xdr = "XDR"

    /// What the detector has to have for it, or it is never sent.
    enum Need: CaseIterable {
        case attitude, magnetometer, trueNorth, gyroscope

        /// Why a sentence is never sent without it, and the remedy.
        var lack: String {
            switch self {
            case .attitude: "only an [attitude.NAME] finds roll and pitch: name it as `detector`"
            case .magnetometer: "its [attitude.NAME] has no `magnetometer`: name the sensor of one there"
            case .trueNorth: "true north is not known without a place: add [position]"
            case .gyroscope: "its detector has gyroscope = \"none\": leave that out"
            }
        }
    }

    /// In the order in which what is missing is reported.
    private var needs: [Need] {
        switch self {
        case .hdg, .hdm: [.magnetometer]
        case .hdt: [.magnetometer, .trueNorth]
        case .pashr: [.attitude, .magnetometer, .trueNorth]
        case .rot: [.gyroscope]
        case .xdr: [.attitude]
        }
    }

    /// The first need that is among those which are not met.
    func lack(among unmet: Set<Need>) -> Need? { needs.first(where: unmet.contains) }

    /// The most bytes of the sentence, for the time that it takes on a serial line.
    var longestCount: Int {
        switch self {
        case .hdg: 28
        case .hdm, .hdt: 20
        case .pashr: 65
        case .rot: 21
        case .xdr: 45
        }
    }

    /// The sentence of a reading, from the dollar sign to the line end; `nil` when the reading lacks a required value.
    ///
    /// Deviation is empty, which the standard allows: the calibration has compensated for the iron on board, and the rest is
    /// unknown. An unknown variation is empty, too.
    package func text(_ heading: NavigationReading, talker: String) -> String? {
        let fields: String
        var start = talker + rawValue
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
            fields = "\(Self.number(rate * 60, 1)),A"
        case .pashr:
            guard let tilt = heading.tilt, let roll = tilt.rollDegrees, let degrees = heading.trueDegrees else {
                return nil
            }
            // A sentence of a manufacturer has no talker.
            start = rawValue
            let tiltDeviation = Self.number(tilt.accuracyDegrees.map { $0 / Self.ninetiethOfVerticals }, 3)
            fields = [
                // Without the time, which is that of a satellite receiver: gpsd 3.22 takes another one for the begin of another
                // report, and forgets roll and pitch.
                "", Self.bearing(degrees, 2), "T", Self.number(roll, 2), Self.number(tilt.pitchDegrees, 2),
                // The heave is not known.
                "", tiltDeviation, tiltDeviation,
                Self.number(heading.accuracyDegrees.map { $0 / Self.ninetiethOfHeadings }, 3),
                // Nothing here has a position by satellites.
                "0",
            ].joined(separator: ",")
        case .xdr:
            guard let tilt = heading.tilt else { return nil }
            let roll = tilt.rollDegrees.map { ",A,\(Self.number($0, 1)),D,ROLL" } ?? ""
            fields = "A,\(Self.number(tilt.pitchDegrees, 1)),D,PITCH\(roll)"
        }
        let body = "\(start),\(fields)"
        return "$\(body)*\(Self.checksum(of: body))\r\n"
    }

    /// The XOR of all bytes between `$` and `*`, as two hexadecimal digits.
    package static func checksum(of body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// Nine of ten errors of a normal distribution stay within this many standard deviations.
    private static let ninetiethOfHeadings = 1.645
    /// The same of a vertical, which errs about two axes (Rayleigh distribution, √(2 ln 10)).
    private static let ninetiethOfVerticals = 2.146

    /// A number with decimals, with nothing for one that is unknown.
    private static func number(_ value: Double?, _ decimals: Int) -> String {
        value.flatMap { Decimal.text($0, decimals: decimals) } ?? ""
    }

    /// A bearing from 0 and below 360.
    private static func bearing(_ degrees: Double, _ decimals: Int = 1) -> String {
        number(NavigationReading.direction(degrees, decimals: decimals), decimals)
    }

    private static func variation(_ degrees: Double?) -> String {
        guard let degrees else { return "," }
        return "\(number(abs(degrees), 1)),\((degrees * 10).rounded() < 0 ? "W" : "E")"
    }
}
