import LinuxSystem
import TableReading

/// Where readings are sent, and how often; the defaults are those of the configuration.
package struct NavigationSettings: Sendable, Equatable {
    /// Each message in a datagram, to all clients of a TCP server, or to a serial line.
    package enum Transport: String, Sendable {
        case udp, tcp, serial
    }

    package var transport: Transport
    /// The receiver's name or address, that of this machine on which the server listens, or the path of the line's device.
    package var host: String
    /// The port; for a server, 0 lets the system choose.
    package var port: Int
    /// The bits a second of a serial line.
    package var baud: Baud = .b4800
    /// The interval between messages.
    ///
    /// The default is that of compasses on boats, whose NMEA 2000 message of the heading is sent ten times a second.
    package var interval: Duration = .milliseconds(100)
    /// A heading, or a vertical, whose error may be larger than this, in degrees, counts as invalid.
    package var accuracyLimitDegrees = 15.0

    package init(_ transport: Transport, host: String, port: Int) {
        self.transport = transport
        self.host = host
        self.port = port
    }

    /// A place for the defaults of the other keys.
    static var unknown: NavigationSettings { NavigationSettings(.udp, host: "", port: 0) }

    /// The URL or the path, for messages.
    var address: String {
        guard transport != .serial else { return host }
        return "\(transport.rawValue)://" + (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }

    /// What only one handler can have: the port on which a server listens, or a serial line, by the device to which its path leads.
    func exclusivePlaces(_ key: String) -> [(words: String, key: String, name: String, hint: String?)] {
        switch transport {
        case .udp: return []
        case .tcp:
            let isEvery = ["0.0.0.0", "::"].contains(host)
            return [("TCP port", key, "\(port) of \(isEvery ? "all addresses" : host.lowercased())", nil)]
        case .serial:
            // A line that is not plugged in has its path alone.
            return [("serial line", key, resolvedPath(host) ?? host.plainPath, nil)]
        }
    }

    /// Reads the place, and refuses an address without a receiver; `nil` when it is invalid, which is then reported.
    init?(_ key: String, _ node: TOMLNode, of table: TableReader, as form: NetworkPlace.Form, usualPort: Int?) {
        guard let place = NetworkPlace(key, node, of: table, as: form) else { return nil }
        self.init(place.scheme == "tcp" ? .tcp : .udp, host: place.host, port: place.port ?? usualPort ?? 0)
        guard place.port != nil || usualPort != nil else {
            table.refuse(key, at: node.position, "`\(key)` names no port", hint: "such as \(form.example)")
            return nil
        }
        guard transport == .udp, ["0.0.0.0", "::"].contains(host) else { return }
        table.refuse(
            key, at: node.position, "`\(key)` has no address to send to",
            hint: "a broadcast address, such as 192.168.1.255, reaches all machines of a network")
    }

    /// The keys that all actions of readings have.
    static func rows(_ what: String) -> [SettingRow<NavigationSettings>] {
        [
            // From the highest rate of compasses to the longest interval without an alarm of plotters.
            SettingRow(
                "interval_s", \.interval, .seconds(in: 0.02...10),
                """
                How often \(what) are sent. What they say changes with the event "heading" or "attitude.changed", and so by the \
                detector's heading_filter_deg or attitude_filter_deg at least.
                """),
            SettingRow(
                "accuracy_limit_deg", \.accuracyLimitDegrees, .number(in: 0.1...180),
                """
                No heading is sent while it may be off by more than this, and no roll and pitch while the vertical may: an \
                autopilot steers by it, and \(what) have no accuracy. It has no effect above the accuracy_limit_deg of the detector.
                """),
        ]
    }
}
