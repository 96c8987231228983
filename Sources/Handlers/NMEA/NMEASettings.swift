/// What a handler sends and where; the defaults are those of the configuration.
package struct NMEASettings: Sendable, Equatable {
    /// The transport of sentences.
    package enum Transport: String, Sendable {
        /// Each in a datagram.
        case udp
        /// To all clients of a server.
        case tcp
    }

    /// The transport.
    package var transport: Transport
    /// The receiver's name or address, or that of this machine at which the server listens.
    package var host: String
    /// The port; a server with 0 has one that the system chooses.
    package var port: Int
    /// The sentences, in the order in which they are sent.
    package var sentences = NMEASentence.allCases
    /// The talker ID, two letters for the kind of device; HC is a magnetic compass.
    package var talker = "HC"
    /// How often the sentences are sent.
    ///
    /// Ten times a second is what compasses on boats do: their NMEA 2000 message of the heading has this interval.
    package var interval: Duration = .milliseconds(100)
    /// A heading that may be off by more than this, in degrees, is treated as none.
    package var accuracyLimitDegrees = 15.0

    /// Creates settings, with the defaults.
    package init(_ transport: Transport, host: String, port: Int) {
        self.transport = transport
        self.host = host
        self.port = port
    }

    /// The URL, for messages.
    var address: String {
        "\(transport.rawValue)://" + (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }
}
