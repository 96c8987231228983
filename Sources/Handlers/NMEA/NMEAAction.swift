package import Binnacle
import Glibc
import LinuxSystem
import PlainText
package import TableReading

/// `nmea = "udp://…"`, `nmea = "tcp://…"` or `nmea = "/dev/tty…"`: sends the heading and the attitude to plotters.
package struct NMEAAction: HandlerAction {
    package private(set) var settings: NMEASettings
    /// What sentences need and the detector does not have.
    private var unmet: Set<NMEASentence.Need> = []

    package static let example = "nmea = \"udp://192.168.1.255\""
    /// An autopilot may steer by the heading.
    package static let actsOnTheWorld = true
    package static let headingKinds: [EventKind]? = NavigationSender.kinds

    package func work(for name: String) -> HandlerWork {
        .threaded(NavigationSender.plan(settings.sending, as: settings))
    }

    package func told(of detectors: [HandledDetector], _ events: HandledEvents) -> NMEAAction {
        var action = self
        action.unmet = Set(
            NMEASentence.Need.allCases.filter { need in
                switch need {
                case .attitude: !events.kinds.contains { $0.row.heading == .body }
                case .magnetometer: !events.samples.contains(.magnetometer)
                case .trueNorth: !events.hasTrueNorth
                case .gyroscope: !events.samples.contains(.gyroscope)
                }
            })
        return action
    }

    /// Whether both send the same.
    ///
    /// What only warnings depend on does not count: a handler that differs is replaced, and closes its connections.
    package static func == (left: NMEAAction, right: NMEAAction) -> Bool { left.settings == right.settings }

    package var notices: [String] {
        let named = settings.sentences == NMEASentence.allCases ? [] : settings.sentences
        var notices = NMEASentence.Need.allCases.compactMap { need -> String? in
            let silent = named.filter { $0.lack(among: unmet) == need }.map(\.rawValue)
            return silent.isEmpty ? nil : "\(Spelling.list(silent)): never sent, because \(need.lack)"
        }
        guard settings.sending.transport == .serial else { return notices }
        let sent = settings.sentences.filter { $0.lack(among: unmet) == nil }
        // Each byte has a start bit and a stop bit.
        let seconds = Double(sent.map(\.longestCount).reduce(0, +) * 10) / Double(settings.sending.baud.rawValue)
        if seconds > Units.seconds(settings.sending.interval), let text = Decimal.text(seconds, decimals: 4) {
            notices.append(
                "the sentences take up to \(text) s of the line, which is more than interval_s: some are left out; name fewer "
                    + "`sentences`, or take a higher `baud`")
        }
        return notices
    }

    package var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] {
        settings.sending.exclusivePlaces(Self.key)
    }
}

extension NMEAAction {
    /// The registered port of NMEA 0183.
    private static let usualPort = 10110

    private static let form = NetworkPlace.Form(
        schemes: ("udp", "tcp"), example: "udp://192.168.1.255:10110",
        exampleOfIPv6: "udp://[2001:db8::1]:10110",
        insteadOfUser: "NMEA 0183 knows none", insteadOfScheme: "/dev/ttyUSB0 for a serial line")

    package static let row = HandlerRow(
        shown: "plotter", kinds: nil,
        """
        Sends the heading and the attitude to chart plotters as NMEA 0183 sentences. It is for one detector, so that on and \
        decorate have no meaning for it; with several [north.NAME], or several [attitude.NAME] and no north, detector has to \
        name one. What is not valid is not sent.
        """,
        key: Key(
            "nmea", .usual("\"udp://192.168.1.255:10110\""), usual: "",
            """
            The receiver. udp:// sends each sentence in a datagram: to one machine, to the broadcast address of a network, \
            or to a multicast group. tcp:// is an address of this machine, 0.0.0.0 or [::] for all of them, to which at \
            most 32 plotters connect. The port is 10110 unless another stands behind the host. Nothing is encrypted: \
            every machine that can reach the port can read it. A path, such as /dev/ttyUSB0, is a serial line.
            """),
        further: NMEASettings.rows.map { $0.key(NMEASettings(.unknown)) }
            + NavigationSettings.rows("sentences").map { $0.key(.unknown) }
            + [baudRow.key(.unknown)])

    /// Reads the keys of a section; `nil` when they are invalid, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let isPath = entry.node.string?.hasPrefix("/") ?? false
        let place =
            isPath
            ? Self.serialLine(table, entry.node)
            : NavigationSettings(Self.key, entry.node, of: table, as: Self.form, usualPort: Self.usualPort)
        // The other keys are checked even if the place is invalid.
        var settings = NMEASettings(place ?? .unknown)
        table.read(NMEASettings.rows, into: &settings)
        table.read(NavigationSettings.rows("sentences"), into: &settings.sending)
        table.read([Self.baudRow], into: &settings.sending)
        if !isPath, place != nil {
            table.refuse(
                Self.baudRow.name, meaninglessFor: "a network", with: [Self.key],
                hint: "it is for the path of a serial line")
        }
        guard place != nil else { return nil }
        self.settings = settings
    }

    /// A line that is not plugged in is no error; a file that is none is.
    private static func serialLine(_ table: TableReader, _ node: TOMLNode) -> NavigationSettings? {
        guard let path = table.path(key) else { return nil }
        let isLine: Bool
        do throws(SystemError) {
            isLine = try fileStatus(path).kind == S_IFCHR
        } catch {
            isLine = error.code != ENOTDIR
            if isLine {
                table.warn(
                    at: node.position, "\(Spelling.quoted(path: path)): \(error.reason)",
                    hint: error.isMissing ? "a line that is plugged in later is opened then" : nil)
            }
        }
        guard isLine else {
            table.refuse(
                key, at: node.position, "\(Spelling.quoted(path: path)) is no serial line",
                hint: "a device, such as /dev/ttyUSB0, or one of /dev/serial/by-id")
            return nil
        }
        return NavigationSettings(.serial, host: path, port: 0)
    }

    private static let baudRow = SettingRow<NavigationSettings>(
        "baud", \.baud, shown: .example("38400"), usual: "4800",
        """
        The bits a second of a serial line: 4800 is NMEA 0183, 38400 its high speed. It has 8 data bits, no parity and 1 stop bit, and \
        is opened for this handler alone.
        """
    ) { table, key, settings in
        guard let value = table.integer(key, in: 1...4_000_000) else { return }
        guard let baud = Baud(rawValue: Int64(value)) else {
            let known = Spelling.alternatives(Baud.allCases.map { String($0.rawValue) })
            if let entry = table.entry(key) {
                table.refuse(key, at: entry.node.position, "`\(key)` cannot be \(value)", hint: "one of \(known)")
            }
            return
        }
        settings.baud = baud
    }
}

extension NMEASettings {
    fileprivate static let rows: [SettingRow<NMEASettings>] = [
        SettingRow(
            "sentences", \.sentences, shown: .usual("[\"HDG\", \"HDM\", \"HDT\", \"PASHR\", \"ROT\", \"XDR\"]"),
            usual: "all",
            """
            The sentences, in that order. HDG and HDM are magnetic headings, HDT is the true heading, which is left out \
            while the declination is not known. HDG has the declination, too, and never a deviation. PASHR has the true heading, \
            roll and pitch, XDR pitch and roll: an [attitude.NAME] finds these. ROT is the rate of turn, which is left out while no \
            gyroscope measures it.
            """
        ) { table, key, settings in
            guard let node = table.entry(key)?.node,
                let nodes = table.strings(key, node, hint: "leave it out to mean every sentence")
            else { return }
            settings.sentences = table.choices(key, nodes, as: NMEASentence.self)
        },
        SettingRow(
            "talker", \.talker, shown: .usual("\"HC\""), usual: "HC, a magnetic compass",
            "Two capital letters that say what kind of device speaks.", read: readTalker),
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
