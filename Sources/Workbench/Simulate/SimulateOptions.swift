package import Binnacle
package import Traces
package import VirtualDevices

/// What a person asks of virtual devices.
package struct SimulateOptions {
    /// Where the samples come from.
    package enum Samples {
        /// A movement that is made up.
        case model(SimulationSettings)
        /// Recordings, so many times as fast as recorded.
        case traces([String], speed: Double, loops: Bool)
    }

    package var samples: Samples
    /// What the kernel is to take it for: a HID sensor hub behind uhid, or an input device behind uinput.
    package var file = DeviceFile.uhid
    /// How wide a hub's axes are.
    package var width = HubDescription.Width.bits32
    /// Whether samples carry the device's own time.
    package var hasTime = true
    /// Whether a hub has a gyroscope, too.
    package var hasGyroscope = false
    /// What the kernel is to call the device; as it comes without one.
    package var name: String?
    /// Whether the play begins when the kernel wants samples.
    package var waits = false
    /// How long; without end, or to the end of the traces, without.
    package var duration: Duration?
    /// The device file; the kernel's usual one without.
    package var node: String?
    /// The sensors of the traces that are played; the first of each kind without any.
    package var sensors: [String] = []
    package var map: ColumnMap?

    package init(_ samples: Samples) {
        self.samples = samples
    }
}
