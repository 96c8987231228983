import Binnacle
import LinuxSystem
import PlainText

extension LiveSource {
    /// Searches the machine for all devices, on a worker thread.
    func search() throws(SystemError) {
        guard table.beginSearch() else { return }
        let (finder, mailbox) = (finder, mailbox)
        do throws(SystemError) {
            try workers.examine {
                mailbox.post(.searched(Result { () throws(SystemError) in try finder.devices() }))
            }
        } catch {
            _ = table.endSearch(nil)
            throw error
        }
    }

    /// Examines a device that udev reported, on a worker thread.
    func examine(_ path: String, report: Int) {
        let (finder, mailbox) = (finder, mailbox)
        do throws(SystemError) {
            try workers.examine {
                mailbox.post(.examined(path: path, report: report, finder.device(path: path)))
            }
        } catch {
            _ = table.endExamination(of: path, report: report)
            notices.append("\(path): cannot be looked at: \(error.description)")
        }
    }

    func handle(_ message: LiveMessage, _ now: Int64) {
        switch message {
        case .searched(let result): handleSearch(result, now)
        case .examined(let path, let report, let device):
            let (isCurrent, next) = table.endExamination(of: path, report: report)
            if let next { examine(path, report: next) }
            guard isCurrent, let device else { return }
            table.add(device)
            reopenTurned(now)
            openWaiting(now)
        case .opened(let number, let result):
            guard let sensor = sensor(numbered: number) else { return }
            switch result {
            case .success(let device):
                sensor.held = .open(device.access)
                sensor.axes = device.axes
                let isWanted = sensor.use(device.kinds)
                // A sensor that a reload has removed delivers nothing.
                if let lastDelivery, sensors.contains(where: { $0 === sensor }) {
                    findPlaces(of: sensor, in: lastDelivery)
                }
                advance(sensor, .opened(device.access.method, isSubstitute: device.isSubstitute), at: now)
                for notice in device.notices { addNotice(sensor, notice) }
                // A reload has removed a sensor while the device was opened for it.
                if !isWanted {
                    advance(sensor, .changed, at: now)
                    findDevice(for: sensor, now)
                }
                if sensor.reader != nil, let guest = sensor.guest,
                    let device = sensor.slot.device.flatMap({ table[$0] })
                {
                    addNotice(
                        guest,
                        "read from '\(device.name.printable)', the device of '\(sensor.request.sensor.name)'")
                }
                // What udev has reported during the opening.
                reopenTurned(now)
                findSharedDevices(now)
            case .failure(let failure):
                advance(sensor, .openingFailed(failure), at: now)
                findSharedDevices(now)
            }
        case .closed(let number):
            if let sensor = sensor(numbered: number) { advance(sensor, .closed, at: now) }
        case .rested(let number, let opening, let input):
            guard let sensor = sensor(numbered: number), sensor.openWatch?.gate === opening else { return }
            advanceRest(of: sensor, input, at: now)
        case .stepped(let number, let opening, let time, let count):
            guard let sensor = sensor(numbered: number), sensor.openWatch?.gate === opening else { return }
            takeSteps(count, of: sensor, at: time)
        case .machineWoke(let text): notices.append(text)
        case .polled(let number, let poller, let outcome):
            // A stopped poller may still have sent a reading.
            guard let sensor = sensor(numbered: number), let reader = sensor.reader as? PolledReader,
                reader.poller === poller
            else { return }
            handle(outcome, sensor, reader, now)
        }
    }

    private func handleSearch(_ result: Result<[SensorDevice], SystemError>, _ now: Int64) {
        let (gone, isOutdated) = table.endSearch(try? result.get())
        if isOutdated { try? search() }
        for path in gone { remove(path, now) }
        reopenTurned(now)
        guard case .failure(let error) = result else { return openWaiting(now) }
        let reason = "the devices cannot be listed: \(error.description)"
        for sensor in sensors where sensor.slot.device == nil && host(of: sensor) == nil {
            advance(sensor, .candidate(.none(reason: reason, .inputOutput)), at: now)
        }
    }

    /// Opens devices again whose mount matrix udev has changed since, as at `udevadm trigger` after a change of its database.
    private func reopenTurned(_ now: Int64) {
        for sensor in sensors where sensor.reader != nil && sensor.settings.mountMatrix == nil {
            guard let path = sensor.slot.device, let device = table[path], device.mounting != sensor.mounting else {
                continue
            }
            let stated = device.properties["ACCEL_MOUNT_MATRIX"] ?? device.hubMatrix?.description
            let matrix = stated.map { "the mount matrix '\($0.printable)'" }
            let place = device.isInBase ? ", in a laptop's base" : ""
            addNotice(sensor, "udev gives its device \(matrix ?? "no mount matrix") now\(place): it is opened again")
            advance(sensor, .changed, at: now)
            findDevice(for: sensor, now)
        }
    }

    private func handle(_ outcome: PollOutcome, _ sensor: LiveSensor, _ reader: PolledReader, _ now: Int64) {
        switch outcome {
        case .reading(let reading):
            for (place, failure, hasFailed) in reader.accept(reading, arrival: now) where place < sensor.streams.count {
                let stream = sensor.streams[place]
                if hasFailed {
                    addNotice(sensor, "its \(stream.kind.rawValue) cannot be read: \(failure.description)")
                    answers.append(.failed([stream], reason: failure))
                } else {
                    let detail = failure.description
                    losses.append(SampleLoss(stream: stream.id, cause: .readError, count: 1, detail: detail))
                }
            }
            sensor.isReady = true
        case .missed(let failure):
            reader.recordMissed(arrival: now)
            advance(sensor, .missed(failure), at: now)
        case .failed(let failure):
            reader.recordMissed(arrival: now)
            advance(sensor, .failed(failure), at: now)
        }
    }

    func remove(_ path: String, _ now: Int64) {
        table.remove(path)
        for sensor in sensors where sensor.slot.device == path {
            advance(sensor, .removed(isReplaceable: choose(for: sensor) != nil), at: now)
            // Before a sensor that may share it takes the other device.
            guard sensor.slot.isUnassigned else { continue }
            if sensor.deadline <= now || claimDevice(for: sensor, now) { findDevice(for: sensor, now) }
        }
        findSharedDevices(now)
    }

    /// Opens a device for every waiting sensor, but not before the machine was searched, which may find a better one.
    ///
    /// Sensors whose last device is present come first, then those with the most specific match.
    func openWaiting(_ now: Int64) {
        guard table.isSearched else { return }
        let waiting = sensors.filter(\.slot.isWaiting)
        let known = waiting.filter { sensor in table.devices.contains { $0.id == sensor.lastID } }
        let others = waiting.filter { sensor in !known.contains { $0 === sensor } }
        let all = known + others.mostSpecificFirst(\.request.match)
        // A device that another sensor needs is not available for a sensor that may share one, and a gyroscope that is requested by
        // itself not as a companion.
        let ranks = all.map { $0.isCompanion ? 2 : $0.request.mayShare ? 1 : 0 }
        for rank in 0...2 { for (sensor, own) in zip(all, ranks) where own == rank { findDevice(for: sensor, now) } }
    }

    /// Reports to a sensor which device it may open.
    func findDevice(for sensor: LiveSensor, _ now: Int64) {
        let candidate: SensorSlot.Candidate
        let device = sensor.slot.device ?? choose(for: sensor)?.path
        // A device that cannot be opened keeps no sensor from another one.
        if let host = host(of: sensor), device == nil || host.slot.isInUse {
            candidate = .shared
        } else if let device {
            for host in sensors where host.guest === sensor { host.setGuest(nil) }
            candidate = .device(device)
        } else if share(with: sensor, now) {
            candidate = .shared
        } else {
            claimDevice(for: sensor, now)
            if let due = leavingDue(for: sensor, now) ?? sharingDue(for: sensor) {
                candidate = .held(until: due)
            } else {
                candidate = .none(reason: missing(sensor))
            }
        }
        advance(sensor, .candidate(candidate), at: now)
    }

    /// The sensor's last device, or else the preferred one of those that match; only devices that no other sensor has.
    func choose(for sensor: LiveSensor) -> SensorDevice? {
        if sensor.isCompanion { return companion(for: sensor) }
        let free = freeDevices(for: sensor).filter(sensor.request.accepts)
        return free.first { $0.id == sensor.lastID } ?? DeviceKinship.preferred(free, beside: partners(of: sensor))
    }

    /// The devices that have, or may get, the sensors with which a sensor makes headings.
    private func partners(of sensor: LiveSensor) -> [SensorDevice] {
        sensors.filter { !$0.isCompanion && $0.request.pairs(with: sensor.request) }.flatMap { other in
            table.devices.filter { device in
                other.slot.device.map { $0 == device.path } ?? other.request.accepts(device)
            }
        }
    }

    /// The gyroscope that turns with a sensor's device, if that device has none.
    private func companion(for sensor: LiveSensor) -> SensorDevice? {
        let main = sensors.first { !$0.isCompanion && $0.request.sensor === sensor.request.sensor }
        guard let main, main.reader != nil, !main.reads(.gyroscope),
            let device = main.slot.device.flatMap({ table[$0] })
        else { return nil }
        return DeviceKinship.gyroscope(for: device, among: freeDevices(for: sensor))
    }

    private func freeDevices(for sensor: LiveSensor) -> [SensorDevice] {
        table.devices.filter { device in
            !(leaving + sensors).contains { $0 !== sensor && $0.slot.device == device.path }
        }
    }

    /// The latest time at which a matching device of a sensor that is no longer requested is closed.
    func leavingDue(for sensor: LiveSensor, _ now: Int64) -> Int64? {
        let dues = leaving.compactMap { other -> Int64? in
            guard case .leaving(let path, let due, _) = other.slot.state, due > now, let device = table[path],
                sensor.isCompanion ? device.kinds == [.gyroscope] : sensor.request.accepts(device)
            else { return nil }
            return due
        }
        return dues.max()
    }

    private func missing(_ sensor: LiveSensor) -> String {
        let found = table.devices.map { "\($0.interface.rawValue) '\($0.name.printable)'" }
        let list = found.isEmpty ? "this machine has no sensor" : "found are " + found.joined(separator: ", ")
        let wanted =
            sensor.isCompanion
            ? "no free gyroscope beside the accelerometer"
            : "no free \(sensor.request.description.printable)"
        return "\(wanted); \(list); 'binnacle doctor' says more"
    }

    private func sensor(numbered number: Int) -> LiveSensor? {
        sensors.first { $0.number == number } ?? leaving.first { $0.number == number }
    }
}
