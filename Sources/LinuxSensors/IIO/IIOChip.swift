/// The chip that an IIO device is a part of: some drivers make a device of each of its sensors.
struct IIOChip: Sendable {
    /// The other IIO devices of the chip.
    let siblings: [SysfsDirectory]

    /// Looks the devices up that have the same parent.
    init(of device: SysfsDirectory) {
        let path = device.resolved.path
        let parts = path.split(separator: "/")
        guard let own = parts.last else {
            siblings = []
            return
        }
        let parent = SysfsDirectory(path: "/" + parts.dropLast().joined(separator: "/"))
        siblings = parent.names().filter { $0.hasPrefix("iio:device") && $0 != own }.map(parent.directory)
    }

    /// Sets the clock of the chip's other sensors whose buffers are off.
    ///
    /// Where two devices share the chip's FIFO, each takes the time with its own clock when the FIFO starts, so the clocks
    /// have to be set before the first of them is switched on. A device that another program uses keeps its clock.
    func setClock(_ clock: String) {
        let name = "current_timestamp_clock"
        for device in siblings where !IIODevice.kinds(in: device).isEmpty && device.has(name) {
            let isRunning = IIOBufferDirectory.all(in: device).contains { (try? $0.controls.text("enable")) == "1" }
            if !isRunning { _ = try? device.ensure(name, is: clock) }
        }
    }
}
