public import Binnacle

/// A sensor that a live source delivers: which device it is, and how to read it.
public struct SensorRequest {
    /// The sensor as the user names it.
    package let sensor: Sensor
    /// The kinds of samples that are wanted.
    package let kinds: [SampleKind]
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
        sensor: Sensor, kinds: [SampleKind], interface: SensorDevice.Interface?, match: DeviceMatch = DeviceMatch(),
        id: String? = nil, settings: SensorSettings = SensorSettings()
    ) {
        self.sensor = sensor
        self.kinds = kinds
        self.interface = interface
        self.match = match
        self.id = id
        self.settings = settings
    }

    /// The streams of the kinds, in their order.
    var streams: [SampleStream] { kinds.map { SampleStream(sensor: sensor, kind: $0) } }

    /// Whether a device matches.
    func accepts(_ device: SensorDevice) -> Bool {
        (interface == nil || device.interface == interface) && (id == nil || device.id == id) && match.accepts(device)
            && kinds.allSatisfy(device.kinds.contains)
    }

    /// The request in words.
    var description: String {
        "\(interface?.rawValue ?? "any kind of device"), \(id.map { "'\($0)'" } ?? match.description)"
    }
}
