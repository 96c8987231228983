package import PlainText

extension EventKind {
    /// What the kind means, in one sentence.
    package var text: String { row.text }

    /// The kinds that repeat an ongoing state, and are therefore given only to handlers that ask for them by name.
    public static let repeated = kinds(.repeated)

    /// The kinds that report about handlers and the store, and are therefore never given to a handler that could cause
    /// more of them.
    package static let reports = kinds(.report)

    /// The kinds that the daemon's own log has where no log handler takes them.
    package static let alwaysLogged = Set(allCases.filter(\.row.isAlwaysLogged))

    /// The kinds that say whether a handler gets events, which it gets itself even while it is disarmed.
    package static let arming = Set(allCases.filter(\.isArming))

    /// The kinds that count as the begin of something when sensors vote.
    package static let begins = kinds(.begin)

    /// The kind that ends the state which this kind begins; `nil` for a kind that begins none with an end.
    package var end: EventKind? { Self.ends[self] }

    /// Whether it ends what another kind of the same detectors says of the state.
    package func endsState(of begin: EventKind) -> Bool {
        guard row.source == begin.row.source else { return false }
        if begin.row.heading == .sensor, row.state.contains(.headingLost) {
            return begin.row.home.contains { if case .heading = $0 { true } else { false } }
        }
        return row.state.contains { effect in
            begin.row.state.contains { other in
                switch (effect, other) {
                case (.word(let word), .word(let before)): word != before
                case (.interference(let isNearby), .interference(let wasNearby)): isNearby != wasNearby
                default: false
                }
            }
        }
    }

    private static let ends = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { kind in
            let end = EventKind(rawValue: kind.rawValue.replacing(".began", with: ".ended"))
            return end == kind ? nil : end.map { (kind, $0) }
        })

    /// Whether it is one of ``arming``.
    package var isArming: Bool {
        switch self {
        case .handlerArmed, .handlerDisarmed: true
        default: false
        }
    }

    /// Whether it is one of the kinds wanted; without such a list, whether it does not repeat a state.
    func isAmong(_ wanted: Set<EventKind>?) -> Bool {
        wanted?.contains(self) ?? (role != .repeated)
    }

    /// The kinds that a word of a configuration or a command line stands for: a kind; `any`; or a group, such as
    /// `motion.*`, which is all kinds that begin so.
    ///
    /// They stand in the order of the cases; `nil` when the word stands for none. Groups and `any` leave out the kinds that
    /// repeat a state.
    package static func named(_ word: String) -> [EventKind]? {
        if let kind = EventKind(rawValue: word) { return [kind] }
        guard word == "any" || word.hasSuffix(".*") else { return nil }
        let found = allCases.filter {
            $0.role != .repeated && (word == "any" || $0.rawValue.hasPrefix(word.dropLast(1)))
        }
        return found.isEmpty ? nil : found
    }

    /// The words that ``named(_:)`` knows.
    package static let words: [String] = {
        var words = allCases.map(\.rawValue) + ["any"]
        for kind in allCases where kind.role != .repeated {
            guard let dot = kind.rawValue.firstIndex(of: ".") else { continue }
            let group = String(kind.rawValue[..<dot] + ".*")
            if !words[allCases.count...].contains(group) { words.append(group) }
        }
        return words
    }()

    private static func kinds(_ role: Role) -> Set<EventKind> { Set(allCases.filter { $0.row.role == role }) }
}

extension EventKind {
    /// What all users of a kind need to know of it; an object, because each event asks for its kind's.
    package final class Row: Sendable {
        /// The message id of its entries in the journal, as 32 hexadecimal digits.
        ///
        /// It is random and never changes: `journalctl MESSAGE_ID=…` finds the entries of years ago.
        package let messageID: String
        /// Its level in the log, unless the configuration chooses another.
        package let level: LogLevel
        /// Whether it is treated differently from a plain event.
        package let role: Role
        package let source: Source
        /// Whose heading ``Figure/Name/heading`` is; `nil` for a kind without it.
        package let heading: HeadingOwner?
        /// Whether the daemon's own log has it where no log handler takes it: something failed, or works again.
        package let isAlwaysLogged: Bool
        /// What it says of the state of its sensor, which a broker retains.
        package let state: [StateEffect]
        /// The figures that it can have, in their order.
        package let figures: [Figure.Name]
        /// What a home automation has of it.
        package let home: [HomeEntity]
        /// What it means, in one sentence.
        package let text: String

        init(
            _ messageID: String, _ level: LogLevel, _ role: Role = .plain, from source: Source,
            heading: HeadingOwner? = nil, isAlwaysLogged: Bool = false, state: [StateEffect] = [],
            figures: [Figure.Name] = [], home: [HomeEntity] = [], _ text: String
        ) {
            self.messageID = messageID
            self.level = level
            self.role = role
            self.source = source
            self.heading = heading
            self.isAlwaysLogged = isAlwaysLogged
            self.state = state
            self.figures = figures
            self.home = home
            self.text = text
        }
    }

    package enum Source: Sendable, Equatable {
        /// The detectors of a kind, as in ``EventDetector/kind``.
        case detector(String)
        /// Any detector, when it does not work.
        case anyDetector
        /// The decorator of that name.
        case quorum
        case sensors
        /// The commands of handlers.
        case commands
        case handlers
        case store

        /// The detectors of headings, which a module of its own has.
        static let north = Source.detector("north")
        /// The detectors of attitudes, of the same module.
        static let attitude = Source.detector("attitude")
    }

    /// Whose heading an event has.
    package enum HeadingOwner: Sendable {
        /// The sensor's: where an axis of it points.
        case sensor
        /// The body's that the sensor is built into: where its forward axis points.
        case body
    }

    /// How a kind is treated.
    package enum Role: Sendable {
        /// As an event that happened once.
        case plain
        /// As a vote of its sensor for a quorum.
        case begin
        /// As one of the values of a course, of which a turn has one for each degree: no view lists them.
        case course
        /// As the repetition of an ongoing state.
        case repeated
        /// As a report about handlers or the store.
        case report
    }

    /// What a kind says of the state of its sensor.
    package enum StateEffect: Sendable, Equatable {
        /// The sensor delivers, otherwise it could not have happened.
        case delivers
        /// A word describes the state of the detector.
        case word(String)
        /// The detector does not work.
        case detectorFailed
        /// The sensor delivers again.
        case sensorActive
        /// The sensor does not deliver.
        case sensorInactive
        /// The last heading is no longer valid.
        case headingLost
        /// Figures of the event are part of the state.
        case figures([Figure.Name])
        /// Whether iron or a magnet is nearby.
        case interference(Bool)
    }

    /// What Home Assistant has of a kind; several kinds may have the same entity.
    package enum HomeEntity: Sendable {
        /// An event, and a trigger of automations.
        case occurrence
        /// A state that is on for some seconds after each event.
        ///
        /// Home Assistant's device class is the identifier, unless another one is named.
        case pulse(
            _ id: String, _ name: String, deviceClass: String? = nil, isEnabled: Bool = true, isDiagnostic: Bool = false
        )
        /// Whether the detector is in one state and not in the other, with Home Assistant's device class.
        case isOn(_ deviceClass: String, _ name: String, _ state: String, off: String)
        /// A figure that is a number, with Home Assistant's icon and device class; its unit is the figure's.
        case figure(
            Figure.Name, _ id: String, _ name: String, icon: String, deviceClass: String? = nil, decimals: Int)
        case heading
        /// The roll and the pitch.
        case attitude
        /// A figure that is one of some words.
        case choice(Figure.Name, any (FigureWord & CaseIterable).Type)
        /// Whether iron or a magnet is nearby; there where all kinds that have it are handled.
        case interference
    }

    /// The rows, in the order of the cases, made once: each event of a flood asks for its own.
    private static let rows = allCases.map(\.made)

    /// The kinds that a view of what happens lists: without headings and attitudes, of which a turn has one for each degree.
    package static let listed = Set(allCases.filter { $0.role != .course && $0.role != .repeated })

    package var row: Row { Self.rows[index] }

    /// How the kind is treated.
    package var role: Role { Self.rows[index].role }

    /// Hashes the place among all cases: by default the text would be hashed, for each event and each handler.
    public func hash(into hasher: inout Hasher) { hasher.combine(index) }

    /// The place among all cases: cases without values are numbered in their order, in one byte, which the cast checks.
    package var index: Int { Int(unsafeBitCast(self, to: UInt8.self)) }
}
