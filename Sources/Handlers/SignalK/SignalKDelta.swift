import PlainText

/// Deltas of Signal K 1.7 in SI units, one JSON object a line.
///
/// The specification: https://signalk.org/specification/1.7.0/doc/data_model.html
package struct SignalKDelta: NavigationFormat {
    /// The label of the source; a server may put the name of its connection in its place.
    private static let label = "Binnacle sensor daemon"
    /// A millionth of a radian is less than the error of any of the angles.
    private static let decimals = 6

    package init() {}

    /// The one delta of what is known.
    package func messages(_ reading: NavigationReading, at wallNanoseconds: Int64) -> [String] {
        var values: [String] = []
        func add(_ path: String, _ value: String) {
            values.append(JSONObject.text(["path": JSONObject.quoted("navigation.\(path)"), "value": value]))
        }
        if let degrees = reading.magneticDegrees { add("headingMagnetic", Self.direction(degrees)) }
        if let degrees = reading.trueDegrees { add("headingTrue", Self.direction(degrees)) }
        if let degrees = reading.declinationDegrees { add("magneticVariation", Self.angle(degrees)) }
        // Positive when the bow turns to starboard.
        if let degrees = reading.turnRateDegreesPerSecond { add("rateOfTurn", Self.angle(degrees)) }
        if let tilt = reading.tilt {
            var attitude = JSONObject()
            if let roll = tilt.rollDegrees { attitude.add("roll", raw: Self.angle(roll)) }
            attitude.add("pitch", raw: Self.angle(tilt.pitchDegrees))
            if let yaw = reading.trueDegrees ?? reading.magneticDegrees {
                // Within half a turn: in NMEA 2000, to which servers translate it, a whole one does not fit.
                attitude.add("yaw", raw: Self.angle(yaw.remainder(dividingBy: 360)))
            }
            add("attitude", attitude.text)
        }
        guard !values.isEmpty else { return [] }
        var source = JSONObject()
        source.add("label", Self.label)
        source.add("type", "signalk")
        if let detector = reading.detector { source.add("src", detector) }
        let time = JSONObject.quoted(WallTime.text(wallNanoseconds))
        let update = JSONObject.text(["source": source.text, "timestamp": time, "values": JSONObject.list(values)])
        return [JSONObject.text(["context": "\"vessels.self\"", "updates": "[\(update)]"]) + "\n"]
    }

    /// A direction from 0 and below 2π.
    private static func direction(_ degrees: Double) -> String {
        angle(NavigationReading.direction(degrees, decimals: 2))
    }

    private static func angle(_ degrees: Double) -> String {
        (degrees * .pi / 180).text(decimals)
    }
}
