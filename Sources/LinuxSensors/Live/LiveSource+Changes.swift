import Binnacle
import LinuxSystem

/// Going on with other sensors, without touching those that stay.
extension LiveSource {
    /// Takes over other requests between two deliveries.
    ///
    /// A sensor stays, with its open device, when its `Sensor` object is among the new requests. The devices of those
    /// that go are closed on a thread of their own, and free for the new ones when that is done. What was found out
    /// about those that go and not yet handed over goes with them.
    ///
    /// - Parameter requests: What is wanted from now on, each sensor once. One for a sensor that stays says what it said
    ///   before.
    package func change(_ requests: [SensorRequest]) {
        guard !isStopped else { return }
        let before = sensors
        sensors = requests.map { request in
            if let known = before.first(where: { $0.request.sensor === request.sensor }) { return known }
            sensorCount += 1
            return LiveSensor(number: sensorCount - 1, request: request)
        }
        streams = Self.streams(of: requests)
        let ids = Set(streams.map(\.id))
        losses.removeAll { !ids.contains($0.stream) }
        answers = answers.compactMap { answer in
            guard case .failed(let failed, let reason) = answer else { return answer }
            let staying = failed.filter { ids.contains($0.id) }
            return staying.isEmpty ? nil : .failed(staying, reason: reason)
        }
        nextSensor = 0
        lastDelivery = nil
        for sensor in before where !sensors.contains(where: { $0 === sensor }) { leave(sensor) }
        if devices != nil { openWaiting() }
    }

    private func leave(_ sensor: LiveSensor) {
        let buffer = sensor.buffer
        let controls = sensor.abandonedControls
        close(sensor)
        guard let path = sensor.device?.path else { return }
        if sensor.isWorkerOut {
            leaving[sensor.number] = LeavingDevice(path)
        } else if buffer != nil || controls != nil {
            finish(sensor.number, path) {
                buffer?.disable()
                try? controls?.write("0", to: "enable")
            }
        }
    }

    /// Closes a device on a thread of its own; until that is done nobody else gets it.
    func finish(_ number: Int, _ path: String, _ close: @escaping @Sendable () -> Void) {
        leaving[number] = LeavingDevice(path)
        let (mailbox, openings, work) = (mailbox, openings, Closing(close))
        openings.begin()
        do throws(SystemError) {
            try WorkerThread.start {
                defer { openings.end() }
                work.run()
                mailbox.post(.closed(sensor: number))
            }
        } catch {
            // Out of threads, it is done here: whoever opens the device next must not meet it half closed.
            work.run()
            openings.end()
            leaving[number] = nil
        }
    }

    /// A worker has opened a device for a sensor that has gone meanwhile.
    func takeBack(_ number: Int, _ result: Result<LiveMessage.OpenedDevice, SensorFailure>) {
        guard let path = leaving[number]?.path, case .success(let open) = result else {
            leaving[number] = nil
            return openWaiting()
        }
        finish(number, path) { open.opened.discardHere() }
    }
}
