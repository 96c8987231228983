/// The chip of an IIO device: some drivers make a device of each sensor of a chip.
struct IIOChip: Sendable {
    /// The other IIO devices of the chip, which have the same parent.
    let siblings: [SysfsDirectory]

    init(of device: SysfsDirectory) {
        let own = device.resolved
        siblings = own.parent.directories("iio:device").filter { $0 != own }
    }

    /// Sets the clock of the chip's other sensors whose buffers are off; a device that another program uses keeps its clock.
    ///
    /// Devices that share the chip's FIFO each read their own clock when the FIFO starts, so the clocks have to be set before the
    /// first device is enabled.
    func setClock(_ clock: String) {
        let name = "current_timestamp_clock"
        for device in siblings where !IIODevice.kinds(in: device).isEmpty && device.has(name) {
            if !IIOBufferDirectory.isAnyOn(in: device) { _ = try? device.ensure(name, is: clock) }
        }
    }
}
