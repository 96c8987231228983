import Binnacle
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
import TableReading

extension ConfigurationReader {
    /// The entries of sections by their names, since there may be thousands.
    typealias Sections = [String: TOMLEntry]

    /// Warns of settings that are valid and probably not intended.
    func warn(of configuration: Configuration, _ sensors: Sections, _ detectors: Sections, _ handlers: Sections) {
        // What else is missing may be in the other files that complete it.
        guard !configuration.detectorNames.isEmpty || !configuration.sampledSensors.isEmpty else {
            guard configuration.dbus == nil, embedded == nil else { return }
            diagnostics.report(
                .warning, at: SourcePosition(line: 1, column: 1),
                "there is no detector: the daemon needs one, in this file or in another one of its folder",
                hint: "add a section [motion.NAME] or another one of a detector")
            return
        }
        for name in configuration.sensors.map(\.name)
        where configuration.kinds(of: name).isEmpty && !configuration.namedSensors.contains(name) {
            guard let entry = sensors[name] else { continue }
            diagnostics.report(
                .warning, at: entry.node.position, "no detector uses the sensor \(Spelling.quoted(entry.key))",
                hint: "sections of detectors, such as [motion.NAME], name the sensors that they need")
        }
        for section in configuration.sampledSensors where configuration.socket == nil {
            guard let entry = sensors[section.name]?.entry(SensorSection.samples) else { continue }
            diagnostics.report(
                .warning, at: entry.keyPosition, "there is no [socket], at which programs get these samples")
        }
        // The command line adds handlers to a generated text.
        if configuration.handlers.isEmpty, configuration.store == nil, configuration.socket == nil,
            configuration.dbus == nil, embedded == nil
        {
            diagnostics.report(
                .warning, at: SourcePosition(line: 1, column: 1), "there is no handler: events go nowhere",
                hint: "a section [handler.NAME] says what is done with them, such as log = true")
        }
        if configuration.position != nil, !configuration.detectors.contains(where: \.dependsOnPlace),
            let entry = entries.first(where: { $0.key == "position" })
        {
            diagnostics.report(
                .warning, at: entry.node.position, "no detector uses [position]",
                hint: "it makes the headings of a [north.NAME], and of an [attitude.NAME] with a magnetometer, true")
        }
        warnOfSlow(configuration, sensors)
        warnOfGaps(configuration, detectors)
        warnOfMatrices(configuration, sensors)
        warnOfCalibrations(configuration, sensors)
        reportForeignAxes(configuration, sensors)
        warnOfWatching(configuration, detectors)
        warnOfUnheard(configuration, detectors)
        warnOfSilence(configuration, handlers)
        reportSharedPlaces(configuration, handlers)
        for section in configuration.handlers {
            guard let entry = handlers[section.name] else { continue }
            for notice in section.action.notices(behind: section.decorators) {
                let key = entry.entry(type(of: section.action).key)
                diagnostics.report(.warning, at: key?.keyPosition ?? entry.keyPosition, notice)
            }
            for key in type(of: section.action).row.further where key.needsStore && configuration.store == nil {
                guard let place = entry.entry(key.name)?.keyPosition else { continue }
                diagnostics.report(.warning, at: place, "\(key.name) has no effect without [store]")
            }
            if let on = entry.entry("on") { warn(of: section, on, in: configuration) }
            warnOfQuorum(of: section, entry)
        }
    }

    /// Warns of sensors whose `rate_hz` is below what a detector needs at least.
    private func warnOfSlow(_ configuration: Configuration, _ sensors: Sections) {
        for sensor in configuration.sensors {
            guard let rateHz = sensor.statedHz,
                let entry = sensors[sensor.name]?.entry(SensorSection.rate)
            else { continue }
            // A device without one gets what the detectors need; a model does not.
            let other = sensor.source.device == nil ? "" : ", or leave rate_hz out"
            for need in configuration.needs(beyond: rateHz, of: sensor.name) {
                diagnostics.report(
                    .warning, at: entry.keyPosition, need.words,
                    hint: "give the sensor rate_hz = \(SysfsNumber.text(need.rateHz))\(other)")
            }
        }
    }

    /// Warns of a `gap_s` that takes the usual distance of two samples, or one lost sample, for a gap.
    private func warnOfGaps(_ configuration: Configuration, _ sections: Sections) {
        for detector in configuration.detectors {
            guard let entry = sections[detector.name]?.entry("gap_s"), let gap = entry.node.number else { continue }
            let intervals = detector.needs.filter { !$0.isOptional }.compactMap { need in
                configuration.sensors.first { $0.name == need.sensor }?.intervalSeconds(of: need.kind)
            }
            guard let interval = intervals.max(), gap < 2 * interval * 0.99 else { continue }
            let text = SysfsNumber.text((interval * 20_000).rounded() / 10_000)
            diagnostics.report(
                .warning, at: entry.keyPosition,
                "gap_s is shorter than two intervals of the samples, \(text) s: detection starts again at "
                    + (gap < interval ? "every sample, and finds nothing" : "each sample that is late or lost"),
                hint: "raise it, or leave it out")
        }
    }

    /// Warns of what is in a calibration for a sensor of which a detector reads that from another section, which has none.
    private func warnOfCalibrations(_ configuration: Configuration, _ sensors: Sections) {
        for sensor in configuration.sensors {
            guard let calibration = sensor.calibration,
                let entry = sensors[sensor.name]?.entry(SensorSection.calibration)
            else { continue }
            let needs = configuration.detectors(of: sensor.name).flatMap(\.needs)
            for kind in SensorCalibration.kinds where calibration.axes(of: kind) != nil {
                let readers = needs.filter { $0.kind == kind && !$0.isOptional }.map(\.sensor)
                guard !readers.contains(sensor.name),
                    let other = configuration.sensors.first(where: { readers.contains($0.name) }),
                    other.calibration?.axes(of: kind) == nil
                else { continue }
                diagnostics.report(
                    .warning, at: entry.keyPosition,
                    "its [\(kind.rawValue)] is not used: the \(kind.rawValue) is that of [sensor.\(other.name)]",
                    hint: "name the file in [sensor.\(other.name)] as well")
            }
        }
    }

    /// Reports calibrations that were made in other axes than their section's: they would add an error in place of removing one.
    private func reportForeignAxes(_ configuration: Configuration, _ sensors: Sections) {
        for sensor in configuration.sensors {
            guard let stated = sensor.calibration?.statedAxes,
                let entry = sensors[sensor.name]?.entry(SensorSection.calibration)
            else { continue }
            for kind in configuration.kinds(of: sensor.name) + configuration.optionalKinds(of: sensor.name) {
                guard let made = stated[kind], let own = sensor.statedAxes(of: kind), made != own else { continue }
                // A magnetometer without a device of its own has the axes of the section that it shares one with.
                if case .auto = sensor.source, kind == .magnetometer, sensor.settings.mountMatrix == nil,
                    configuration.sensors.contains(where: { $0.statedAxes(of: kind) == made })
                {
                    continue
                }
                func words(_ axes: String) -> String { axes == "driver" ? "the driver's axes" : axes.printable }
                diagnostics.report(
                    .error, at: entry.keyPosition,
                    "its [\(kind.rawValue)] was made in \(words(made)), and [sensor.\(sensor.name)] has \(words(own))",
                    hint:
                        "take this key out, calibrate again with 'binnacle calibrate \(kind.rawValue) --config PATH', and put it back"
                )
            }
        }
    }

    /// Warns of mount matrices that scale or skew, and of those that mirror: the attitude or the heading of such a device is that
    /// of its mirror image.
    private func warnOfMatrices(_ configuration: Configuration, _ sensors: Sections) {
        for sensor in configuration.sensors {
            guard let matrix = sensor.settings.mountMatrix,
                let entry = sensors[sensor.name]?.entry("mount_matrix")
            else { continue }
            if let words = matrix.distortionWords {
                diagnostics.report(
                    .warning, at: entry.keyPosition, words,
                    hint:
                        "each row has the length 1 and is perpendicular to the others; a scale is corrected by 'binnacle calibrate'"
                )
            }
            guard matrix.determinant < 0,
                let detector = configuration.detectors(of: sensor.name).first(where: {
                    ["attitude", "north"].contains(type(of: $0).kind)
                })
            else { continue }
            diagnostics.report(
                .warning, at: entry.keyPosition,
                "it has the determinant -1, so that what [\(detector.title)] says is right for a chip with reversed signs alone",
                hint:
                    "reverse all nine numbers, and say acceleration = \"gravity\" where the accelerometer's signs are reversed"
            )
        }
    }

    /// Warns of detectors whose events reach no handler, if there is no store, socket or desktop service either.
    private func warnOfUnheard(_ configuration: Configuration, _ sections: Sections) {
        guard !configuration.handlers.isEmpty, configuration.store == nil, configuration.socket == nil,
            configuration.dbus == nil
        else { return }
        let asked = Set(configuration.detectors.flatMap(\.asked))
        // A hinge may only provide postures to an orientation detector.
        for detector in configuration.detectors where !asked.contains(detector.name) {
            let isHeard = configuration.handlers.contains { handler in
                (handler.detectors?.contains(detector.name) ?? true) && handler.kinds.contains(where: detector.canMake)
            }
            guard !isHeard, let entry = sections[detector.name] else { continue }
            diagnostics.report(
                .warning, at: entry.node.position, "no handler takes an event of [\(detector.title)]",
                hint: "the `on` of a handler names kinds of event that it makes")
        }
    }

    /// Warns where a handler waits for a bearing, and no handler takes the report that there is no heading to compare with it.
    private func warnOfSilence(_ configuration: Configuration, _ handlers: Sections) {
        guard embedded == nil else { return }
        for detector in configuration.detectors where detector.canMake(.headingLost) {
            func takes(_ handler: HandlerSection, _ kinds: Set<EventKind>) -> Bool {
                (handler.detectors?.contains(detector.name) ?? true) && !kinds.isDisjoint(with: handler.kinds)
            }
            guard !configuration.handlers.contains(where: { takes($0, [.headingLost]) }),
                let section = configuration.handlers.first(where: {
                    takes($0, [.northFaced, .northLeft, .sectorEntered, .sectorLeft])
                }), let on = handlers[section.name]?.entry("on")
            else { continue }
            diagnostics.report(
                .warning, at: on.keyPosition,
                "no handler takes `heading.lost` of [\(detector.title)]: while it has no heading, [handler.\(section.name)] is silent",
                hint: "add it to the `on` of a handler that people see, such as one with log = true")
        }
    }

    /// Refuses a handler that would write over what is read, or over the store; warns of two that write to one file, or retain
    /// messages under one topic of a broker.
    private func reportSharedPlaces(_ configuration: Configuration, _ handlers: Sections) {
        let inputs = diagnostics.readFiles + diagnostics.namedFiles + configuration.inputs
        let store = configuration.store?.files ?? []
        for section in configuration.handlers {
            guard let file = section.action.writtenFile,
                let entry = handlers[section.name]?.entry(type(of: section.action).key)
            else { continue }
            if let read = inputs.first(where: file.isSamePath) {
                // A replay without handlers writes nothing; others refuse it.
                diagnostics.report(
                    .warning, at: entry.node.position, "\(read.printable) would be written over while it is read",
                    hint: "choose another file for [handler.\(section.name)]")
            } else if store.contains(where: file.isSamePath) {
                diagnostics.report(
                    .error, at: entry.node.position,
                    "\(file.printable) is the event store, which lines of text would destroy",
                    hint: "choose another file for [handler.\(section.name)]")
            }
        }
        var owners: [String: String] = [:]
        for section in configuration.handlers {
            for place in section.action.exclusivePlaces {
                guard let owner = owners.updateValue(section.name, forKey: "\(place.words) \(place.name)"),
                    let entry = handlers[section.name]
                else { continue }
                diagnostics.report(
                    .warning, at: entry.entry(place.key)?.keyPosition ?? entry.node.position,
                    "[handler.\(section.name)] and [handler.\(owner)] have the same \(place.words)",
                    hint: place.hint ?? "give each its own `\(place.key)`")
            }
        }
    }

    /// Warns of a `watch` without effect, because another detector of the sensor needs every sample.
    private func warnOfWatching(_ configuration: Configuration, _ sections: Sections) {
        for section in configuration.detectors {
            guard let need = section.needs.first(where: { $0.chip?.reports.isEmpty == true }),
                configuration.chip(of: need.sensor)?.rests != true
            else { continue }
            let others = configuration.detectors(of: need.sensor).filter { other in
                other.needs.contains { $0.sensor == need.sensor && $0.chip == nil }
            }
            let entry = sections[section.name]
            guard let position = (entry?.entry("watch") ?? entry)?.keyPosition else { continue }
            let titles =
                others.map { "[\($0.title)]" }
                + configuration.sampledSensors.filter { $0.name == need.sensor }.map { "[sensor.\($0.name)]" }
            diagnostics.report(
                .warning, at: position,
                "watch has no effect: \(Spelling.list(titles)) \(titles.count == 1 ? "needs" : "need") every sample of the sensor "
                    + Spelling.quoted(need.sensor),
                hint: "disable what is not used, with enabled = false, or give it another sensor")
        }
    }

    /// Warns of a quorum of more sensors than the handler hears of.
    private func warnOfQuorum(of section: HandlerSection, _ entry: TOMLEntry) {
        for case .quorum(let count, _) in section.decorators {
            let begins = section.heard.filter { !$0.kinds.isDisjoint(with: EventKind.begins) }
            let sensors = Set(begins.map(\.sensor))
            guard count > sensors.count else { continue }
            diagnostics.report(
                .warning, at: entry.entry("decorate")?.keyPosition ?? entry.keyPosition,
                "a quorum of \(count) is never reached: the detectors of [handler.\(section.name)] have \(sensors.count) "
                    + (sensors.count == 1 ? "sensor" : "sensors"),
                hint: "lower `count`, or add detectors at other sensors")
        }
    }

    /// Warns of kinds that a handler never gets.
    ///
    /// A log of everything may name kinds that do not occur at present; a handler that acts is meant to act.
    private func warn(of section: HandlerSection, _ on: TOMLEntry, in configuration: Configuration) {
        guard let nodes = on.node.items else { return }
        let reasons = nodes.compactMap { node -> (position: SourcePosition, kind: EventKind, reason: String)? in
            guard let word = node.string, let kind = EventKind(rawValue: word),
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

extension TOMLEntry {
    fileprivate func entry(_ key: String) -> TOMLEntry? {
        node.entries?.first { $0.key == key }
    }
}

extension Configuration {
    /// Why a handler never gets a kind of event; `nil` if it may.
    fileprivate func absence(of kind: EventKind, for handler: HandlerSection) -> String? {
        switch kind.row.source {
        case .detector(let table):
            let isMade = detectors.contains { $0.canMake(kind) && handler.detectors?.contains($0.name) ?? true }
            guard !isMade else { return nil }
            let type = DetectorSections.all.first { $0.kind == table }
            guard let condition = type?.conditionWords(of: kind) else {
                return "it listens to no [\(table).NAME], which makes it"
            }
            return "no [\(table).NAME] that it listens to \(condition)"
        case .anyDetector: return nil
        case .quorum:
            let hasQuorum = handler.decorators.contains { if case .quorum = $0 { true } else { false } }
            return hasQuorum ? nil : "the decorator `quorum` makes it, for the handler that has it"
        case .sensors, .handlers, .commands, .store:
            if handler.detectors != nil, !kind.isArming {
                return "it belongs to no detector, and `detector` asks for those of some"
            }
        }
        switch kind.row.source {
        case .store: return store == nil ? "there is no [store]" : nil
        case .commands:
            return handlers.contains { $0.action is CommandAction } ? nil : "no handler has a `command`"
        default: return nil
        }
    }
}
