package import Binnacle

/// `nmea = "udp://…"` or `nmea = "tcp://…"`: sends the heading to plotters.
package struct NMEAAction: HandlerAction, Equatable {
    /// What is sent, and where.
    package let settings: NMEASettings

    /// The key that chooses it.
    package static let key = "nmea"
    /// How the key is written.
    package static let example = "nmea = \"udp://192.168.1.255\""
    /// The further keys that belong to it.
    package static let furtherKeys = ["sentences", "talker", "interval_s"]
    /// An autopilot steers by it.
    package static let actsOnTheWorld = true
    /// What is sent is the heading by one detector.
    package static let headingKinds: [EventKind]? = NMEASender.kinds

    /// Sends the latest heading at an interval.
    package func work(for name: String) -> HandlerWork {
        .threaded(NMEASender.plan(settings))
    }
}
