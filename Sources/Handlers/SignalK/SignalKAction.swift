package import Binnacle
package import TableReading

/// `signalk = "udp://…"` or `signalk = "tcp://…"`: sends the heading and the attitude to a Signal K server.
package struct SignalKAction: HandlerAction {
    package let settings: NavigationSettings

    package static let example = "signalk = \"udp://127.0.0.1:55557\""
    /// An autopilot may steer by the heading.
    package static let actsOnTheWorld = true
    /// An attitude has more of what Signal K knows than a heading, so it comes first.
    package static let headingKinds: [EventKind]? =
        [.attitudeChanged] + NavigationSender.kinds.filter { $0 != .attitudeChanged }

    private static let form = NetworkPlace.Form(
        schemes: ("udp", "tcp"), example: "udp://127.0.0.1:55557", exampleOfIPv6: "udp://[2001:db8::1]:55557",
        insteadOfUser: "a connection of Signal K over UDP or TCP knows none")

    package static let row = HandlerRow(
        shown: "boat", kinds: nil,
        """
        Sends the heading, the variation, the rate of turn, roll, pitch and yaw to Signal K as deltas. It is for one detector, so that \
        on and decorate have no meaning for it; with several [attitude.NAME], or several [north.NAME] and no attitude, detector has \
        to name one. What is not valid is not sent.
        """,
        key: Key(
            "signalk", .usual("\"udp://127.0.0.1:55557\""), usual: "",
            """
            The receiver. udp:// sends each delta in a datagram to a connection of the server for Signal K over UDP. tcp:// is an \
            address of this machine, 0.0.0.0 or [::] for all of them, to which at most 32 servers connect. The port has to be \
            named, because Signal K has none for it. Nothing is encrypted.
            """),
        further: NavigationSettings.rows("deltas").map { $0.key(.unknown) })

    /// Reads the keys of a section; `nil` when they are invalid, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let place = NavigationSettings(Self.key, entry.node, of: table, as: Self.form, usualPort: nil)
        // The other keys are checked even if the place is invalid.
        var settings = place ?? .unknown
        table.read(NavigationSettings.rows("deltas"), into: &settings)
        guard place != nil else { return nil }
        self.settings = settings
    }

    package var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] {
        settings.exclusivePlaces(Self.key)
    }

    package func work(for name: String) -> HandlerWork {
        .threaded(NavigationSender.plan(settings, as: SignalKDelta()))
    }
}
