import Binnacle
import PlainText

/// A daemon's status in the text format 0.0.4 of Prometheus
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct MetricsText {
    /// A metric: name, type, description, and the location of its values in the status.
    private struct Row: Sendable {
        let name: String
        let type: String
        let help: String
        let values: @Sendable (JSONValue) -> [Value]

        /// The name has no prefix here, and its end says the type.
        init(_ name: String, _ help: String, _ values: @escaping @Sendable (JSONValue) -> [Value]) {
            self.name = "binnacle_" + name
            let isHistogram = name.hasSuffix("_duration_seconds")
            type = isHistogram ? "histogram" : name.hasSuffix("_total") ? "counter" : "gauge"
            self.help = help
            self.values = values
        }
    }

    /// A value with its labels; in a histogram also the suffix of its name.
    private struct Value {
        var suffix = ""
        var labels: [(String, String?)] = []
        let number: String?
    }

    private static let rows: [Row] = [
        Row("up", "1 while the daemon answers.") { _ in [Value(number: "1")] },
        Row("info", "The version that runs; always 1.") {
            [Value(labels: [("version", $0["version"]?.text)], number: "1")]
        },
        Row("healthy", "1 when everything works that is configured.") {
            [Value(number: flag($0["state"]?.text == "ok"))]
        },
        Row("uptime_seconds", "How long the daemon has been running.") { [Value(number: number($0["uptime_s"]))] },
        Row("sensor_active", "1 unless the sensor is missing or has failed.") { sensors($0, "active") },
        Row("sensor_idle", "1 while the sensor is not read because nothing needs it.") { sensors($0, "idle") },
        Row("sensor_sleeping", "1 while the sensor's samples are off because nothing moves.") {
            sensors($0, "sleeping")
        },
        Row("sample_age_seconds", "The age of the latest sample; not there while the sensor is idle or sleeping.") {
            streams($0, "last_sample_s", isOfNow: true)
        },
        Row("sample_rate_hertz", "The recent sampling rate; not there while the sensor is idle or sleeping.") {
            streams($0, "rate_hz", isOfNow: true)
        },
        Row("samples_total", "The samples that were read.") { streams($0, "samples") },
        Row("samples_lost_total", "The samples that are known to be lost.") { streams($0, "lost_samples") },
        Row("sample_losses_total", "How often samples were lost.") { streams($0, "losses") },
        Row("sample_gaps_total", "The interruptions longer than a second.") { streams($0, "gaps") },
        Row("events_total", "The events, by detector, or by sensor where there is none.") {
            $0["events_total"].items.map { event in
                Value(
                    labels: [
                        ("detector", event["detector"]?.text ?? ""), ("sensor", event["sensor"]?.text ?? ""),
                        ("kind", event["kind"]?.text),
                    ], number: number(event["count"]))
            }
        },
        Row("detector_running", "1 while the detector has its sensors.") {
            detectors($0) { flag($0["running"] == .boolean(true)) }
        },
        Row("detector_state", "The state that the detector is in; always 1.") { status in
            status["detectors"].items.compactMap { detector in
                detector["state"].map { Value(labels: Self.detector(detector) + [("state", $0.text)], number: "1") }
            }
        },
        Row("detector_value", "A value of the detector; the unit ends the name.") { status in
            status["detectors"].items.flatMap { detector -> [Value] in
                guard case .object(let members) = detector else { return [] }
                return Figure.figures(of: members).map { figure in
                    Value(
                        labels: Self.detector(detector) + [("name", figure.name.rawValue)],
                        number: number(detector[figure.name.rawValue]))
                }
            }
        },
        Row("heading_degrees", "The heading; not there while it is not valid.") {
            detectors($0) { number($0["heading_deg"]) }
        },
        Row("heading_accuracy_degrees", "The error that nine of ten headings stay within.") {
            // A yaw without a heading is relative.
            detectors($0) { detector in
                number(detector["accuracy_deg"])
                    ?? (number(detector["heading_deg"]) == nil ? nil : number(detector["yaw_accuracy_deg"]))
            }
        },
        Row("handler_up", "1 while the handler works.") { handlers($0) { flag($0["failure"]?.text == nil) } },
        Row("handler_armed", "1 while the handler gets events, 0 while it is disarmed.") {
            handlers($0) { flag($0["armed"] != .boolean(false)) }
        },
        Row("handler_queued_events", "The events that wait for the handler.") {
            handlers($0) { handler in
                handler["queued"]?.integer.map { sum($0, handler["stored"]?.integer ?? 0) }
            }
        },
        Row("handler_dropped_events_total", "The events that the handler never got.") {
            handlers($0) { number($0["dropped"]) }
        },
        Row(
            "handler_left_out_events_total",
            "The events that rate_limit and quiet_hours left out, or that came while it was disarmed."
        ) {
            handlers($0) { number($0["left_out"]) }
        },
        Row("handler_finished_total", "The commands that succeeded.") { handlers($0) { number($0["finished"]) } },
        Row("handler_failed_total", "The commands that failed; each attempt counts.") {
            handlers($0) { number($0["failed"]) }
        },
        Row("command_duration_seconds", "How long commands took.") { status in
            status["handlers"].items.flatMap(histogram)
        },
        Row("store_up", "1 while events are kept.") { status in
            store(status) { flag($0["failure"]?.text == nil) }
        },
        Row("store_size_bytes", "The size of the store's file.") { store($0) { number($0["bytes"]) } },
        Row("store_events", "The events that are kept.") { store($0) { number($0["events"]) } },
        Row("store_unsaved_events_total", "The events that were not kept.") {
            store($0) { store in
                guard let unstored = store["not_stored"]?.integer, let dropped = store["dropped"]?.integer else {
                    return nil
                }
                return sum(unstored, dropped)
            }
        },
        Row("socket_connections", "The programs that are connected.") { status in
            guard let socket = status["socket"], socket != .null else { return [] }
            return [Value(number: number(socket["connections"]))]
        },
        Row("config_last_reload_success", "1 unless the configuration on the disk was refused.") {
            [Value(number: flag($0["configuration"]?["refused"]?.text == nil))]
        },
        Row("resident_memory_bytes", "The memory that the daemon has in use.") {
            [Value(number: number($0["resident_bytes"]))]
        },
        Row("cpu_seconds_total", "The processor time of the daemon.") { [Value(number: number($0["cpu_s"]))] },
    ]

    /// The metrics while no daemon answers, for a file, in which those from before would go on.
    static let away = "# HELP binnacle_up 1 while the daemon answers.\n# TYPE binnacle_up gauge\nbinnacle_up 0\n"

    /// Formats a status; every line ends with a newline.
    static func text(_ status: JSONValue) -> String {
        var text = ""
        for row in rows {
            let values = row.values(status).filter { $0.number != nil }
            guard !values.isEmpty else { continue }
            text += "# HELP \(row.name) \(row.help)\n# TYPE \(row.name) \(row.type)\n"
            // Each series may occur once, so a duplicate is omitted.
            var seen: Set<String> = []
            for value in values {
                let series = row.name + value.suffix + labels(value.labels)
                guard seen.insert(series).inserted, let number = value.number else { continue }
                text += "\(series) \(number)\n"
            }
        }
        return text
    }

    private static func labels(_ labels: [(String, String?)]) -> String {
        let parts = labels.map { "\($0)=\"\(escaped($1 ?? ""))\"" }
        return parts.isEmpty ? "" : "{" + parts.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.printable.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        }.joined(separator: "\\n")
    }

    // MARK: - Parts of a status

    /// The sum of two counts of a daemon, or of what answers in its place.
    private static func sum(_ first: Int64, _ second: Int64) -> String {
        let (sum, isOver) = first.addingReportingOverflow(second)
        return String(isOver ? .max : sum)
    }

    private static func flag(_ isSet: Bool) -> String { isSet ? "1" : "0" }

    private static func number(_ value: JSONValue?) -> String? { StatusText.number(value) }

    private static func sensor(_ sensor: JSONValue) -> [(String, String?)] { [("sensor", sensor["name"]?.text)] }

    private static func sensors(_ status: JSONValue, _ key: String) -> [Value] {
        status["sensors"].items.map { Value(labels: sensor($0), number: flag($0[key] == .boolean(true))) }
    }

    /// A value of now is left out where samples are off by design, which must not look like a silent sensor.
    private static func streams(_ status: JSONValue, _ key: String, isOfNow: Bool = false) -> [Value] {
        status["sensors"].items.flatMap { sensor -> [Value] in
            let isOff = sensor["idle"] == .boolean(true) || sensor["sleeping"] == .boolean(true)
            guard !(isOfNow && isOff) else { return [] }
            return sensor["streams"].items.map { stream in
                Value(
                    labels: Self.sensor(sensor) + [("kind", stream["kind"]?.text)], number: number(stream[key]))
            }
        }
    }

    private static func detectors(_ status: JSONValue, _ value: (JSONValue) -> String?) -> [Value] {
        status["detectors"].items.map { Value(labels: detector($0), number: value($0)) }
    }

    private static func detector(_ detector: JSONValue) -> [(String, String?)] {
        [("detector", detector["name"]?.text)]
    }

    private static func handlers(_ status: JSONValue, _ value: (JSONValue) -> String?) -> [Value] {
        status["handlers"].items.map {
            Value(labels: [("handler", $0["name"]?.text), ("action", $0["action"]?.text)], number: value($0))
        }
    }

    private static func store(_ status: JSONValue, _ value: (JSONValue) -> String?) -> [Value] {
        guard let store = status["store"], store != .null else { return [] }
        return [Value(number: value(store))]
    }

    private static func histogram(_ handler: JSONValue) -> [Value] {
        guard let durations = handler["duration_s"], let count = number(durations["count"]) else { return [] }
        let labels = [("handler", handler["name"]?.text)]
        let buckets = durations["buckets"].items.compactMap { bucket -> Value? in
            let pair = bucket.items
            guard pair.count == 2, let limit = number(pair[0]), let count = number(pair[1]) else { return nil }
            return Value(suffix: "_bucket", labels: labels + [("le", limit)], number: count)
        }
        return buckets + [
            Value(suffix: "_bucket", labels: labels + [("le", "+Inf")], number: count),
            Value(suffix: "_sum", labels: labels, number: number(durations["sum_s"])),
            Value(suffix: "_count", labels: labels, number: count),
        ]
    }
}
