package import PlainText

/// What an event tells; the raw value is its name in configurations and in JSON, and `text` says what it means.
///
/// A kind is its case and its row. The log, the journal, the state of a sensor in MQTT, the placeholders, the help and
/// the manual are made from the rows; nothing else lists the kinds.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
    case motionBegan = "motion.began"
    case motionMoving = "motion.moving"
    case motionEnded = "motion.ended"
    case shake
    case freeFall = "free_fall"
    case shock
    case rotationBegan = "rotation.began"
    case rotationEnded = "rotation.ended"
    case heading
    case headingLost = "heading.lost"
    case headingFound = "heading.found"
    case sectorEntered = "sector.entered"
    case sectorLeft = "sector.left"
    case interferenceBegan = "interference.began"
    case interferenceEnded = "interference.ended"
    case calibrationNeeded = "calibration.needed"
    case calibrationRestored = "calibration.restored"
    case northFaced = "north.faced"
    case northFacing = "north.facing"
    case northLeft = "north.left"
    case orientationChanged = "orientation.changed"
    case tiltChanged = "tilt.changed"
    case hingeChanged = "hinge.changed"
    case lightChanged = "light.changed"
    case proximityChanged = "proximity.changed"
    case gap
    case samplesLost = "samples.lost"
    case sensorActive = "sensor.active"
    case sensorInactive = "sensor.inactive"
    case sensorsOneLeft = "sensors.one_left"
    case sensorsNoneLeft = "sensors.none_left"
    case detectorFailed = "detector.failed"
    case detectorUnavailable = "detector.unavailable"
    case quorumReached = "quorum.reached"
    case commandFinished = "command.finished"
    case commandFailed = "command.failed"
    case eventsDropped = "events.dropped"
    case handlerFailed = "handler.failed"
    case handlerRecovered = "handler.recovered"
    case storeFailed = "store.failed"
    case storeRecovered = "store.recovered"

    /// What the kind means, in one sentence.
    package var text: String { row.text }

    /// The kinds that repeat an ongoing state, and are therefore given only to handlers that ask for them by name.
    public static let repeated = kinds(.repeated)

    /// The kinds that report about handlers and the store, and are therefore never given to a handler that could cause
    /// more of them.
    package static let reports = kinds(.report)

    /// The kinds that the daemon's own log has where no log handler takes them.
    package static let alwaysLogged = Set(allCases.filter(\.row.isAlwaysLogged))

    /// The kinds that count as the begin of something when sensors vote.
    package static let begins = kinds(.begin)

    /// Whether it is one of the kinds wanted; without such a list, whether it does not repeat a state.
    func isAmong(_ wanted: Set<EventKind>?) -> Bool {
        wanted?.contains(self) ?? (role != .repeated)
    }

    /// The kinds that a word of a configuration or a command line stands for: a kind; `any`; or a group, such as
    /// `motion.*`, which is all kinds that begin so.
    ///
    /// Groups and `any` leave out the kinds that repeat a state.
    ///
    /// - Parameter word: The word.
    /// - Returns: The kinds, in the order of the cases; `nil` when the word stands for none.
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
            let group = kind.rawValue[..<dot] + ".*"
            if !words.contains(String(group)) { words.append(String(group)) }
        }
        return words
    }()

    private static func kinds(_ role: Role) -> Set<EventKind> { Set(allCases.filter { $0.row.role == role }) }
}

extension EventKind {
    /// What all users of a kind need to know of it.
    package struct Row: Sendable {
        /// The message id of its entries in the journal, as 32 hexadecimal digits.
        ///
        /// It is random and never changes: `journalctl MESSAGE_ID=…` finds the entries of years ago.
        package let messageID: String
        /// Its level in the log, unless the configuration chooses another.
        package let level: LogLevel
        /// Whether it is treated differently from a plain event.
        package let role: Role
        /// Whether the daemon's own log has it where no log handler takes it: something failed, or works again.
        package let isAlwaysLogged: Bool
        /// What it says of the state of its sensor.
        package let state: StateEffect
        /// The figures that it can have, in their order.
        package let figures: [Figure.Name]
        /// What it means, in one sentence.
        package let text: String

        fileprivate init(
            _ messageID: String, _ level: LogLevel, _ role: Role = .plain, isAlwaysLogged: Bool = false,
            state: StateEffect = .none, figures: [Figure.Name], _ text: String
        ) {
            self.messageID = messageID
            self.level = level
            self.role = role
            self.isAlwaysLogged = isAlwaysLogged
            self.state = state
            self.figures = figures
            self.text = text
        }
    }

    /// How a kind is treated.
    package enum Role: Sendable {
        /// As an event that happened once.
        case plain
        /// As a vote of its sensor for a quorum.
        case begin
        /// As the repetition of an ongoing state.
        case repeated
        /// As a report about handlers or the store.
        case report
    }

    /// What a kind says of the state of its sensor, which a broker retains.
    package enum StateEffect: Sendable, Equatable {
        /// Nothing.
        case none
        /// The sensor delivers, otherwise it could not have happened.
        case delivers
        /// The sensor delivers, and a word describes the state of the detector.
        case detector(String)
        /// The detector does not work.
        case detectorFailed
        /// The sensor delivers again.
        case sensorActive
        /// The sensor does not deliver.
        case sensorInactive
        /// The last heading is no longer valid.
        case headingLost
        /// The sensor delivers, and figures of the event are part of its state.
        case figures([Figure.Name])
    }

    private static let headings: [Figure.Name] = [
        .heading, .reference, .declination, .accuracy, .age, .axis, .field, .dip, .turnRate,
    ]
    private static let sectors: [Figure.Name] = [.sector, .heading, .reference, .accuracy, .axis]
    private static let bearings: [Figure.Name] = [.heading, .reference, .off, .accuracy, .axis]
    private static func screens(_ changed: Figure.Name) -> [Figure.Name] { [changed, .x, .y, .z] }
    private static let fields: [Figure.Name] = [.field, .expected]
    private static let commands: [Figure.Name] = [
        .handler, .program, .trigger, .status, .signal, .duration, .attempt, .reason, .retry, .output,
    ]

    /// The rows, in the order of the cases, made once: each event of a flood asks for its own.
    private static let rows = allCases.map(\.made)

    /// The row of the kind.
    package var row: Row { Self.rows[index] }

    /// How the kind is treated, which the whole row would be copied for.
    package var role: Role { Self.rows[index].role }

    /// The place among all cases: cases without values are numbered in their order, in one byte, which the cast checks.
    private var index: Int { Int(unsafeBitCast(self, to: UInt8.self)) }

    private var made: Row {
        switch self {
        case .motionBegan:
            Row(
                "a89f1f1421234078b42b57844654f2a5", .info, .begin, state: .detector("moving"),
                figures: [.peak, .onset],
                "The acceleration has been above the motion threshold for the minimum duration.")
        case .motionMoving:
            Row(
                "8d9a989ff9254221a4f145a6dc471739", .debug, .repeated, state: .detector("moving"),
                figures: [.x, .y, .z],
                "Motion goes on; at most once per update interval.")
        case .motionEnded:
            Row(
                "e8777e9df8684e7a918ebac0caf66a5e", .info, state: .detector("still"),
                figures: [.peak, .duration, .onset],
                "The device has been quiet for the quiet time; the duration does not include that time.")
        case .shake:
            Row(
                "b5d517eb57344fbe97be000deaa39371", .info, .begin, state: .delivers, figures: [.userAcceleration],
                "The user acceleration rose above the shake threshold.")
        case .freeFall:
            Row(
                "7355033af62e4a0aa6b920ca0eec1200", .info, .begin, state: .delivers,
                figures: [.smallest, .duration, .onset],
                "The total acceleration has been below the free-fall threshold for its duration.")
        case .shock:
            Row(
                "b47a4ad8626a43d2a120b1369982b514", .info, .begin, state: .delivers,
                figures: [.peak, .magnitude, .duration, .onset],
                "The total acceleration rose above the shock threshold; reported when the shock window is over.")
        case .rotationBegan:
            Row(
                "11e81d09131e42a0b046bf25547f3666", .info, .begin, state: .delivers, figures: [.peakRate, .onset],
                "The rate of turn has been above the rotation threshold for the minimum duration.")
        case .rotationEnded:
            Row(
                "bf676e36f6ba46fba7943eb77c9bc686", .info, state: .delivers,
                figures: [.peakRate, .duration, .onset],
                "The device has turned more slowly for the quiet time; the duration does not include that time.")
        case .heading:
            Row(
                "58b6fc8dd32042e7a4aaa2b9f1a5239d", .debug, state: .delivers, figures: Self.headings,
                "The first heading, each turn by the heading filter, a held one once a second, a valid one after it.")
        case .headingLost:
            Row(
                "dbc8136273304b39a4686124123c5700", .warning, state: .headingLost, figures: [.reason, .age],
                "There is no valid heading any more.")
        case .headingFound:
            Row(
                "8d0d6e1f4b844c3497a9aaa0a9d8bd47", .info, state: .delivers, figures: Self.headings,
                "There is a valid heading again.")
        case .sectorEntered:
            Row(
                "1f8a9cbf2293435eb39427081533f8bb", .info, state: .delivers, figures: Self.sectors,
                "The heading has been within a sector for the dwell time.")
        case .sectorLeft:
            Row(
                "4ca1acbd92cd4567b7e7844d99fd988e", .info, state: .delivers, figures: Self.sectors,
                "The heading has been outside a sector by its margin for the dwell time.")
        case .interferenceBegan:
            Row(
                "ee7e80200fc74b50af84a7f3bd838b46", .warning, state: .delivers, figures: Self.fields,
                "The strength of the field is wrong: iron or a magnet is nearby.")
        case .interferenceEnded:
            Row(
                "02f411da87d8439dbb09337775c1fc5a", .info, state: .delivers, figures: Self.fields,
                "The strength of the field is as expected again.")
        case .calibrationNeeded:
            Row(
                "b6da00893d324140bcd678a63cc15c98", .warning, state: .delivers, figures: Self.fields,
                "The interference has lasted so long that the magnetometer has to be calibrated.")
        case .calibrationRestored:
            Row(
                "89a8a370bffe4e618d36bddee7cfcfec", .info, state: .delivers, figures: Self.fields,
                "The strength of the field is as expected again after a calibration was needed.")
        case .northFaced:
            Row(
                "1b35e93c6eae41e688c447275ae8183c", .info, .begin, state: .detector("facing"), figures: Self.bearings,
                "The heading has been within the tolerance of the bearing for the dwell time.")
        case .northFacing:
            Row(
                "4170146b3aa643d997b708618a01d703", .debug, .repeated, state: .detector("facing"),
                figures: Self.bearings,
                "The device still faces the bearing; at most once per update interval.")
        case .northLeft:
            Row(
                "e90c808b2389499b998da13ad2a93e38", .info, state: .detector("away"), figures: Self.bearings,
                "The heading has been beyond the exit angle for the dwell time.")
        case .orientationChanged:
            Row(
                "0a4e2e43bdca4a0f8121926c40bdf0c2", .info, state: .figures([.orientation]),
                figures: Self.screens(.orientation),
                "Another edge of the screen has pointed up for the dwell time, or the first one is known.")
        case .tiltChanged:
            Row(
                "152abaed38cb4891bc9a83e096167898", .info, state: .figures([.tilt]), figures: Self.screens(.tilt),
                "The screen has leaned otherwise for the dwell time, or the first tilt is known.")
        case .hingeChanged:
            Row(
                "bf5d71ae9ddd4dc597aa91d12834bf05", .info, state: .figures([.posture]), figures: [.posture, .angle],
                "A laptop is set up otherwise, its hinge has turned by the angle filter, or both are known.")
        case .lightChanged:
            Row(
                "e499b8b3c4df4a508360cd87f2e32f2f", .debug, state: .figures([.illuminance, .brightness]),
                figures: [.illuminance, .brightness],
                "The light around the device has changed by the change percentage, or is known.")
        case .proximityChanged:
            Row(
                "649161fb1f664a2abcefd82a78eb5a33", .info, state: .figures([.proximity]), figures: [.proximity],
                "Something came near the device or went away, or it is known whether something is near.")
        case .gap:
            Row(
                "aeeea507e7da4071ba95c43cffc37257", .warning, figures: [.channel, .gap],
                "A stream was interrupted for more than a second.")
        case .samplesLost:
            Row(
                "d16304100ccd47d99e77af5bb715c2e8", .warning, figures: [.channel, .cause, .count, .gap, .reason],
                "Samples that the device should have delivered will never come.")
        case .sensorActive:
            Row(
                "688aca90714644b5912b3a0311484dcd", .info, isAlwaysLogged: true, state: .sensorActive,
                figures: [.active],
                "A sensor delivers again.")
        case .sensorInactive:
            Row(
                "98545a5055554783a67affc7701e5122", .warning, isAlwaysLogged: true, state: .sensorInactive,
                figures: [.reason, .active],
                "A sensor failed.")
        case .sensorsOneLeft:
            Row(
                "ca56109ae1fc4ca6bcdce8a408649729", .warning, figures: [],
                "A failure left one active sensor.")
        case .sensorsNoneLeft:
            Row(
                "f1a119552c794cd5b4d6eb3da3a1f9c8", .error, isAlwaysLogged: true, figures: [],
                "A failure left no active sensor.")
        case .detectorFailed:
            Row(
                "87ba1307496b4d81b281eb4d34d28213", .warning, isAlwaysLogged: true, state: .detectorFailed,
                figures: [.reason],
                "A detector lost the sensor that it needs.")
        case .detectorUnavailable:
            Row(
                "d373bceabe214a9fb3cc742bd9aff30d", .warning, isAlwaysLogged: true, state: .detectorFailed,
                figures: [.reason],
                "A detector could not start, because a sensor that it needs is not there.")
        case .quorumReached:
            Row(
                "ee0ead0fa1ad46f8baa7c2e94881b597", .info, figures: [.count, .needed, .active, .sensors],
                "Enough sensors agreed; made by the quorum decorator.")
        case .commandFinished:
            Row(
                "24d9c15ec63c4a7eba1ddc87c49b9172", .info, .report, isAlwaysLogged: true, figures: Self.commands,
                "The program of a handler ended with success.")
        case .commandFailed:
            Row(
                "d844dcdd8d7940579ebe881883855365", .warning, .report, isAlwaysLogged: true, figures: Self.commands,
                "The program of a handler could not be run, failed, or took too long.")
        case .eventsDropped:
            Row(
                "f24d43b8ee92431bb063aa888ca91894", .warning, .report, isAlwaysLogged: true,
                figures: [.handler, .count, .reason],
                "Too many events waited for a handler or for the store, so some were dropped.")
        case .handlerFailed:
            Row(
                "4bba6fc62946445b8c3213d73d1f18c5", .warning, .report, isAlwaysLogged: true,
                figures: [.handler, .reason],
                "A handler can no longer do its work.")
        case .handlerRecovered:
            Row(
                "fec5418a6e754a82b63fe43bfd492164", .info, .report, isAlwaysLogged: true, figures: [.handler],
                "A handler that had failed works again.")
        case .storeFailed:
            Row(
                "068b415a5ec949cd9c47cc6bfc3a0769", .warning, .report, isAlwaysLogged: true,
                figures: [.reason, .retry],
                "Events are not stored at the moment.")
        case .storeRecovered:
            Row(
                "47691642e87b47dea5d118646ee95946", .info, .report, isAlwaysLogged: true, figures: [.reason, .count],
                "Events are stored again.")
        }
    }
}
