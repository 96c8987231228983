public import Binnacle

/// A sensor for a live source: the choice of the device, and how to read it.
public struct SensorRequest {
    /// The sensor with the user's name for it.
    package let sensor: Sensor
    /// The required kinds of samples.
    package let kinds: [SampleKind]
    /// The kinds that are also read if available.
    ///
    /// A gyroscope may also be another device, which turns with the first one (``DeviceKinship``).
    package let optionalKinds: [SampleKind]
    /// The interface; `nil` accepts any with the required kinds.
    package let interface: SensorDevice.Interface?
    /// The criteria for the device.
    package let match: DeviceMatch
    /// The identity of the device; `nil` if the criteria suffice.
    package let id: String?
    package let settings: SensorSettings

    /// Creates a request.
    public init(
        sensor: Sensor, kinds: [SampleKind], optionalKinds: [SampleKind] = [], interface: SensorDevice.Interface?,
        match: DeviceMatch = DeviceMatch(), id: String? = nil, settings: SensorSettings = SensorSettings()
    ) {
        self.sensor = sensor
        self.kinds = kinds
        self.optionalKinds = optionalKinds
        self.interface = interface
        self.match = match
        self.id = id
        self.settings = settings
    }

    var streams: [SampleStream] {
        kinds.map { SampleStream(sensor: sensor, kind: $0) }
            + optionalKinds.map { SampleStream(sensor: sensor, kind: $0, isOptional: true) }
    }

    /// A request for the gyroscope that turns with the device; `nil` when no gyroscope is requested.
    var companion: SensorRequest? {
        guard optionalKinds.contains(.gyroscope) else { return nil }
        var settings = settings
        // The trigger in the settings is the accelerometer's.
        settings.trigger = nil
        return SensorRequest(sensor: sensor, kinds: [], optionalKinds: [.gyroscope], interface: nil, settings: settings)
    }

    package func accepts(_ device: SensorDevice) -> Bool {
        (id == nil || device.id == id) && match.accepts(device, as: interface, with: kinds)
    }

    /// Whether one gives the acceleration and the other the field of a heading, which have to turn together.
    package func pairs(with other: SensorRequest) -> Bool {
        let (own, others) = (kinds.contains(.accelerometer), other.kinds.contains(.accelerometer))
        return own != others && kinds.contains(.magnetometer) == others && other.kinds.contains(.magnetometer) == own
    }

    /// Whether the samples may come from the device of another request, as those of a magnetometer on the accelerometer's chip.
    ///
    /// The kernel lets one program read a device, at one rate. So the request has to be for that kind alone, for no device in particular, and
    /// without wishes that may contradict those of the other one.
    package var mayShare: Bool {
        kinds == [.magnetometer] && optionalKinds.isEmpty && id == nil && match.isEmpty && settings.mountMatrix == nil
            && settings.trigger == nil && !settings.isPolled
    }

    /// Whether a device of this request may deliver the samples of another one as well.
    package func mayServe(_ guest: SensorRequest, on device: SensorDevice) -> Bool {
        guest.mayShare && !kinds.isEmpty && !(kinds + optionalKinds).contains(.magnetometer) && guest.accepts(device)
    }

    /// The device that would do, with what it has to have, as in "iio device with name 'bmi160' has an accelerometer".
    var description: String {
        let has = kinds.map { "\($0 == .accelerometer ? "an" : "a") \($0.rawValue)" }.joined(separator: " and ")
        let device = (interface.map { "\($0.rawValue) " } ?? "") + "device"
        let criteria = id.map { "id '\($0)'" } ?? match.criteria
        let place = id == nil && match.isInScreen ? " in a screen" : ""
        return device + (criteria.isEmpty ? "" : " with \(criteria)") + place + " has \(has)"
    }
}
