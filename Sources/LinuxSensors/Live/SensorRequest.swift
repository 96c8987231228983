public import Binnacle

/// One sensor that a live source is to deliver: which device it is, and how to read it.
public struct SensorRequest {
    /// The sensor as the user names it.
    package let sensor: Sensor
    /// What is wanted of it.
    package let kinds: [SampleKind]
    /// How the device is read; `nil` takes whichever offers what is wanted.
    package let interface: SensorDevice.Interface?
    /// Which device it is.
    package let match: DeviceMatch
    /// The identity of the one device that is meant, when the match alone does not say.
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

    /// The streams of what is wanted, in its order.
    var streams: [SampleStream] { kinds.map { SampleStream(sensor: sensor, kind: $0) } }

    /// Whether a device is meant.
    func accepts(_ device: SensorDevice) -> Bool {
        (interface == nil || device.interface == interface) && (id == nil || device.id == id) && match.accepts(device)
            && kinds.allSatisfy(device.kinds.contains)
    }

    /// What is asked for, in words.
    var description: String {
        "\(interface?.rawValue ?? "any kind of device"), \(id.map { "'\($0)'" } ?? match.description)"
    }
}
