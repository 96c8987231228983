package import Binnacle
import PlainText

package struct SamplesRequest: Sendable, Equatable {
    /// The sensors; `nil` for all.
    package var sensors: Set<String>?
    /// What the samples measure; `nil` for all kinds.
    package var kinds: Set<SampleKind>?
    /// Whether the calibrations of the sensors are left out.
    package var isRaw = false
    /// How long samples are collected for one line; 0 sends what the daemon reads at once.
    package var intervalNanoseconds: Int64 = 0

    /// The longest interval in nanoseconds, after which the samples of the fastest chips still fit the memory.
    package static let longestInterval: Int64 = 1_000_000_000

    private static let keys = ["sensors", "kinds", "raw", "interval_s"]

    /// Requests the corrected samples of all sensors, or of those named.
    package init(sensors: Set<String>? = nil, kinds: Set<SampleKind>? = nil) {
        (self.sensors, self.kinds) = (sensors, kinds)
    }

    var json: String {
        var body = JSONObject()
        if let sensors { body.add("sensors", list: sensors.map(JSONObject.quoted).sorted()) }
        if let kinds { body.add("kinds", list: kinds.map { JSONObject.quoted($0.rawValue) }.sorted()) }
        if isRaw { body.add("raw", raw: "true") }
        if intervalNanoseconds > 0 { body.add("interval_s", raw: "\(Double(intervalNanoseconds) / 1e9)") }
        return body.text
    }

    init(reading body: LocatedJSONValue) throws(SocketRequest.SyntaxError) {
        for member in try body.requireMembers() {
            let value = member.value
            switch member.key {
            case "sensors": sensors = try value.sensorNames()
            case "kinds": kinds = try value.kinds("kind of samples")
            case "raw": isRaw = try value.boolean("raw")
            case "interval_s":
                intervalNanoseconds = try value.interval(in: 0...Self.longestInterval, "0 to 1")
            default: throw member.unknownKey(among: Self.keys)
            }
        }
    }

    /// The chosen ones of the streams that there are.
    ///
    /// - Throws: A message that names the sensors that there are, when one that the request names is missing, or none is chosen.
    package func chosen(from streams: [SampleOrigin]) throws(Missing) -> [SampleOrigin] {
        let present = SampleOrigin.text(of: streams)
        if let name = sensors?.sorted().first(where: { name in !streams.contains { $0.sensor == name } }) {
            throw Missing(
                message: "no detector uses a sensor \(Spelling.quoted(name)), and others are not read: \(present); "
                    + "a section such as [motion.NAME] names its sensor, or its own has `samples`")
        }
        let chosen = streams.filter { sensors?.contains($0.sensor) ?? true && kinds?.contains($0.kind) ?? true }
        guard !chosen.isEmpty else {
            throw Missing(message: "no sensor has the samples that were asked for: \(present)")
        }
        return chosen.map { $0.raw(isRaw) }
    }

    /// The daemon lacks what a request names.
    package struct Missing: Error {
        /// What is missing, and what there is.
        package let message: String
    }
}
