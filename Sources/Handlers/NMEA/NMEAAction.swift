package import Binnacle
package import LinuxSystem

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
    package static let takesHeadings = true

    /// Makes the handler of a replay.
    package func makeHandler(_ context: HandlerContext) -> (any EventHandler)? {
        do throws(SystemError) {
            return try ReplayedNMEAHandler(name: context.name, settings: settings, log: context.log)
        } catch {
            context.log.write("\(context.name): \(error)")
            return nil
        }
    }

    /// Makes the handler of a live run, which has a thread for the network.
    package func makeThreadedHandler(
        name: String, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> (any ThreadedHandler)? {
        try NMEAHandler(name: name, settings: settings, report: report)
    }
}
