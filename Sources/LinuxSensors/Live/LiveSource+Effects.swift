import Binnacle
import LinuxSystem
import PlainText

extension LiveSource {
    /// Passes an input to a sensor's state machine and performs the effects.
    func advance(_ sensor: LiveSensor, _ input: SensorSlot.Input, at now: Int64) {
        for effect in sensor.handle(input, at: now) { perform(effect, sensor, now) }
        dueNanoseconds = .min
    }

    private func perform(_ effect: SensorSlot.Effect, _ sensor: LiveSensor, _ now: Int64) {
        switch effect {
        case .findDevice: findDevice(for: sensor, now)
        case .deviceReleased:
            leaving.removeAll { $0.slot.state == .gone }
            openWaiting(now)
        case .open(let path, let isPolled): open(sensor, path, isPolled: isPolled, now)
        case .read: read(sensor, now)
        case .readAgain: sensor.isReady = true
        case .restartSilence: (sensor.reader as? PolledReader)?.recordMissed(arrival: now)
        case .close(let closing): close(sensor, closing)
        case .report(let failure): report(failure, of: sensor)
        case .note(let text): addNotice(sensor, sensor.isCompanion ? "its gyroscope: \(text)" : text)
        case .lose(let cause, let seconds, let detail): lose(sensor, cause, seconds, detail)
        case .authorize(let status):
            guard !sensor.isCompanion else { return }
            sensor.request.sensor.authorizationStatus = status
            sensor.guest?.request.sensor.authorizationStatus = status
        }
    }

    private func report(_ failure: SensorFailure, of sensor: LiveSensor) {
        sensor.awaitsSample = true
        guard sensor.isCompanion else { return answers.append(.failed(sensor.streams, reason: failure)) }
        // Without a gyroscope there is no stream to fail.
        if failure.category != .missing || sensor.lastID != nil {
            addNotice(sensor, "its gyroscope cannot be read: \(failure.description)")
        }
        if sensor.lastTimeNanoseconds != nil { answers.append(.failed(sensor.streams, reason: failure)) }
    }

    /// Records a notice about a sensor for the user, once.
    func addNotice(_ sensor: LiveSensor, _ text: String) {
        guard sensor.toldNotices.insert(text).inserted else { return }
        notices.append("\(sensor.request.sensor.name): \(text)")
    }

    /// Reports a loss in each stream of a sensor; the number of samples is estimated from their rate.
    private func lose(_ sensor: LiveSensor, _ cause: SampleLoss.Cause, _ seconds: Double?, _ detail: String) {
        var count: Int? = seconds == nil ? 1 : nil
        if let seconds, !sensor.awaitsSample, let interval = sensor.reader?.intervalNanoseconds {
            count = max(1, Int(min(seconds * 1e9 / max(interval, 1), 1e15)))
        }
        for stream in sensor.streamIDs {
            losses.append(
                SampleLoss(stream: stream, cause: cause, count: count, durationSeconds: seconds, detail: detail))
        }
    }

    // MARK: - Opening

    private func open(_ sensor: LiveSensor, _ path: String, isPolled: Bool, _ now: Int64) {
        guard let device = table[path] else {
            return advance(sensor, .openingFailed(SensorFailure(.missing, "\(path): is not there")), at: now)
        }
        sensor.lastID = device.id
        sensor.mounting = device.mounting
        chooseGuest(for: sensor, on: device, now)
        var abandoned: BufferChanges?
        if case .leftOn(let changes) = sensor.held { abandoned = changes }
        sensor.held = .nothing
        let opener = SensorOpener(
            device: device, kinds: sensor.request.kinds, optionalKinds: sensor.request.optionalKinds,
            guestKinds: sensor.guest?.request.kinds ?? [], settings: sensor.settings, isPolled: isPolled,
            abandoned: abandoned, floor: sensor.lastTimeNanoseconds)
        let (mailbox, number) = (mailbox, sensor.number)
        do throws(SystemError) {
            try workers.start {
                let result = Result { () throws(SensorFailure) in try opener.open() }
                let isTaken = mailbox.post(.opened(sensor: number, result))
                if !isTaken, case .success(let device) = result { device.access.close() }
            }
        } catch {
            advance(sensor, .openingFailed(SensorFailure(error)), at: now)
        }
    }

    /// Begins to read the device that a worker thread has opened.
    private func read(_ sensor: LiveSensor, _ now: Int64) {
        guard case .open(let access) = sensor.held else { return }
        sensor.awaitsSample = true
        do throws(SensorFailure) {
            let reader = try makeReader(sensor, access, now)
            if let descriptor = reader.descriptor {
                do throws(SystemError) {
                    try epoll.add(descriptor, token: UInt64(sensor.number))
                    if reader.isTimed { epoll.remove(descriptor) }
                } catch {
                    let node = sensor.slot.device.flatMap { table[$0]?.node } ?? ""
                    throw SensorFailure(
                        .description, "\(node): cannot be waited for, so it is no device (\(error.description))")
                }
            }
            sensor.reader = reader
            sensor.isReady = true
            try beginRest(of: sensor)
            identify(sensor)
            describeGyroscope(of: sensor, access)
        } catch {
            advance(sensor, .failed(error), at: now)
        }
    }

    /// Sets what the sensors of the open device are known by.
    private func identify(_ sensor: LiveSensor) {
        guard let id = sensor.lastID else { return }
        for stream in sensor.streams {
            let device = MountedSensor(device: id, axes: sensor.axes[stream.kind])
            switch stream.kind {
            case .gyroscope: stream.sensor.gyroscopeDevice = device
            case .magnetometer: stream.sensor.magnetometerDevice = device
            case .accelerometer: break
            }
        }
    }

    /// Sets the limits of the sensor's gyroscope; searches for another device if it has none.
    private func describeGyroscope(of sensor: LiveSensor, _ access: OpenedDevice.Access) {
        guard sensor.reads(.gyroscope) else {
            let beside = sensors.first { $0.isCompanion && $0.request.sensor === sensor.request.sensor }
            if let beside, beside.slot.isWaiting { findDevice(for: beside, SystemClock.monotonic()) }
            return
        }
        let object = sensor.request.sensor
        (object.gyroscopeRange, object.gyroscopeReportsOnChange) =
            switch access {
            case .buffer(let buffer): (buffer.scans.gyroscopeRange, buffer.reportsOnChange)
            case .evdev: ((sensor.reader as? EvdevReader)?.gyroscopeRange, true)
            case .poller: (nil, false)
            }
        guard sensor.isCompanion, let device = sensor.slot.device.flatMap({ table[$0] }) else { return }
        addNotice(sensor, "its gyroscope is '\(device.name.printable)'")
    }

    private func makeReader(
        _ sensor: LiveSensor, _ access: OpenedDevice.Access, _ now: Int64
    ) throws(SensorFailure) -> any SensorReader {
        let floor = sensor.lastTimeNanoseconds
        switch access {
        case .buffer(let buffer): return IIOBufferReader(buffer, now: now, floor: floor)
        case .poller(let poller):
            let (mailbox, number) = (mailbox, sensor.number)
            // Started here, because a reading that arrives before the reader exists would be lost.
            try poller.start { outcome, isDue in
                if !mailbox.post(.polled(sensor: number, poller, outcome), wakes: isDue) { poller.stop() }
            }
            return PolledReader(
                poller, updateInterval: sensor.settings.updateInterval, now: now, floor: floor)
        case .evdev(let handover):
            guard let reader = handover.take() else { preconditionFailure("a device is read once for each opening") }
            return reader
        }
    }

    // MARK: - Closing

    func close(_ sensor: LiveSensor, _ closing: SensorSlot.Closing) {
        endRest(of: sensor)
        if let descriptor = sensor.reader?.descriptor { epoll.remove(descriptor) }
        sensor.reader = nil
        sensor.isReady = false
        let held = sensor.held
        sensor.held = .nothing
        switch closing {
        case .removed: break
        case .leaveOn:
            if case .open(.buffer(let buffer)) = held { sensor.held = .leftOn(buffer.changes) }
        case .switchOff:
            let (mailbox, number) = (mailbox, sensor.number)
            let report: DeviceWorkers.Work = { mailbox.post(.closed(sensor: number)) }
            if case .nothing = held { report() } else { onWorker({ held.close() }, then: report) }
        }
    }

    /// Runs blocking work on a worker thread, or on this thread if none can be started.
    func onWorker(_ work: @escaping DeviceWorkers.Work, then report: @escaping DeviceWorkers.Work = {}) {
        do throws(SystemError) {
            try workers.start(work, then: report)
        } catch {
            work()
            report()
        }
    }
}
