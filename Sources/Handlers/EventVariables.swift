package import Binnacle
import PlainText

/// What an event says, as variables: the journal has them as fields, commands in their environment.
package enum EventVariables {
    /// The variables that an event has a value for, in the order of its JSON.
    ///
    /// - Returns: Names in capitals that begin with `BINNACLE_`, such as `BINNACLE_PEAK_G`; the rest of a name is the key
    ///   that the value has in JSON.
    package static func all(of event: Event) -> [(name: String, value: String)] {
        var variables = [("seq", String(event.sequence)), ("kind", event.kind.rawValue)]
        if let detector = event.detector { variables.append(("detector", detector)) }
        if let sensor = event.sensor { variables.append(("sensor", sensor)) }
        variables.append(("time_ns", String(event.timeNanoseconds)))
        if let wall = event.wallNanoseconds { variables.append(("wall_time", WallTime.text(wall))) }
        if event.isSimulated { variables.append(("simulated", "1")) }
        variables += event.figures.map { ($0.name.rawValue, $0.value.description) }
        return variables.map { ("BINNACLE_" + $0.0.uppercased(), $0.1) }
    }
}
