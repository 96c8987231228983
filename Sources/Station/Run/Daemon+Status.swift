import Binnacle
import Configuration
import DesktopBus
import EventSocket
import Glibc
import Handlers
import LinuxSystem
import PlainText
import Store

/// The answer to `binnacle status`.
extension Daemon {
    /// The daemon's status, as a JSON object on one line.
    ///
    /// `state` is `ok`, or `degraded` when there are `problems`. Ages are in seconds; an unknown figure is null.
    func statusLine() -> String {
        let now = SystemClock.monotonic()
        let statistics = store?.statistics
        let problems = problems(statistics)
        var status = JSONObject()
        status.add("version", Version.current)
        status.add("pid", raw: String(getpid()))
        status.add("state", problems.isEmpty ? "ok" : "degraded")
        status.add("problems", list: problems.map(JSONObject.quoted))
        status.add("uptime_s", seconds: now - startNanoseconds)
        status.add("seq", raw: String(router.sequence))
        let usage = ProcessUsage()
        status.add("resident_bytes", raw: usage.residentBytes.map { String($0) } ?? "null")
        status.add("cpu_s", number: usage.processorSeconds, decimals: 3)
        status.add("events_total", list: eventTally.objects)
        status.add("configuration", raw: configurationObject(now))
        status.add("sensors", list: sensorObjects(now))
        status.add("detectors", list: assembly.detectors.map(object))
        status.add("handlers", list: lines.map { object($0, statistics) })
        status.add("store", raw: statistics.map(Self.object) ?? "null")
        status.add("socket", raw: relay.server.map { object($0.statistics) } ?? "null")
        status.add("dbus", raw: desktopObject)
        return status.text
    }

    /// The problems, each a sentence.
    private func problems(_ store: EventStoreStatistics?) -> [String] {
        var problems = router.sensors.filter { !$0.isActive && !isWaiting($0) && !isIdle($0) }.map { sensor in
            "sensor '\(sensor.name)' is inactive" + (sensor.failure.map { ": \($0)" } ?? "")
        }
        if assembly.detectors.isEmpty { problems.append("there is no detector") }
        for detector in assembly.detectors
        where !pipeline.isWorking(detector) && !isWaiting(detector)
            && !detector.streams.contains(where: { isIdle($0.sensor) })
        {
            problems.append("detector '\(detector.name)' does not run")
        }
        for line in lines {
            guard let failure = tallies[line.section.name]?.failure else { continue }
            problems.append("handler '\(line.section.name)': \(failure)")
        }
        if let failure = store?.failure { problems.append("the event store: \(failure)") }
        if let failure = log.failure { problems.append("the log: standard error: \(failure)") }
        if let failure = desktop?.bus.statistics.failure { problems.append("D-Bus: \(failure)") }
        if let socketFailure { problems.append("the socket: \(socketFailure)") }
        return problems
    }

    /// Whether there is no device for a sensor, which may be so while others deliver.
    private func isWaiting(_ sensor: Sensor) -> Bool {
        guard !sensor.isActive, missingSensors.contains(sensor.name),
            assembly.detectors.contains(where: { $0.streams.allSatisfy(\.sensor.isActive) }),
            let section = assembly.sensors.first(where: { $0.object === sensor })?.section
        else { return false }
        return assembly.configuration.isOptional(section)
    }

    /// Whether a detector waits for such a sensor.
    private func isWaiting(_ detector: any Detector) -> Bool {
        detector.streams.contains { isWaiting($0.sensor) }
            && detector.streams.allSatisfy { $0.sensor.isActive || isWaiting($0.sensor) }
    }

    private func configurationObject(_ now: Int64) -> String {
        var object = JSONObject()
        object.add("path", options.configurationPath)
        object.add("files", list: assembly.configuration.files.map(JSONObject.quoted))
        object.add("read_s", seconds: now - configuredNanoseconds)
        object.add("refused", refusedConfiguration)
        return object.text
    }

    private func sensorObjects(_ now: Int64) -> [String] {
        let statistics = pipeline.statistics
        return router.sensors.map { sensor in
            var object = JSONObject()
            object.add("name", sensor.name)
            object.add("active", raw: String(sensor.isActive))
            if isIdle(sensor) { object.add("idle", raw: "true") }
            if isWaiting(sensor) { object.add("waiting", raw: "true") }
            object.add("simulated", raw: String(sensor.isSimulated))
            // A gyroscope that has never delivered is not there.
            let streams = statistics.filter {
                $0.stream.sensor === sensor && !($0.stream.isOptional && $0.sampleCount == 0)
            }
            object.add("streams", list: streams.map { self.object($0, now) })
            return object.text
        }
    }

    private func object(_ statistics: StreamStatistics, _ now: Int64) -> String {
        let age = statistics.lastTimeNanoseconds.map { now - source.clockNanoseconds(of: $0) }
        var object = JSONObject()
        object.add("kind", statistics.stream.kind.rawValue)
        // Without recent samples there is no rate.
        object.add("rate_hz", number: age.map { $0 > 2_000_000_000 ? 0 : statistics.rateHz } ?? nil, decimals: 2)
        object.add("last_sample_s", seconds: age)
        object.add("samples", raw: String(statistics.sampleCount))
        object.add("losses", raw: String(statistics.lossCount))
        object.add("lost_samples", raw: String(statistics.lostSampleCount))
        object.add("gaps", raw: String(statistics.gapCount))
        return object.text
    }

    private func object(_ detector: any EventDetector) -> String {
        var object = JSONObject()
        object.add("name", detector.name)
        object.add("kind", type(of: detector).kind)
        object.add("running", raw: String(pipeline.isWorking(detector)))
        if isWaiting(detector) { object.add("waiting", raw: "true") }
        if let state = detector.state { object.add("state", state) }
        // Values that are held, such as a heading, are not valid.
        let figures = detector.figures
        if !figures.contains(where: { $0.name == .age }) {
            for figure in figures { object.add(figure.name, figure.value) }
        }
        if let state = detector.gyroscopeState { object.add("gyroscope", raw: Self.object(state)) }
        return object.text
    }

    private static func object(_ state: GyroscopeState) -> String {
        var object = JSONObject()
        let offset = state.memory.offset * (180 / .pi)
        object.add(
            "offset_dps", list: (0..<3).map { Figure.Value.number(offset[$0], decimals: 3).description })
        object.add("offset_sigma_dps", number: state.sigmaDegrees, decimals: 3)
        // For how long the heading has lived on it alone.
        if let seconds = state.secondsAlone { object.add("alone_s", number: seconds, decimals: 1) }
        return object.text
    }

    private static func object(_ store: EventStoreStatistics) -> String {
        var object = JSONObject()
        object.add("path", store.path)
        object.add("failure", store.failure)
        object.add("bytes", raw: String(store.fileBytes))
        object.add("events", raw: store.eventCount.map { String($0) } ?? "null")
        object.add("oldest", store.oldestWallNanoseconds.map { WallTime.text($0) })
        object.add("newest", store.newestWallNanoseconds.map { WallTime.text($0) })
        object.add("seq", raw: String(store.lastSequence))
        object.add("queued", raw: String(store.queueCount))
        object.add("dropped", raw: String(store.droppedCount))
        object.add("not_stored", raw: String(store.notStoredCount))
        object.add("unreadable", raw: String(store.unreadableCount))
        object.add("removed_deliveries", raw: String(store.removedDeliveryCount))
        return object.text
    }

    private func object(_ socket: SocketStatistics) -> String {
        var object = JSONObject()
        object.add("path", assembly.configuration.socket?.path)
        object.add("connections", raw: String(socket.connectionCount))
        object.add("accepted", raw: String(socket.acceptedCount))
        object.add("refused", raw: String(socket.refusedCount))
        object.add(
            "subscribers",
            list: socket.subscribers.map { subscriber in
                var object = JSONObject()
                object.add("uid", raw: String(subscriber.user))
                object.add("pid", raw: String(subscriber.process))
                object.add("behind", raw: String(subscriber.behind))
                object.add("missed", raw: String(subscriber.missed))
                return object.text
            })
        return object.text
    }

    private func object(_ line: HandlerLine, _ store: EventStoreStatistics?) -> String {
        let tally = tallies[line.section.name] ?? HandlerTally()
        var object = JSONObject()
        object.add("name", line.section.name)
        object.add("action", type(of: line.section.action).key)
        object.add("queued", raw: String(line.handler.unfinishedCount))
        object.add("dropped", raw: String(tally.droppedCount))
        object.add("finished", raw: String(tally.finishedCount))
        object.add("failed", raw: String(tally.failedCount))
        object.add("failure", tally.failure)
        if line.section.action is CommandAction { object.add("duration_s", raw: tally.durations.text) }
        if let status = line.handler.status { object.add(type(of: line.section.action).key, raw: status) }
        if let delivery = store?.handlers.first(where: { $0.name == line.section.name }) {
            object.add("cursor", raw: String(delivery.position))
            object.add("stored", raw: String(delivery.waitingCount))
            object.add("unacknowledged", raw: String(delivery.unacknowledgedCount))
        }
        return object.text
    }
}

extension JSONObject {
    /// Adds a time in seconds, or null.
    fileprivate mutating func add(_ key: String, seconds nanoseconds: Int64?) {
        add(key, number: nanoseconds.map { Double($0) * 1e-9 }, decimals: 3)
    }

    /// Adds a number, or null.
    fileprivate mutating func add(_ key: String, number: Double?, decimals: Int) {
        add(key, raw: number.map { Figure.Value.number($0, decimals: decimals).description } ?? "null")
    }
}
