import PlainText

/// A client's request for live readings.
package struct LiveValuesRequest: Sendable, Equatable {
    /// The length of the intervals; at least the shortest.
    package var intervalNanoseconds: Int64
    /// The sensors; `nil` for all.
    package var sensors: Set<String>?
    /// Whether detectors of vibration show the spectrum of the last second.
    package var hasSpectrum: Bool

    /// The range of intervals in nanoseconds: no screen displays more, and for longer intervals a client polls the status.
    package static let intervals: ClosedRange<Int64> = 30_000_000...60_000_000_000

    /// Requests the readings of all sensors, ten times a second.
    package init(intervalNanoseconds: Int64 = 100_000_000, hasSpectrum: Bool = false) {
        self.intervalNanoseconds = intervalNanoseconds
        self.hasSpectrum = hasSpectrum
    }

    var json: String {
        var body = JSONObject()
        body.add("interval_s", raw: "\(Double(intervalNanoseconds) / 1e9)")
        if let sensors { body.add("sensors", list: sensors.map(JSONObject.quoted).sorted()) }
        if hasSpectrum { body.add("spectrum", raw: "true") }
        return body.text
    }

    init(reading body: LocatedJSONValue) throws(SocketRequest.SyntaxError) {
        self.init()
        for member in try body.requireMembers() {
            switch member.key {
            case "interval_s":
                intervalNanoseconds = try member.value.interval(in: Self.intervals, "0.03 to 60")
            case "sensors": sensors = try member.value.sensorNames()
            case "spectrum": hasSpectrum = try member.value.boolean("spectrum")
            default: throw member.unknownKey(among: ["interval_s", "sensors", "spectrum"])
            }
        }
    }

    /// What serves both, for all sensors; what one alone does not want, its subscription leaves out.
    package static func joined(_ requests: some Sequence<LiveValuesRequest>) -> LiveValuesRequest? {
        var result: LiveValuesRequest?
        for request in requests {
            result = LiveValuesRequest(
                intervalNanoseconds: min(result?.intervalNanoseconds ?? .max, request.intervalNanoseconds),
                hasSpectrum: result?.hasSpectrum ?? false || request.hasSpectrum)
        }
        return result
    }
}
