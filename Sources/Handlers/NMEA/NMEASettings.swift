/// Which sentences a handler sends where; the defaults are those of the configuration.
package struct NMEASettings: Sendable, Equatable {
    /// How sentences get to whom they are for.
    package enum Transport: String, Sendable, CaseIterable {
        /// Each in a datagram of its own, to one machine or to many.
        case udp
        /// To everybody who connects.
        case tcp
    }

    /// How sentences get there.
    package var transport: Transport
    /// The name or address to which datagrams go, or of this machine, at which connections come in.
    package var host: String
    /// The port; 0 at which connections come in is one that the system chooses.
    package var port: Int
    /// The sentences, in the order in which they are sent.
    package var sentences = NMEASentence.allCases
    /// Two letters that say what kind of device speaks; HC is a magnetic compass.
    package var talker = "HC"
    /// How often the sentences are sent.
    ///
    /// Ten times a second is what compasses on boats do: their NMEA 2000 message of the heading has this interval.
    package var interval: Duration = .milliseconds(100)

    /// Creates settings, with the defaults.
    package init(_ transport: Transport, host: String, port: Int) {
        self.transport = transport
        self.host = host
        self.port = port
    }

    /// Where that is, for messages.
    var address: String {
        "\(transport.rawValue)://" + (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }
}
