import Binnacle
import Glibc

/// Finding, opening and losing devices.
extension LiveSource {
    func take(_ message: LiveMessage, _ now: Int64) {
        switch message {
        case .enumerated(let found):
            devices = found.filter { !removedEarly.contains($0.path) }
            for device in early { add(device) }
            early.removeAll()
            removedEarly.removeAll()
            openWaiting()
        case .enumerationFailed(let reason):
            devices = devices ?? []
            for sensor in sensors where sensor.device == nil {
                fail(sensor, SensorFailure(.missing, "the devices cannot be listed: \(reason)"))
            }
        case .found(let device):
            add(device)
            // Until the search is done, there may be a better one.
            if isSearched { openWaiting() }
        case .opened(let number, let generation, let result):
            let sensor = sensors[number]
            guard sensor.generation == generation else {
                if case .success(let open) = result { Self.discard(open.opened) }
                return
            }
            switch result {
            case .success(let open): begin(sensor, open, now)
            case .failure(let failure): lose(sensor, failure, now)
            }
        case .polled(let number, let generation, let outcome):
            let sensor = sensors[number]
            guard sensor.generation == generation, let reader = sensor.reader as? PolledReader else { return }
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
            changed.id = known[index].id
            known[index] = changed
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
            lose(sensor, SensorFailure(.removed, "\(path): the device was removed"), now)
        }
    }

    /// Opens a device for every sensor that waits for one.
    private func openWaiting() {
        for sensor in sensors {
            if case .waiting = sensor.phase { open(sensor) }
        }
    }

    /// Opens the sensor's device on a worker thread, after finding one.
    func open(_ sensor: LiveSensor) {
        guard let device = sensor.device ?? choose(for: sensor) else {
            let reason = missing(sensor)
            return fail(sensor, SensorFailure(.missing, reason))
        }
        sensor.device = device
        sensor.lastID = device.id
        sensor.generation += 1
        sensor.phase = .opening
        let opener = SensorOpener(
            device: device, kinds: sensor.request.kinds, settings: sensor.request.settings,
            isPolled: sensor.remedy == .polled, abandonedControls: sensor.abandonedControls)
        sensor.abandonedControls = nil
        let (mailbox, number, generation) = (mailbox, sensor.number, sensor.generation)
        do throws(SystemError) {
            try WorkerThread.start {
                let result: Result<LiveMessage.OpenedDevice, SensorFailure>
                do throws(SensorFailure) {
                    let (opened, notices) = try opener.open { outcome in
                        mailbox.post(.polled(sensor: number, generation: generation, outcome))
                    }
                    result = .success(LiveMessage.OpenedDevice(opened: opened, notices: notices))
                } catch {
                    result = .failure(error)
                }
                mailbox.post(.opened(sensor: number, generation: generation, result))
            }
        } catch {
            lose(sensor, SensorFailure(error), SystemClock.monotonic())
        }
    }

    /// The device that played the sensor before, or else the first one that is meant and plays no other.
    private func choose(for sensor: LiveSensor) -> SensorDevice? {
        let free = (devices ?? []).filter { device in
            sensor.request.accepts(device) && !sensors.contains { $0 !== sensor && $0.device?.path == device.path }
        }
        return free.first { $0.id == sensor.lastID } ?? free.first
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
        do throws(SensorFailure) {
            let reader = try makeReader(sensor, open.opened, now)
            if let descriptor = reader.descriptor {
                do throws(SystemError) {
                    try epoll.add(descriptor, token: UInt64(sensor.number))
                } catch {
                    let place = sensor.device?.node ?? ""
                    throw SensorFailure(
                        .description, "\(place): cannot be waited for, so it is no device (\(error.description))")
                }
            }
            sensor.phase = .reading(reader)
            sensor.isReady = true
        } catch {
            Self.discard(open.opened)
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
            return IIOBufferReader(buffer, streamIndices: sensor.streamIndices, now: now, floor: floor)
        case .poller(let poller):
            return PolledReader(poller, streamIndices: sensor.streamIndices, now: now, floor: floor)
        case .evdev(let file):
            guard let device = sensor.device else { throw SensorFailure(.missing, "the device was removed") }
            return try EvdevReader(
                file, device: device, settings: sensor.request.settings, streamIndex: sensor.streamIndices[0], now: now,
                floor: floor)
        }
    }

    private static func discard(_ opened: SensorOpener.Opened) {
        switch opened {
        case .buffer(let buffer): buffer.disable()
        case .poller(let poller): poller.stop()
        case .evdev: break
        }
    }

    private func accept(_ outcome: PollOutcome, _ sensor: LiveSensor, _ reader: PolledReader, _ now: Int64) {
        switch outcome {
        case .reading(let reading):
            reader.accept(reading, arrival: now)
            sensor.isReady = true
        case .missed(let failure):
            reader.noteMissed(arrival: now)
            for index in sensor.streamIndices {
                losses.append(
                    SampleLoss(streamIndex: index, cause: .readError, count: 1, detail: failure.description))
            }
        case .failed(let failure) where failure.category == .removed: lose(sensor, failure, now)
        case .failed(let failure):
            // The poller goes on; its next reading makes the sensor active again.
            reader.noteMissed(arrival: now)
            sensor.hasDelivered = false
            fail(sensor, failure)
        }
    }

    /// Says that a sensor cannot deliver, once.
    func fail(_ sensor: LiveSensor, _ failure: SensorFailure) {
        if failure.category == .permission {
            sensor.request.sensor.authorizationStatus = .denied(reason: failure.description)
        }
        guard !sensor.isFailureTold else { return }
        sensor.isFailureTold = true
        answers.append(.failed(sensor.streams, reason: failure))
    }

    /// Closes a device that can be read no more, and decides when to try again.
    func lose(_ sensor: LiveSensor, _ failure: SensorFailure, _ now: Int64) {
        let buffer = sensor.buffer
        close(sensor)
        fail(sensor, failure)
        sensor.failureCount += 1
        var retry: Int64? = now + sensor.retryDelayNanoseconds
        switch failure.category {
        case .removed, .missing:
            sensor.remedy = .none
            // udev will say when it is back; but of one that is still in sysfs, whatever its node says, there is nothing
            // to be said, and waiting would be for ever.
            if finder.usesUdev, !(sensor.device?.directory.has(".") ?? false) {
                if let path = sensor.device?.path { devices?.removeAll { $0.path == path } }
                sensor.device = nil
                retry = nil
                // Another device may be meant as well.
                if choose(for: sensor) != nil { retry = now }
            }
        default:
            if let buffer { try? WorkerThread.start { buffer.disable() } }
        }
        sensor.phase = .waiting(retryNanoseconds: retry)
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
    func treatSilence(_ sensor: LiveSensor, seconds: Double, _ now: Int64) {
        let shown = (seconds * 10).rounded() / 10
        if sensor.remedy == .rearmed, now - sensor.remedyNanoseconds > 60_000_000_000 { sensor.remedy = .none }
        let detail: String
        switch sensor.remedy {
        case .none where sensor.buffer != nil:
            sensor.remedy = .rearmed
            detail = "no sample for \(shown) s: the buffer is switched off and on again"
        case .rearmed where sensor.device.map { IIODevice($0).canPoll(sensor.request.kinds[0]) } ?? false:
            sensor.remedy = .polled
            detail =
                "no sample for \(shown) s, also after the buffer was switched on again: single values are read instead"
        default:
            return lose(sensor, SensorFailure(.silent, "\(sensor.device?.path ?? ""): no sample for \(shown) s"), now)
        }
        sensor.remedyNanoseconds = now
        for index in sensor.streamIndices {
            losses.append(SampleLoss(streamIndex: index, cause: .stall, durationSeconds: seconds, detail: detail))
        }
        let controls = sensor.buffer?.controls
        close(sensor)
        sensor.abandonedControls = controls
        // Not before the caller has let go of the reader: the device has one opener at a time.
        sensor.phase = .waiting(retryNanoseconds: now)
    }

    /// The machine was suspended: what it missed is said, and every device is opened anew.
    func resume(after seconds: Double) {
        let shown = (seconds * 10).rounded() / 10
        for sensor in sensors {
            guard case .reading = sensor.phase else {
                if case .waiting = sensor.phase, sensor.device != nil { sensor.phase = .waiting(retryNanoseconds: 0) }
                continue
            }
            for index in sensor.streamIndices {
                losses.append(
                    SampleLoss(
                        streamIndex: index, cause: .suspend, durationSeconds: seconds,
                        detail: "the machine was suspended for \(shown) s: the device is opened anew"))
            }
            sensor.remedy = .none
            close(sensor)
            open(sensor)
        }
    }
}
