import Binnacle
import LinuxSystem

/// Changes the sensors of a running source without touching those that stay.
extension LiveSource {
    /// Changes whenever a device is found or removed, or udev reports one, also of single values; 0 until the machine was searched.
    package var deviceChangeCount: Int { table.isSearched ? table.changeCount : 0 }

    /// Whether the machine has a device for each request, open or not.
    package func hasDevices(for requests: ArraySlice<SensorRequest>, except taken: Set<String> = []) -> Bool {
        guard let request = requests.first else { return true }
        return table.devices.contains { device in
            (request.mayShare || !taken.contains(device.path)) && request.accepts(device)
                && hasDevices(
                    for: requests.dropFirst(), except: request.mayShare ? taken : taken.union([device.path]))
        }
    }

    /// Applies other requests between two deliveries.
    ///
    /// A sensor stays, with its open device, if its `Sensor` object is among the new requests. The devices of the others are
    /// closed on worker threads and are then available to new sensors. Losses and failures of removed sensors are not delivered.
    ///
    /// - Parameter requests: The new requests, each sensor once. The request of a sensor that stays has to be unchanged.
    package func change(_ requests: [SensorRequest]) {
        guard !isStopped else { return }
        let now = SystemClock.monotonic()
        let before = sensors
        sensors = makeSensors(requests)
        streams = Self.streams(of: requests)
        let ids = Set(streams.map(\.id))
        losses.removeAll { !ids.contains($0.stream) }
        rests.removeAll { !ids.contains($0.stream) }
        answers = answers.compactMap { answer in
            guard case .failed(let failed, let reason) = answer else { return answer }
            let staying = failed.filter { ids.contains($0.id) }
            return staying.isEmpty ? nil : .failed(staying, reason: reason)
        }
        nextSensor = 0
        lastDelivery = nil
        for sensor in before where !sensors.contains(where: { $0 === sensor }) {
            leave(sensor, now)
        }
        leaving.removeAll { $0.slot.state == .gone }
        for sensor in sensors {
            guard let guest = sensor.guest, !sensors.contains(where: { $0 === guest }) else { continue }
            sensor.setGuest(nil)
            advance(sensor, .changed, at: now)
        }
        openWaiting(now)
    }
}
