package import Binnacle
package import LinuxSensors

/// `[sensor.NAME]`: one device as the user names it.
package struct SensorSection: Sendable, Equatable {
    /// The name that detectors and events use.
    package let name: String
    /// Where the samples come from.
    package let source: Source
    /// How a device is read.
    package var settings = SensorSettings()
    /// What makes its samples true; `nil` leaves them as they are.
    package var calibration: SensorCalibration?
    /// The identity of the one device that is meant, when the section was made from it; no file says this.
    package private(set) var deviceID: String?

    /// Where samples come from, with what is needed to find it.
    package enum Source: Sendable, Equatable {
        /// Whichever device offers what detectors need.
        case auto(DeviceMatch)
        /// A device of the kernel's Industrial I/O subsystem.
        case iio(DeviceMatch)
        /// An input device.
        case evdev(DeviceMatch)
        /// A recording, by a path that can be opened; whether it begins anew at its end.
        case trace(file: String, loops: Bool)
        /// A motion model.
        case simulated(SimulationSettings)

        /// Which device is meant, and of which interface it has to be; `nil` when it is none.
        package var device: (interface: SensorDevice.Interface?, match: DeviceMatch)? {
            switch self {
            case .auto(let match): (nil, match)
            case .iio(let match): (.iio, match)
            case .evdev(let match): (.evdev, match)
            case .trace, .simulated: nil
            }
        }
    }

    /// Creates a section.
    package init(name: String, source: Source, settings: SensorSettings = SensorSettings()) {
        self.settings = settings
        self.name = name
        self.source = source
    }

    /// Creates a section that means one device.
    package init(_ device: SensorDevice, name: String, settings: SensorSettings = SensorSettings()) {
        let source: Source = device.interface == .iio ? .iio(DeviceMatch()) : .evdev(DeviceMatch())
        self.init(name: name, source: source, settings: settings)
        deviceID = device.id
    }
}
