import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// Finding, opening and losing devices.
extension LiveSource {
    func take(_ message: LiveMessage, _ now: Int64) {
        switch message {
        case .enumerated(let found):
            // A second search finds what went while udev could not say so.
            for device in devices ?? [] where !found.contains(where: { $0.path == device.path }) { remove(device.path) }
            let known = devices ?? []
            devices = known.isEmpty ? found.filter { !removedEarly.contains($0.path) } : known
            for device in known.isEmpty ? early : found { add(device) }
            early.removeAll()
            removedEarly.removeAll()
            openWaiting()
        case .enumerationFailed(let reason):
            devices = devices ?? early
            for sensor in sensors where sensor.device == nil {
                fail(sensor, SensorFailure(.missing, "the devices cannot be listed: \(reason)"))
            }
        case .found(let device, let change):
            guard change == changes[device.path] else { return }
            add(device)
            // Until the search is done, there may be a better one.
            if isSearched { openWaiting() }
        case .opened(let number, let generation, let result):
            guard let sensor = sensor(numbered: number) else { return takeBack(number, result) }
            sensor.isWorkerOut = false
            guard sensor.generation == generation else {
                // Nobody waits for it any more; somebody may wait for its turn.
                if case .success(let open) = result { open.opened.discard() }
                return openWaiting()
            }
            switch result {
            case .success(let open): begin(sensor, open, now)
            case .failure(let failure) where sensor.isBufferTrial && failure.category == .busy:
                // Somebody else has taken it meanwhile, and does not mind single values.
                passOverBuffer(sensor, now)
                sensor.phase = .waiting(retryNanoseconds: now)
            case .failure(let failure): lose(sensor, failure, now)
            }
        case .closed(let number):
            leaving[number] = nil
            openWaiting()
        case .polled(let number, let generation, let outcome):
            guard let sensor = sensor(numbered: number), sensor.generation == generation,
                let reader = sensor.reader as? PolledReader
            else { return }
            accept(outcome, sensor, reader, now)
        }
    }

    private var isSearched: Bool { devices != nil }

    /// Takes note of a device; one that is known already may have changed.
    private func add(_ device: SensorDevice) {
        var known = devices ?? early
        defer { if devices != nil { devices = known } else { early = known } }
        if let index = known.firstIndex(where: { $0.path == device.path }) {
            var changed = device
            if changed.name == known[index].name { changed.id = known[index].id }
            known[index] = changed
            // What was wrong with it may be mended.
            for sensor in sensors where sensor.device?.path == device.path {
                if case .waiting = sensor.phase { sensor.device = changed }
            }
            return
        }
        known.append(device)
        DeviceIdentity.distinguish(&known)
    }

    /// A device has gone.
    func remove(_ path: String) {
        guard isSearched else {
            early.removeAll { $0.path == path }
            removedEarly.insert(path)
            return
        }
        devices?.removeAll { $0.path == path }
        let now = SystemClock.monotonic()
        for sensor in sensors where sensor.device?.path == path {
            lose(sensor, SensorFailure(.removed, "\(path): the device was removed"), now, isGone: true)
        }
    }

    /// Opens a device for every sensor that waits for one.
    ///
    /// Those go first whose own device is there, then those that say most about theirs: otherwise a sensor that any
    /// device satisfies would take the only one of another.
    func openWaiting() {
        let waiting = sensors.filter { if case .waiting = $0.phase { true } else { false } }
        let known = waiting.filter { sensor in devices?.contains { $0.id == sensor.lastID } ?? false }
        let others = waiting.filter { sensor in !known.contains { $0 === sensor } }
        let careful = others.enumerated().sorted {
            let (left, right) = ($0.element.request.match.criterionCount, $1.element.request.match.criterionCount)
            return left == right ? $0.offset < $1.offset : left > right
        }
        for sensor in known + careful.map(\.element) { open(sensor) }
    }

    /// Opens the sensor's device on a worker thread, after finding one.
    func open(_ sensor: LiveSensor) {
        sensor.phase = .waiting(retryNanoseconds: nil)
        // One worker for a sensor at a time: its answer brings the next one.
        guard !sensor.isWorkerOut else { return }
        guard let device = sensor.device ?? choose(for: sensor) else {
            if let due = leavingDue(for: sensor) {
                // Its end brings the next attempt.
                sensor.phase = .waiting(retryNanoseconds: due)
                return
            }
            return fail(sensor, SensorFailure(.missing, missing(sensor)))
        }
        sensor.device = device
        sensor.lastID = device.id
        sensor.generation += 1
        let opener = SensorOpener(
            device: device, kinds: sensor.request.kinds, settings: sensor.request.settings,
            isPolled: sensor.remedy == .polled, abandonedControls: sensor.abandonedControls)
        sensor.abandonedControls = nil
        let (mailbox, number, generation, openings) = (mailbox, sensor.number, sensor.generation, openings)
        openings.begin()
        do throws(SystemError) {
            try WorkerThread.start {
                defer { openings.end() }
                let result: Result<LiveMessage.OpenedDevice, SensorFailure>
                do throws(SensorFailure) {
                    let (opened, notices) = try opener.open()
                    result = .success(LiveMessage.OpenedDevice(opened: opened, notices: notices))
                } catch {
                    result = .failure(error)
                }
                let isTaken = mailbox.post(.opened(sensor: number, generation: generation, result))
                if !isTaken, case .success(let open) = result { open.opened.discardHere() }
            }
            sensor.isWorkerOut = true
            sensor.phase = .opening(dueNanoseconds: SystemClock.monotonic() + Self.longestOpening)
        } catch {
            openings.end()
            lose(sensor, SensorFailure(error), SystemClock.monotonic())
        }
    }

    /// A driver should answer within this.
    static let longestOpening: Int64 = 10_000_000_000

    /// Says that a device does not let itself be opened; should it ever, the sensor delivers all the same.
    func giveUpOpening(_ sensor: LiveSensor) {
        sensor.phase = .opening(dueNanoseconds: nil)
        let path = sensor.device?.path ?? ""
        fail(sensor, SensorFailure(.silent, "\(path): its driver has not answered for 10 s"))
    }

    /// The device that played the sensor before, or else the first one that is meant and plays no other.
    private func choose(for sensor: LiveSensor) -> SensorDevice? {
        let free = (devices ?? []).filter { device in
            sensor.request.accepts(device) && !leaving.values.contains { $0.path == device.path }
                && !sensors.contains { $0 !== sensor && $0.device?.path == device.path }
        }
        return free.first { $0.id == sensor.lastID } ?? free.first
    }

    /// Until when a device is waited for that a sensor which has gone still holds; `nil` when there is none.
    private func leavingDue(for sensor: LiveSensor) -> Int64? {
        let now = SystemClock.monotonic()
        let held = leaving.values.filter { leaving in
            leaving.dueNanoseconds > now
                && (devices ?? []).contains { $0.path == leaving.path && sensor.request.accepts($0) }
        }
        return held.map(\.dueNanoseconds).max()
    }

    private func missing(_ sensor: LiveSensor) -> String {
        let found = (devices ?? []).map { "\($0.interface.rawValue) '\($0.name.printable)'" }
        let list = found.isEmpty ? "no sensor is there" : "found are " + found.joined(separator: ", ")
        let kinds = sensor.request.kinds.map(\.rawValue).joined(separator: " and ")
        return "no free device with \(kinds) for \(sensor.request.description.printable); \(list)"
    }

    /// Begins to read a device that a worker has opened.
    private func begin(_ sensor: LiveSensor, _ open: LiveMessage.OpenedDevice, _ now: Int64) {
        sensor.request.sensor.authorizationStatus = .authorized
        sensor.hasDelivered = false
        sensor.isBufferTrial = false
        do throws(SensorFailure) {
            let reader = try makeReader(sensor, open.opened, now)
            if let descriptor = reader.descriptor {
                do throws(SystemError) {
                    try epoll.add(descriptor, token: UInt64(sensor.number))
                    if reader.isTimed { epoll.remove(descriptor) }
                } catch {
                    let place = sensor.device?.node ?? ""
                    throw SensorFailure(
                        .description, "\(place): cannot be waited for, so it is no device (\(error.description))")
                }
            }
            sensor.phase = .reading(reader)
            sensor.isReady = true
        } catch {
            open.opened.discard()
            lose(sensor, error, now)
        }
        for notice in open.notices { note(sensor, notice) }
    }

    private func makeReader(
        _ sensor: LiveSensor, _ opened: SensorOpener.Opened, _ now: Int64
    ) throws(SensorFailure) -> any SensorReader {
        let floor = sensor.lastTimeNanoseconds
        switch opened {
        case .buffer(let buffer):
            sensor.buffer = buffer
            return IIOBufferReader(buffer, now: now, floor: floor)
        case .poller(let poller):
            let (mailbox, number, generation) = (mailbox, sensor.number, sensor.generation)
            // Started here, where its words are expected.
            try poller.start { outcome in
                if !mailbox.post(.polled(sensor: number, generation: generation, outcome)) { poller.stop() }
            }
            return PolledReader(
                poller, updateInterval: sensor.request.settings.updateInterval, now: now, floor: floor)
        case .evdev(let file):
            guard let device = sensor.device else { throw SensorFailure(.missing, "the device was removed") }
            return try EvdevReader(
                file, device: device, settings: sensor.request.settings, now: now, floor: floor)
        }
    }

    private func accept(_ outcome: PollOutcome, _ sensor: LiveSensor, _ reader: PolledReader, _ now: Int64) {
        switch outcome {
        case .reading(let reading):
            reader.accept(reading, arrival: now)
            sensor.isReady = true
        case .missed(let failure):
            reader.noteMissed(arrival: now)
            // A sensor that is known to be inactive loses nothing.
            guard sensor.toldFailure == nil else { return }
            for stream in sensor.streamIDs {
                losses.append(
                    SampleLoss(stream: stream, cause: .readError, count: 1, detail: failure.description))
            }
        case .failed(let failure) where failure.category == .removed: lose(sensor, failure, now)
        case .failed(let failure):
            // The poller goes on; its next reading makes the sensor active again.
            reader.noteMissed(arrival: now)
            sensor.hasDelivered = false
            fail(sensor, failure)
        }
    }

    /// Says that a sensor cannot deliver, once, and when the reason has become another one.
    func fail(_ sensor: LiveSensor, _ failure: SensorFailure) {
        if failure.category == .permission {
            sensor.request.sensor.authorizationStatus = .denied(reason: failure.description)
        }
        guard sensor.toldFailure != failure.category else { return }
        if sensor.toldFailure == nil {
            answers.append(.failed(sensor.streams, reason: failure))
        } else {
            note(sensor, failure.description)
        }
        sensor.toldFailure = failure.category
    }

    /// Closes a device that can be read no more, and decides when to try again.
    ///
    /// - Parameters:
    ///   - sensor: The sensor.
    ///   - failure: Why.
    ///   - now: The time, on CLOCK_MONOTONIC.
    ///   - isGone: Whether udev has said that the device is gone, whatever is left of it in sysfs.
    func lose(_ sensor: LiveSensor, _ failure: SensorFailure, _ now: Int64, isGone: Bool = false) {
        let buffer = sensor.buffer
        close(sensor)
        fail(sensor, failure)
        sensor.failureCount += 1
        sensor.phase = .waiting(retryNanoseconds: now + sensor.retryDelayNanoseconds)
        // Of a device that is still in sysfs, whatever its node says, udev will have nothing to say: it is tried again.
        guard finder.usesUdev, let device = sensor.device, isGone || !device.directory.has(".") else {
            if let buffer { SensorOpener.Opened.buffer(buffer).discard() }
            return
        }
        devices?.removeAll { $0.path == device.path }
        sensor.device = nil
        sensor.forgetRemedies()
        sensor.request.sensor.authorizationStatus = .notDetermined
        // udev will say when it is back; meanwhile another device may be meant as well.
        sensor.phase = .waiting(retryNanoseconds: choose(for: sensor) == nil ? nil : now)
    }

    /// Closes a sensor's device without a word.
    func close(_ sensor: LiveSensor) {
        if let descriptor = sensor.reader?.descriptor { epoll.remove(descriptor) }
        sensor.phase = .waiting(retryNanoseconds: nil)
        sensor.buffer = nil
        sensor.isReady = false
        sensor.isSilenceSuspected = false
        sensor.generation += 1
    }

    /// A device that should speak does not: its buffer is switched off and on, then passed over, then given up.
    func treatSilence(_ sensor: LiveSensor, _ reader: any SensorReader, _ now: Int64) {
        let seconds = Double(now - reader.lastArrivalNanoseconds) * 1e-9
        let shown = (seconds * 10).rounded() / 10
        if sensor.remedy == .rearmed, now - sensor.remedyNanoseconds > 60_000_000_000 {
            sensor.remedy = .none
            sensor.polledCount = 0
        }
        let detail: String
        switch sensor.remedy {
        case .none where sensor.buffer != nil:
            sensor.remedy = .rearmed
            detail = "no sample for \(shown) s: the buffer is switched off and on again"
        case .rearmed where sensor.device.map { IIODevice($0).canPoll(sensor.request.kinds[0]) } ?? false:
            passOverBuffer(sensor, now)
            detail =
                "no sample for \(shown) s, also after the buffer was switched on again: single values are read instead"
        default:
            let failure = SensorFailure(.silent, "\(sensor.device?.path ?? ""): no sample for \(shown) s")
            // A poller hangs in a reading, and goes on when that answers; another one would hang as well.
            guard let reader = reader as? PolledReader else { return lose(sensor, failure, now) }
            reader.noteMissed(arrival: now)
            sensor.hasDelivered = false
            return fail(sensor, failure)
        }
        sensor.remedyNanoseconds = now
        tellLoss(sensor, .stall, seconds, detail)
        openAnew(sensor, now)
    }

    /// Tries the buffer of a device again that was silent: single values miss what happens between them.
    ///
    /// Should it be silent still, or somebody else have it by now, single values come back, for twice as long.
    func tryBufferAgain(_ sensor: LiveSensor, _ now: Int64) {
        sensor.bufferDueNanoseconds = nil
        sensor.isBufferTrial = true
        sensor.remedy = .rearmed
        sensor.remedyNanoseconds = now
        openAnew(sensor, now)
    }

    /// From now on single values are read, for a minute, and for twice as long each time.
    private func passOverBuffer(_ sensor: LiveSensor, _ now: Int64) {
        sensor.isBufferTrial = false
        sensor.remedy = .polled
        sensor.bufferDueNanoseconds = Units.later(now, by: bufferRetryNanoseconds << Int64(min(sensor.polledCount, 6)))
        sensor.polledCount += 1
    }

    private func openAnew(_ sensor: LiveSensor, _ now: Int64) {
        let controls = sensor.buffer?.controls
        close(sensor)
        sensor.abandonedControls = controls
        // Not before the caller has let go of the reader: the device has one opener at a time.
        sensor.phase = .waiting(retryNanoseconds: now)
    }

    /// Says for each stream of a sensor what it lost; how much is estimated from its rhythm.
    private func tellLoss(_ sensor: LiveSensor, _ cause: SampleLoss.Cause, _ seconds: Double, _ detail: String) {
        let interval = sensor.hasDelivered ? sensor.reader?.intervalNanoseconds : nil
        let count = interval.map { max(1, Int(min(seconds * 1e9 / max($0, 1), 1e15))) }
        for stream in sensor.streamIDs {
            losses.append(
                SampleLoss(stream: stream, cause: cause, count: count, durationSeconds: seconds, detail: detail))
        }
    }

    /// The machine was suspended: what it missed is said, and every device is opened anew.
    func resume(after seconds: Double) {
        let shown = (seconds * 10).rounded() / 10
        for sensor in sensors {
            guard case .reading = sensor.phase else {
                if case .waiting = sensor.phase, sensor.device != nil { sensor.phase = .waiting(retryNanoseconds: 0) }
                continue
            }
            tellLoss(
                sensor, .suspend, seconds, "the machine was suspended for \(shown) s: the device is opened anew")
            sensor.forgetRemedies()
            close(sensor)
            sensor.phase = .waiting(retryNanoseconds: 0)
        }
    }
}
