package import Binnacle
package import TableReading

/// `nmea = "udp://…"` or `nmea = "tcp://…"`: sends the heading to plotters.
package struct NMEAAction: HandlerAction, Equatable {
    /// The sentences and the receivers.
    package let settings: NMEASettings

    /// An example of the first key.
    package static let example = "nmea = \"udp://192.168.1.255\""
    /// An autopilot may steer by the heading.
    package static let actsOnTheWorld = true
    /// The kinds of event about the heading of one detector.
    package static let headingKinds: [EventKind]? = NMEASender.kinds

    /// Sends the latest heading at an interval.
    package func work(for name: String) -> HandlerWork {
        .threaded(NMEASender.plan(settings))
    }
}

extension NMEAAction {
    /// The registered port of NMEA 0183.
    private static let usualPort = 10110

    private static let form = NetworkPlace.Form(
        schemes: ("udp", "tcp"), example: "udp://192.168.1.255:10110", exampleOfIPv6: "udp://[2001:db8::1]:10110",
        insteadOfUser: "NMEA 0183 knows none")

    /// The keys.
    package static let row = HandlerRow(
        shown: "plotter", kinds: nil,
        """
        Sends the heading to chart plotters as NMEA 0183 sentences. It is for the headings of one detector, so that on and \
        decorate have no meaning for it; with several [north.NAME], detector has to name one. While there is no valid \
        heading nothing is sent.
        """,
        key: Key(
            "nmea", .usual("\"udp://192.168.1.255:10110\""), usual: "",
            """
            The receiver. udp:// sends each sentence in a datagram: to one machine, to the broadcast address of a network, \
            or to a multicast group. tcp:// is an address of this machine, 0.0.0.0 or [::] for all of them, to which at \
            most 32 plotters connect. The port is 10110 unless another stands behind the host. Nothing is encrypted: \
            every machine that can reach the port can read it.
            """),
        further: NMEASettings.rows.map { $0.key(NMEASettings(.udp, host: "", port: 0)) })

    /// Reads the keys of a section; `nil` when they are invalid, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let place = NetworkPlace(Self.key, entry.node, of: table, as: Self.form)
        // The other keys are checked even if the URL is invalid.
        let transport: NMEASettings.Transport = place?.scheme == "tcp" ? .tcp : .udp
        var settings = NMEASettings(transport, host: place?.host ?? "", port: place?.port ?? Self.usualPort)
        table.read(NMEASettings.rows, into: &settings)
        guard place != nil else { return nil }
        if transport == .udp, ["0.0.0.0", "::"].contains(settings.host) {
            table.refuse(
                Self.key, at: entry.node.position, "`\(Self.key)` has no address to send to",
                hint: "a broadcast address, such as 192.168.1.255, reaches all machines of a network")
        }
        self.settings = settings
    }
}

extension NMEASettings {
    fileprivate static let rows: [SettingRow<NMEASettings>] = [
        SettingRow(
            "sentences", \.sentences, shown: .usual("[\"HDG\", \"HDM\", \"HDT\", \"ROT\"]"), usual: "all",
            """
            The sentences, in that order. HDG and HDM are magnetic headings, HDT is the true heading, which is left out \
            while the declination is not known. HDG has the declination, too, and never a deviation. ROT is the rate of turn, \
            which is left out while no gyroscope measures it.
            """
        ) { table, key, settings in
            guard let node = table.entry(key)?.node, let nodes = table.array(key, node, of: "strings") else { return }
            guard !nodes.isEmpty else {
                table.refuse(key, at: node.position, "`\(key)` is empty", hint: "leave it out to mean every sentence")
                return
            }
            settings.sentences = table.choices(key, nodes, as: NMEASentence.self)
        },
        SettingRow(
            "talker", \.talker, shown: .usual("\"HC\""), usual: "HC, a magnetic compass",
            "Two capital letters that say what kind of device speaks.", read: readTalker),
        // From the highest rate of compasses to the longest interval without an alarm of plotters.
        SettingRow(
            "interval_s", \.interval, .seconds(in: 0.02...10),
            """
            How often the sentences are sent. What they say changes with the event "heading", and so by the detector's \
            heading_filter_deg at least.
            """),
        SettingRow(
            "accuracy_limit_deg", \.accuracyLimitDegrees, .number(in: 0.1...180),
            """
            No heading is sent while it may be off by more than this: an autopilot steers by it, and sentences have no \
            accuracy. It has no effect above the accuracy_limit_deg of the detector.
            """),
    ]

    private static func readTalker(_ table: TableReader, _ key: String, _ settings: inout NMEASettings) {
        guard let text = table.string(key), let entry = table.entry(key) else { return }
        guard text.utf8.count == 2, text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` is not two capital letters",
                hint: "HC is a magnetic compass, HE a gyro, II an integrated system")
            return
        }
        guard !text.hasPrefix("P") else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` begins with P",
                hint: "sentences of manufacturers begin with it, and these are none")
            return
        }
        settings.talker = text
    }
}
