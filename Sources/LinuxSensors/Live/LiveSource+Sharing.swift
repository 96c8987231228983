/// Reads a device for a second sensor, its guest, whose request allows it (``SensorRequest/mayShare``), where that has no device of its own.
///
/// The sensor that has the device, the host, delivers the guest's stream as one of its own, and fails it with its own.
extension LiveSource {
    /// The sensor whose device delivers the samples of another one.
    func host(of guest: LiveSensor) -> LiveSensor? {
        sensors.first { $0.guest === guest && $0.slot.device != nil }
    }

    /// Chooses the sensor whose samples a device delivers as well when it is opened.
    func chooseGuest(for sensor: LiveSensor, on device: SensorDevice, _ now: Int64) {
        let before = sensor.guest
        sensor.refusesGuest = false
        sensor.setGuest(nil)
        guard let guest = guest(for: sensor, on: device, now) else { return }
        // One that has lost its device since.
        for other in sensors where other.guest === guest { other.setGuest(nil) }
        sensor.setGuest(guest)
        // A failure that was reported before is not known of the guest.
        if guest !== before { sensor.reportAgain() }
    }

    /// The waiting sensor whose samples a sensor's device can deliver as well, because there is no other device for it.
    private func guest(for sensor: LiveSensor, on device: SensorDevice, _ now: Int64) -> LiveSensor? {
        guard !sensor.isCompanion else { return nil }
        return sensors.first { guest in
            guest.slot.isUnassigned && sensor.request.mayServe(guest.request, on: device)
                && (host(of: guest) ?? sensor) === sensor && choose(for: guest) == nil
                && leavingDue(for: guest, now) == nil
        }
    }

    /// Finds devices again for the waiting sensors that may share one.
    func findSharedDevices(_ now: Int64) {
        guard table.isSearched else { return }
        for sensor in sensors where sensor.request.mayShare && sensor.slot.isUnassigned { findDevice(for: sensor, now) }
    }

    /// Opens a device again, with the samples of a sensor for which there is no other; returns whether there is such a device.
    func share(with sensor: LiveSensor, _ now: Int64) -> Bool {
        let host = sensors.first { host in
            guard host.reader != nil, host.guest == nil, !host.refusesGuest,
                let device = host.slot.device.flatMap({ table[$0] })
            else { return false }
            return guest(for: host, on: device, now) === sensor
        }
        guard let host else { return false }
        advance(host, .changed, at: now)
        findDevice(for: host, now)
        return true
    }

    /// When a device that could be shared with a sensor is open at the latest.
    func sharingDue(for sensor: LiveSensor) -> Int64? {
        sensors.compactMap { host -> Int64? in
            guard case .opening(let path, let due?) = host.slot.state, let device = table[path],
                host.request.mayServe(sensor.request, on: device)
            else { return nil }
            return due
        }.max()
    }

    /// Closes the device of a sensor that may share one, if another sensor needs it, which then delivers its samples as well; returns
    /// whether there is such a device.
    @discardableResult
    func claimDevice(for sensor: LiveSensor, _ now: Int64) -> Bool {
        guard !sensor.isCompanion, leavingDue(for: sensor, now) == nil else { return false }
        let place = sensors.firstIndex { other in
            guard let device = other.slot.device.flatMap({ table[$0] }) else { return false }
            return sensor.request.accepts(device) && sensor.request.mayServe(other.request, on: device)
        }
        guard let place else { return false }
        let other = sensors[place], next = makeSensor(other.request, isCompanion: false)
        next.lastTimeNanoseconds = other.lastTimeNanoseconds
        sensors[place] = next
        leave(other, now)
        findDevice(for: next, now)
        return true
    }

    /// Closes the device of a sensor that is no longer requested, or that gets another device.
    func leave(_ sensor: LiveSensor, _ now: Int64) {
        sensor.setGuest(nil)
        leaving.append(sensor)
        advance(sensor, .leave, at: now)
    }
}
