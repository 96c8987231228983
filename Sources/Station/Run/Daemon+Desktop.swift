import Binnacle
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem
import PlainText

/// Which devices are read, and the service on the system bus, whose claims are one reason to read them.
extension Daemon {
    /// The kinds of single readings that desktops ask for.
    private static let desktopReadings: [AmbientReading.Kind] = [.light, .proximity]

    /// Starts, changes or ends the service on the bus; its connection and its claims outlive a reload.
    func applyDesktop(of new: Configuration) {
        guard let section = new.dbus else {
            guard let desktop else { return }
            desktop.bus.finish()
            self.desktop = nil
            return replaceChains()
        }
        if let desktop {
            desktop.bus.change(section.settings)
        } else {
            var surroundings = DesktopBus.Surroundings()
            let mailbox = mailbox
            surroundings.say = { mailbox.post(.word($0, $1)) }
            surroundings.wantedChanged = { mailbox.post(.claimed($0)) }
            surroundings.status = { mailbox.post(.status(reply: $0)) }
            surroundings.dropped = { mailbox.post(.report(Self.dropped($0))) }
            surroundings.version = Version.current
            do throws(SystemError) {
                desktop = DesktopService(try DesktopBus(section.settings, surroundings: surroundings))
            } catch {
                log.say("D-Bus: there is no service: \(error)", level: .error)
            }
            replaceChains()
            searchReadings()
        }
        desktop?.use(assembly)
        desktop?.deviceChangeCount = -1
    }

    private static func dropped(_ count: Int) -> Event {
        Event(
            kind: .eventsDropped, timeNanoseconds: 0,
            figures: [
                Figure(.handler, .text("dbus")), Figure(.count, .integer(Int64(count))),
                Figure(.reason, .text("the system bus did not take them in time")),
            ])
    }

    /// Has a thread look whether the machine has what is read without samples: a driver may take any time.
    private func searchReadings() {
        guard let desktop else { return }
        guard !desktop.isSearching else {
            desktop.wantsAnotherSearch = true
            return
        }
        let (mailbox, root) = (mailbox, options.root)
        do throws(SystemError) {
            try WorkerThread.start {
                mailbox.post(.readingsPresent(AmbientWatcher.present(Self.desktopReadings, root: root)))
            }
            desktop.isSearching = true
        } catch {
            desktop.readingsPresent = desktop.readingsPresent ?? []
        }
    }

    func take(readingsPresent kinds: Set<AmbientReading.Kind>) {
        guard let desktop else { return }
        desktop.readingsPresent = kinds
        desktop.isSearching = false
        if desktop.wantsAnotherSearch {
            desktop.wantsAnotherSearch = false
            searchReadings()
        }
        if desktop.look(source.live) { reviewDemand() }
    }

    /// Takes what programs have claimed.
    func take(claimed: DesktopSensors) {
        desktop?.claimed = claimed
        reviewDemand()
    }

    /// Gives a reading to the detectors and to the desktop.
    func take(_ outcome: AmbientReading.Outcome) {
        for detector in assembly.detectors where detector.ambientKinds.contains(outcome.kind) {
            detector.process(outcome)
        }
        desktop?.take(outcome)
        if case .failed = outcome { searchReadings() }
    }

    /// Follows devices that come and go, and sends what has changed; called at each turn.
    func serveDesktop(_ now: Int64) {
        guard let desktop else { return }
        let count = source.live?.deviceChangeCount ?? 1
        if count != desktop.deviceChangeCount {
            let isFirst = desktop.deviceChangeCount < 0
            desktop.deviceChangeCount = count
            if !isFirst { searchReadings() }
            if desktop.look(source.live) { reviewDemand() }
        }
        if desktop.endTrial(source.live, at: now) { reviewDemand() }
        desktop.update(isSearched: count > 0, at: now)
    }

    /// When the desktop has something to do although nothing happens, on CLOCK_MONOTONIC; `nil` for never.
    var desktopDeadline: Int64? {
        guard let desktop else { return nil }
        let due = min(desktop.trialEnd, desktop.hasBegun ? .max : desktop.beginDeadline)
        return due == .max ? nil : due
    }

    // MARK: - Demand

    /// Has those devices read that something wants: a handler, the store or the socket, or a claim.
    func reviewDemand() {
        let claimed = desktop?.claimedDetectors ?? []
        let wanted = assembly.detectors.filter { detector in
            assembly.configuration.isHeard(detector.name) || claimed.contains { $0 === detector }
                || isAsked(detector)
        }
        // What is played costs no device.
        let sensors = assembly.requests.map(\.sensor)
        let idle = sensors.filter { sensor in
            !wanted.contains { $0.streams.contains { $0.sensor === sensor } }
        }
        let resumed = idleSensors.filter { sensor in
            sensors.contains { $0 === sensor } && !idle.contains { $0 === sensor }
        }
        idleSensors = idle
        source.live?.change(assembly.requests.filter { request in !idle.contains { $0 === request.sensor } })
        if !resumed.isEmpty {
            pipeline.resume(resumed)
            // What they knew is from before the pause.
            for detector in assembly.detectors
            where detector.isDetecting
                && detector.streams.contains(where: { stream in
                    resumed.contains { $0 === stream.sensor }
                })
            {
                detector.stopDetection()
                if detector.streams.allSatisfy(\.sensor.isActive) { detector.startDetection() }
            }
        }
        let kinds = wanted.reduce(into: desktop?.claimedReadings ?? []) { $0.formUnion($1.ambientKinds) }
        watch(kinds)
    }

    /// Whether an orientation that is wanted needs the posture of a hinge.
    private func isAsked(_ detector: any Detector) -> Bool {
        let configuration = assembly.configuration
        return configuration.detectors.contains { section in
            section.asked.contains(detector.name) && configuration.isHeard(section.name)
        }
    }

    /// Whether nothing wants what a sensor measures.
    func isIdle(_ sensor: Sensor) -> Bool { idleSensors.contains { $0 === sensor } }

    /// Has what has no samples be read; new detectors get the present values.
    private func watch(_ kinds: Set<AmbientReading.Kind>) {
        let takers = assembly.detectors.filter { !$0.ambientKinds.isEmpty }.map { ObjectIdentifier($0) }
        guard kinds != watchedReadings || takers != watchedTakers else { return }
        (watchedReadings, watchedTakers) = (kinds, takers)
        watcher?.stop()
        watcher = nil
        watcherNumber += 1
        guard !kinds.isEmpty else { return }
        let (mailbox, number) = (mailbox, watcherNumber)
        let ordered = AmbientReading.Kind.allCases.filter(kinds.contains)
        do throws(SystemError) {
            let next = try AmbientWatcher(ordered, root: options.root)
            try next.start { mailbox.post(.reading($0, watcher: number)) }
            watcher = next
        } catch {
            for kind in ordered { take(.failed(kind, SensorFailure(.inputOutput, error.description))) }
        }
    }

    /// The state of the service, as a JSON object; "null" without one.
    var desktopObject: String {
        guard let statistics = desktop?.bus.statistics else { return "null" }
        var object = JSONObject()
        object.add("names", list: statistics.names.sorted().map(JSONObject.quoted))
        object.add("failure", statistics.failure)
        var claims = JSONObject()
        for sensor in DesktopSensor.allCases {
            claims.add(sensor.rawValue.lowercased(), raw: String(statistics.claims[sensor] ?? 0))
        }
        object.add("claims", raw: claims.text)
        object.add("broadcast", raw: String(statistics.broadcastCount))
        object.add("dropped", raw: String(statistics.droppedCount))
        return object.text
    }
}
