import Binnacle
import PlainText

/// Formats a daemon's status as text, problems first.
enum StatusText {
    /// Lines without newlines.
    static func lines(_ status: JSONValue) -> [String] {
        let state = status["state"]?.text ?? "?"
        var lines = [
            "binnacle \(word(status["version"])): \(state), running for \(time(status["uptime_s"])), "
                + "process \(word(status["pid"])), last event \(word(status["seq"]))"
        ]
        lines += status["problems"].items.map { "  wrong: \(word($0))" }
        if let configuration = status["configuration"] {
            let files = configuration["files"].items.map(word).joined(separator: ", ")
            lines.append(
                "configuration: \(files.isEmpty ? "none" : files), in force for \(time(configuration["read_s"]))")
            if let refused = configuration["refused"]?.text {
                lines += refused.split(separator: "\n").map { "  refused since: \($0)" }
            }
        }
        for sensor in status["sensors"].items { lines += Self.sensor(sensor) }
        for detector in status["detectors"].items {
            lines.append(
                "detector \(word(detector["name"])): "
                    + (isTrue(detector["waiting"])
                        ? "waits for its sensor" : isTrue(detector["running"]) ? "running" : "not running")
                    + values(detector) + gyroscope(detector["gyroscope"]))
        }
        for handler in status["handlers"].items { lines.append(Self.handler(handler)) }
        lines.append(store(status["store"]))
        return lines + socket(status["socket"]) + desktop(status["dbus"])
    }

    private static func sensor(_ sensor: JSONValue) -> [String] {
        let simulated = isTrue(sensor["simulated"]) ? " (simulated)" : ""
        let absence = isTrue(sensor["waiting"]) ? "none on this machine" : "inactive"
        let state =
            isTrue(sensor["idle"])
            ? "not read, because no handler or client needs it"
            : isTrue(sensor["sleeping"])
                ? "sleeping until its chip reports movement" : isTrue(sensor["active"]) ? "active" : absence
        let head = "sensor \(word(sensor["name"])): \(state)\(simulated)"
        return [head]
            + sensor["streams"].items.map { stream in
                let rate = stream["rate_hz"].flatMap { $0 == .null ? nil : word($0) + " Hz" } ?? "rate not known yet"
                let age = stream["last_sample_s"].flatMap { $0 == .null ? nil : "last sample \(time($0)) ago" }
                var parts = [rate, age ?? "no sample yet", "\(word(stream["samples"])) samples"]
                if stream["losses"]?.integer != 0 {
                    parts.append("\(word(stream["lost_samples"])) lost in \(word(stream["losses"])) losses")
                }
                if stream["gaps"]?.integer != 0 { parts.append("\(word(stream["gaps"])) gaps") }
                return "  \(word(stream["kind"])): " + parts.joined(separator: ", ")
            }
    }

    /// The state of a detector and its latest values; may be empty.
    private static func values(_ detector: JSONValue) -> String {
        guard case .object(let members) = detector else { return "" }
        let texts = [detector["state"]?.text].compactMap { $0 } + Figure.figures(of: members).compactMap(\.text)
        return texts.isEmpty ? "" : ": " + texts.joined(separator: ", ")
    }

    /// The gyroscope offset that a detector has learned; may be empty.
    private static func gyroscope(_ gyroscope: JSONValue?) -> String {
        guard let gyroscope, gyroscope != .null else { return "" }
        let offset = gyroscope["offset_dps"].items.map(word).joined(separator: ", ")
        var text = "; gyroscope's offset \(offset)°/s ± \(word(gyroscope["offset_sigma_dps"]))"
        if gyroscope["scale"] != nil {
            text += ", scale \(word(gyroscope["scale"])) ± \(word(gyroscope["scale_sigma"]))"
        }
        if gyroscope["iron_uT"] != nil {
            let iron = gyroscope["iron_uT"].items.map(word).joined(separator: ", ")
            text += "; iron \(iron) µT ± \(word(gyroscope["iron_sigma_uT"]))"
        }
        if let alone = number(gyroscope["alone_s"]).flatMap({ Double($0) }), alone >= 1 {
            text += ", without the magnetometer for \(DurationText.text(alone))"
        }
        return text
    }

    private static func handler(_ handler: JSONValue) -> String {
        var parts = handler["armed"] == .boolean(false) ? ["DISARMED"] : []
        parts.append("\(word(handler["queued"])) queued")
        if let stored = handler["stored"] {
            parts.append("\(word(stored)) waiting in the store")
        }
        let counts = [
            ("finished", "finished"), ("failed", "failed"), ("dropped", "dropped"),
            ("left_out", "left out by decorators or while disarmed"),
        ]
        for (key, text) in counts {
            if let count = handler[key]?.integer, count != 0 { parts.append("\(count) \(text)") }
        }
        if let failure = handler["failure"]?.text { parts.append("FAILS: \(failure)") }
        return "handler \(word(handler["name"])) (\(word(handler["action"]))): " + parts.joined(separator: ", ")
    }

    private static func store(_ store: JSONValue?) -> String {
        guard let store, store != .null else { return "store: none" }
        let size = store["bytes"]?.integer.map { "\(($0 + 999) / 1000) kB" } ?? "?"
        let failure = store["failure"]?.text.map { ", FAILS: \($0)" } ?? ""
        return "store \(word(store["path"])): \(word(store["events"])) events, \(size), "
            + "\(word(store["queued"])) to be stored, \(word(store["dropped"])) dropped, "
            + "\(word(store["not_stored"])) not stored\(failure)"
    }

    private static func socket(_ socket: JSONValue?) -> [String] {
        guard let socket, socket != .null else { return ["socket: none"] }
        let subscribers = socket["subscribers"].items.map { subscriber in
            "process \(word(subscriber["pid"])) of account \(word(subscriber["uid"])), "
                + "\(word(subscriber["behind"])) behind, \(word(subscriber["missed"])) missed"
        }
        let connections = word(socket["connections"])
        return [
            "socket \(word(socket["path"])): \(connections) connection\(connections == "1" ? "" : "s"), "
                + "\(word(socket["refused"])) refused"
        ]
            + subscribers.map { "  subscriber: \($0)" }
    }

    private static func desktop(_ bus: JSONValue?) -> [String] {
        guard let bus, bus != .null else { return [] }
        let names = bus["names"].items.map(word).joined(separator: ", ")
        let claims = ["accelerometer", "light", "proximity", "compass"].compactMap { sensor -> String? in
            guard let count = bus["claims"]?[sensor]?.integer, count > 0 else { return nil }
            return "\(sensor) claimed by \(count)"
        }
        let parts = [names.isEmpty ? "no name yet" : names] + claims + ["\(word(bus["broadcast"])) events sent"]
        let failure = bus["failure"]?.text.map { ", FAILS: \($0)" } ?? ""
        return ["system bus: " + parts.joined(separator: ", ") + failure]
    }

    /// A number as in the status; `nil` if it is unknown.
    static func number(_ value: JSONValue?) -> String? {
        guard case .number(let text)? = value else { return nil }
        return text
    }

    private static func isTrue(_ value: JSONValue?) -> Bool { value == .boolean(true) }

    /// A number or a text; `-` if it is unknown.
    private static func word(_ value: JSONValue?) -> String {
        number(value) ?? value?.text ?? "-"
    }

    private static func time(_ value: JSONValue?) -> String {
        number(value).flatMap { Double($0) }.map(DurationText.text) ?? "-"
    }
}
