public import Binnacle

/// A sensor that a live source delivers: which device it is, and how to read it.
public struct SensorRequest {
    /// The sensor as the user names it.
    package let sensor: Sensor
    /// The kinds of samples that are wanted.
    package let kinds: [SampleKind]
    /// The kinds that are read as well where the device has them.
    ///
    /// A gyroscope may also be another device, which turns with the first one (``DeviceKinship``).
    package let optionalKinds: [SampleKind]
    /// How the device is read; `nil` takes whichever offers what is wanted.
    package let interface: SensorDevice.Interface?
    /// Which device it is.
    package let match: DeviceMatch
    /// The identity of the device, when the match alone is ambiguous.
    package let id: String?
    /// How to read it.
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

    /// The streams of the kinds, in their order.
    var streams: [SampleStream] {
        kinds.map { SampleStream(sensor: sensor, kind: $0) }
            + optionalKinds.map { SampleStream(sensor: sensor, kind: $0, isOptional: true) }
    }

    /// A request for the gyroscope that turns with the device; `nil` when none is asked for.
    var companion: SensorRequest? {
        guard optionalKinds.contains(.gyroscope) else { return nil }
        var settings = settings
        // The trigger is that of the accelerometer's device.
        settings.trigger = nil
        return SensorRequest(sensor: sensor, kinds: [], optionalKinds: [.gyroscope], interface: nil, settings: settings)
    }

    /// Whether a device matches.
    func accepts(_ device: SensorDevice) -> Bool {
        (id == nil || device.id == id) && match.accepts(device, as: interface, with: kinds)
    }

    /// The request in words.
    var description: String {
        "\(interface?.rawValue ?? "any kind of device"), \(id.map { "'\($0)'" } ?? match.description)"
    }
}
