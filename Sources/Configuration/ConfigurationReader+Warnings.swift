import Binnacle
import Handlers
import PlainText
import TableReading

/// Warnings about sections that do not fit together.
extension ConfigurationReader {
    /// Warns of what a valid configuration will hardly do.
    func warn(of configuration: Configuration, _ sensors: [TOMLEntry], _ handlers: [TOMLEntry]) {
        // Without a detector the configuration is refused, or completed by other files.
        guard !configuration.detectorNames.isEmpty else { return }
        for entry in sensors
        where configuration.kinds(of: entry.key).isEmpty && !configuration.namedSensors.contains(entry.key) {
            diagnostics.report(
                .warning, at: entry.node.position, "no detector uses the sensor \(Spelling.quoted(entry.key))",
                hint: "sections of detectors, such as [motion.NAME], name the sensors that they need")
        }
        // To a text of its own the program adds the handlers that its command line asks for.
        if configuration.handlers.isEmpty, configuration.store == nil, configuration.socket == nil,
            configuration.dbus == nil, embedded == nil
        {
            diagnostics.report(
                .warning, at: SourcePosition(line: 1, column: 1), "there is no handler: events go nowhere",
                hint: "a section [handler.NAME] says what is done with them, such as log = true")
        }
        if configuration.position != nil, configuration.norths.isEmpty,
            let entry = entries.first(where: { $0.key == "position" })
        {
            diagnostics.report(
                .warning, at: entry.node.position, "no detector uses [position]",
                hint: "it makes the headings of a [north.NAME] true")
        }
        warnOfUnheard(configuration)
        warnOfSharedPlaces(configuration, handlers)
        for section in configuration.handlers {
            guard let entry = handlers.first(where: { $0.key == section.name }),
                case .table(let keys) = entry.node.value
            else { continue }
            for notice in section.action.notices {
                let key = keys.first { $0.key == type(of: section.action).key }
                diagnostics.report(.warning, at: key?.keyPosition ?? entry.keyPosition, notice)
            }
            if let on = keys.first(where: { $0.key == "on" }) { warn(of: section, on, in: configuration) }
        }
    }

    /// Warns of detectors whose events no handler takes, where nothing else keeps or hands them on.
    private func warnOfUnheard(_ configuration: Configuration) {
        guard !configuration.handlers.isEmpty, configuration.store == nil, configuration.socket == nil,
            configuration.dbus == nil
        else { return }
        for name in configuration.detectorNames {
            // A hinge may be there for the postures of an orientation alone.
            guard !configuration.orientations.contains(where: { $0.hinge == name }) else { continue }
            let isHeard = configuration.handlers.contains { handler in
                (handler.detectors?.contains(name) ?? true) && handler.kinds.contains { configuration.makes($0, name) }
            }
            let kind = configuration.kind(ofDetector: name)
            guard !isHeard, let tables = entries.first(where: { $0.key == kind }),
                case .table(let sections) = tables.node.value, let entry = sections.first(where: { $0.key == name })
            else { continue }
            diagnostics.report(
                .warning, at: entry.node.position, "no handler takes an event of [\(kind).\(name)]",
                hint: "the `on` of a handler names kinds of event that it makes")
        }
    }

    /// Warns of handlers that would disturb each other: two that write to one file, or keep one topic at one broker.
    private func warnOfSharedPlaces(_ configuration: Configuration, _ handlers: [TOMLEntry]) {
        var owners: [String: String] = [:]
        for section in configuration.handlers {
            guard let place = section.action.exclusivePlace else { continue }
            guard let owner = owners.updateValue(section.name, forKey: place.name) else { continue }
            guard let entry = handlers.first(where: { $0.key == section.name }),
                case .table(let keys) = entry.node.value
            else { continue }
            let key = keys.first { $0.key == place.key }
            diagnostics.report(
                .warning, at: key?.keyPosition ?? entry.node.position,
                "[handler.\(section.name)] and [handler.\(owner)] have the same \(place.words)",
                hint: "give each its own `\(place.key)`")
        }
    }

    /// Warns of kinds that a handler never gets.
    ///
    /// A log of everything may name kinds that nothing makes at present. A handler that acts is meant to act.
    private func warn(of section: HandlerSection, _ on: TOMLEntry, in configuration: Configuration) {
        guard case .array(let nodes) = on.node.value else { return }
        let reasons = nodes.compactMap { node -> (position: SourcePosition, kind: EventKind, reason: String)? in
            guard case .string(let word) = node.value, let kind = EventKind(rawValue: word),
                let reason = configuration.absence(of: kind, for: section)
            else { return nil }
            return (node.position, kind, reason)
        }
        guard reasons.count == section.kinds.count || type(of: section.action).actsOnTheWorld else { return }
        for (position, kind, reason) in reasons {
            diagnostics.report(
                .warning, at: position,
                "[handler.\(section.name)] never gets \(Spelling.quoted(kind.rawValue))", hint: reason)
        }
    }
}

extension Configuration {
    /// The top-level table that a detector's section is in.
    fileprivate func kind(ofDetector name: String) -> String {
        if motions.contains(where: { $0.name == name }) { return "motion" }
        if norths.contains(where: { $0.name == name }) { return "north" }
        if hinges.contains(where: { $0.name == name }) { return "hinge" }
        if lights.contains(where: { $0.name == name }) { return "light" }
        return proximities.contains { $0.name == name } ? "proximity" : "orientation"
    }

    /// Whether a detector makes events of a kind.
    func makes(_ kind: EventKind, _ detector: String) -> Bool {
        switch kind.origin {
        case .motion(let feature):
            motions.contains { $0.name == detector && $0.settings.features.contains(feature) }
        case .heading, .sector: norths.contains { $0.name == detector }
        case .screen: orientations.contains { $0.name == detector }
        case .hinge: hinges.contains { $0.name == detector }
        case .light: lights.contains { $0.name == detector }
        case .proximity: proximities.contains { $0.name == detector }
        case .quorum: true
        case .detector, .others: false
        }
    }

    /// Why a handler never gets a kind of event; `nil` when it may.
    fileprivate func absence(of kind: EventKind, for handler: HandlerSection) -> String? {
        let chosen = { (name: String) in handler.detectors?.contains(name) ?? true }
        let origin = kind.origin
        switch origin {
        case .motion(let feature):
            if motions.contains(where: { chosen($0.name) && $0.settings.features.contains(feature) }) { return nil }
            return "no [motion.NAME] that it listens to has \(Spelling.quoted(feature.rawValue)) in `detect`"
        case .heading:
            return norths.contains { chosen($0.name) } ? nil : "it listens to no [north.NAME], which makes it"
        case .sector:
            if norths.contains(where: { chosen($0.name) && !$0.settings.sectors.isEmpty }) { return nil }
            return "no [north.NAME] that it listens to has `sectors`"
        case .screen:
            return orientations.contains { chosen($0.name) }
                ? nil : "it listens to no [orientation.NAME], which makes it"
        case .hinge:
            return hinges.contains { chosen($0.name) } ? nil : "it listens to no [hinge.NAME], which makes it"
        case .light:
            return lights.contains { chosen($0.name) } ? nil : "it listens to no [light.NAME], which makes it"
        case .proximity:
            return proximities.contains { chosen($0.name) } ? nil : "it listens to no [proximity.NAME], which makes it"
        case .detector: return nil
        case .quorum:
            let hasQuorum = handler.decorators.contains { if case .quorum = $0 { true } else { false } }
            return hasQuorum ? nil : "the decorator `quorum` makes it, for the handler that has it"
        case .others:
            if handler.detectors != nil { return "it belongs to no detector, and `detector` asks for those of some" }
            if kind == .storeFailed || kind == .storeRecovered { return store == nil ? "there is no [store]" : nil }
            guard kind == .commandFinished || kind == .commandFailed else { return nil }
            return handlers.contains { $0.action is CommandAction } ? nil : "no handler has a `command`"
        }
    }
}

extension EventKind {
    /// What makes events of a kind.
    fileprivate enum Origin {
        /// A `[motion.NAME]` that looks for it.
        case motion(MotionSettings.Feature)
        /// A `[north.NAME]`.
        case heading
        /// A `[north.NAME]` with sectors.
        case sector
        /// An `[orientation.NAME]`.
        case screen
        /// A `[hinge.NAME]`.
        case hinge
        /// A `[light.NAME]`.
        case light
        /// A `[proximity.NAME]`.
        case proximity
        /// Any detector.
        case detector
        /// The decorator of a handler.
        case quorum
        /// Sensors, handlers, the store, the socket.
        case others
    }

    fileprivate var origin: Origin {
        switch self {
        case .motionBegan, .motionMoving, .motionEnded: .motion(.motion)
        case .shake: .motion(.shake)
        case .freeFall: .motion(.freeFall)
        case .shock: .motion(.shock)
        case .rotationBegan, .rotationEnded: .motion(.rotation)
        case .heading, .headingLost, .headingFound, .northFaced, .northFacing, .northLeft, .interferenceBegan,
            .interferenceEnded, .calibrationNeeded, .calibrationRestored:
            .heading
        case .sectorEntered, .sectorLeft: .sector
        case .orientationChanged, .tiltChanged: .screen
        case .hingeChanged: .hinge
        case .lightChanged: .light
        case .proximityChanged: .proximity
        case .detectorFailed, .detectorUnavailable: .detector
        case .quorumReached: .quorum
        default: .others
        }
    }
}
