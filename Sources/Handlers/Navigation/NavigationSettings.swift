/// The settings of a sender; the defaults are those of the configuration.
package struct NMEASettings: Sendable, Equatable {
    /// The transport of sentences.
    package enum Transport: String, Sendable {
        /// Each sentence in a datagram.
        case udp
        /// To all clients of a TCP server.
        case tcp
    }

    /// The transport.
    package var transport: Transport
    /// The receiver's name or address, or that of this machine on which the server listens.
    package var host: String
    /// The port; for a server, 0 lets the system choose.
    package var port: Int
    /// The sentences, in the order in which they are sent.
    package var sentences = NMEASentence.allCases
    /// The talker ID, two letters for the kind of device; HC is a magnetic compass.
    package var talker = "HC"
    /// The interval between sentences.
    ///
    /// The default is that of compasses on boats, whose NMEA 2000 message of the heading is sent ten times a second.
    package var interval: Duration = .milliseconds(100)
    /// A heading whose error may be larger than this, in degrees, counts as invalid.
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
