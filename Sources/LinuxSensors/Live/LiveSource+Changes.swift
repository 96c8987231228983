import Binnacle
import LinuxSystem

/// Going on with other sensors, without touching those that stay.
extension LiveSource {
    /// Changes whenever a device is found or gone; 0 until the machine was searched.
    package var deviceChangeCount: Int { table.isSearched ? table.changeCount : 0 }

    /// Whether the machine has a device for each of some requests, open or not.
    package func hasDevices(for requests: ArraySlice<SensorRequest>, except taken: Set<String> = []) -> Bool {
        guard let request = requests.first else { return true }
        return table.devices.contains { device in
            !taken.contains(device.path) && request.accepts(device)
                && hasDevices(for: requests.dropFirst(), except: taken.union([device.path]))
        }
    }

    /// Takes over other requests between two deliveries.
    ///
    /// A sensor stays, with its open device, when its `Sensor` object is among the new requests. The devices of the others
    /// are closed on worker threads, and free for the new ones when that is done. Losses and failures of sensors that go
    /// are not delivered any more.
    ///
    /// - Parameter requests: What is wanted from now on, each sensor once. One for a sensor that stays says what it said
    ///   before.
    package func change(_ requests: [SensorRequest]) {
        guard !isStopped else { return }
        let now = SystemClock.monotonic()
        let before = sensors
        sensors = makeSensors(requests)
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
        for sensor in before where !sensors.contains(where: { $0 === sensor }) {
            leaving.append(sensor)
            advance(sensor, .leave, at: now)
        }
        leaving.removeAll { $0.slot.state == .gone }
        openWaiting(now)
    }
}
