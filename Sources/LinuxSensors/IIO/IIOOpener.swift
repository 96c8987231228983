import Binnacle
import CLinux
import Glibc
import LinuxSystem

/// Sets a device's buffer up, switches it on and opens it.
///
/// It runs on a worker thread, because sysfs may be slow.
struct IIOOpener {
    let device: SensorDevice
    let kinds: [SampleKind]
    let settings: SensorSettings

    /// More scans than any device has room for.
    private static let longestBuffer = 65_536

    private var directory: SysfsDirectory { device.directory }
    private var wantedHz: Double { settings.rateHz(for: kinds) }

    /// Opens the buffer.
    ///
    /// The order is the kernel's: everything is set while the buffer is off, because afterwards it is refused with
    /// EBUSY; and what was set is read back, because the kernel may refuse or add channels and round rates.
    ///
    /// - Returns: The open buffer, and what a person should know about it.
    /// - Throws: ``SensorFailure``; the device can then perhaps be polled.
    func openBuffer() throws(SensorFailure) -> (buffer: OpenBuffer, notices: [String]) {
        guard let buffer = IIOBufferDirectory.find(in: directory, for: kinds), let node = device.node else {
            throw SensorFailure(.description, "\(device.path): has no buffer for these channels")
        }
        var notices: [String] = []
        // Opened first: this fails when another program reads the device, and nothing of that one's is changed.
        let file = try open(node, buffer)
        try buffer.controls.ensure("enable", is: "0")
        let layout = try chooseChannels(buffer)
        var streams: [ScanDescription.Stream] = []
        for kind in kinds {
            streams.append(.init(kind: kind, scaling: try IIODevice(device).scaling(kind, settings)))
        }
        guard let scans = ScanDescription(layout: layout, streams: streams) else {
            throw SensorFailure(.description, "\(device.path): the kernel did not switch on all axes")
        }
        try setClock(&notices)
        let reportsOnChange = try setSensitivity(&notices)
        var rate = try setRate(&notices)
        let trigger = IIOTrigger(device)
        let hasTrigger: Bool
        if let name = settings.trigger {
            try trigger.set(name)
            hasTrigger = true
        } else {
            hasTrigger = try trigger.setOwn()
        }
        // A trigger that the configuration names keeps its own rate.
        if settings.trigger == nil, trigger.isTimer { rate = try trigger.setTimer(rateHz: wantedHz) }
        let period = PollingPeriod(
            latency: settings.latency, rateHz: rate ?? wantedHz, isStamped: scans.decoder.hasTimestamp)
        try setSize(buffer, rate: rate ?? wantedHz, period)
        try limitTimeout(buffer)
        do throws(SensorFailure) {
            try buffer.controls.write("1", to: "enable")
        } catch {
            // A device that needs a trigger and has none refuses.
            guard error.code == EINVAL, !hasTrigger else { throw error }
            rate = try trigger.setTimer(rateHz: wantedHz)
            notices.append("has no trigger of its own: a timer takes its samples")
            try buffer.controls.write("1", to: "enable")
        }
        let opened = OpenBuffer(
            file: file, node: node, scans: scans, rateHz: rate, period: period,
            canPoll: kinds.allSatisfy(IIODevice(device).canPoll), controls: buffer.controls,
            reportsOnChange: reportsOnChange)
        return (opened, notices)
    }

    private func open(_ node: String, _ buffer: IIOBufferDirectory) throws(SensorFailure) -> Descriptor {
        try mapError(SensorFailure.init) { () throws(SystemError) in
            let file = try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
            guard buffer.number > 0 else { return file }
            let further = Descriptor(
                owning: try systemCall("ioctl", path: node) { clinux_iio_buffer(file.raw, Int32(buffer.number)) })
            _ = fcntl(further.raw, F_SETFL, O_NONBLOCK)
            _ = fcntl(further.raw, F_SETFD, FD_CLOEXEC)
            return further
        }
    }

    /// Switches on the axes and the stamp, and all other channels off.
    ///
    /// - Returns: The layout of the channels that are on afterwards.
    private func chooseChannels(_ buffer: IIOBufferDirectory) throws(SensorFailure) -> ScanLayout {
        let wanted = kinds.flatMap(IIODevice.channels) + ["in_timestamp"]
        for file in buffer.elements.names() where file.hasSuffix("_en") {
            // A channel that cannot be switched is in the layout, or missing in it.
            try SensorFailure.tolerating { () throws(SensorFailure) in
                try buffer.elements.ensure(file, is: wanted.contains(String(file.dropLast(3))) ? "1" : "0")
            }
        }
        return ScanLayout(try buffer.enabledChannels())
    }

    /// The monotonic clock, where the device lets choose; a stamp of another clock is recognised by its value.
    private func setClock(_ notices: inout [String]) throws(SensorFailure) {
        IIODevice(device).chip.setClock("monotonic")
        guard directory.has("current_timestamp_clock") else { return }
        do throws(SensorFailure) {
            let clock = try directory.ensure("current_timestamp_clock", is: "monotonic")
            if clock != "monotonic" { notices.append("keeps the clock '\(clock)' for its stamps") }
        } catch {
            guard error.category != .removed else { throw error }
            notices.append("keeps the clock of its stamps: \(error.description)")
        }
    }

    /// Sets the gyroscope to report every sample, and not only changes that exceed its hysteresis.
    ///
    /// - Returns: Whether it reports on change nevertheless.
    private func setSensitivity(_ notices: inout [String]) throws(SensorFailure) -> Bool {
        let name = IIODevice.prefix(.gyroscope) + "_hysteresis"
        guard kinds.contains(.gyroscope), let hysteresis = try? directory.number(name), hysteresis > 0 else {
            return false
        }
        try SensorFailure.tolerating({ $0 != .removed }) { () throws(SensorFailure) in
            try directory.write("0", to: name)
        }
        guard let left = try? directory.number(name), left > 0 else { return false }
        notices.append(
            "its gyroscope reports only changes, because \(directory.path(name)) stays at \(SysfsNumber.text(left))")
        return true
    }

    private func setRate(_ notices: inout [String]) throws(SensorFailure) -> Double? {
        var result: Double?
        for kind in kinds {
            guard let frequency = SamplingFrequency(kind, of: directory) else { continue }
            do throws(SensorFailure) {
                result = try frequency.set(wantedHz) ?? result
            } catch {
                // Any rate is better than none.
                guard error.category == .permission else { throw error }
                result = frequency.current ?? result
                notices.append("keeps its rate: \(error.description)")
            }
        }
        // More than is needed is nothing to tell.
        let isNeed = !settings.neededRatesHz.isEmpty
        if let result, isNeed ? result < 0.99 * wantedHz : abs(result - wantedHz) > 0.01 * wantedHz {
            notices.append(
                "runs at \(SysfsNumber.text(result)) Hz; asked for were \(SysfsNumber.text(wantedHz)) Hz")
        }
        return result
    }

    /// Room for two seconds more than a period, and the period's scans as the watermark.
    ///
    /// The watermark wakes no reader, because the reader goes by the clock: it is what a device with a memory of its own
    /// collects there.
    private func setSize(
        _ buffer: IIOBufferDirectory, rate: Double, _ period: PollingPeriod?
    ) throws(SensorFailure) {
        let rate = min(max(rate, 1), Double(Self.longestBuffer))
        let watermark = min(period?.sampleCount ?? 1, Self.longestBuffer / 2)
        let length = min(max(2 * watermark, Int(2 * rate) + watermark, 16), Self.longestBuffer)
        // Some drivers have a buffer of a fixed length, which is used as it is.
        try SensorFailure.tolerating { () throws(SensorFailure) in
            try buffer.controls.ensure("length", is: String(length))
        }
        guard buffer.controls.has("watermark") else { return }
        try SensorFailure.tolerating { () throws(SensorFailure) in
            try buffer.controls.ensure("watermark", is: String(watermark))
        }
    }

    /// Sets a sensor hub to hand its samples over within the latency.
    ///
    /// A shorter time is left as it is, and none is set where there is none: a hub without stamps of its own would give
    /// all samples that it has collected the stamp of the last one.
    private func limitTimeout(_ buffer: IIOBufferDirectory) throws(SensorFailure) {
        let name = "hwfifo_timeout"
        let longest = settings.latency / .seconds(1)
        guard let timeout = try? buffer.controls.number(name), timeout > longest else { return }
        try SensorFailure.tolerating({ $0 != .removed }) { () throws(SensorFailure) in
            try buffer.controls.write(SysfsNumber.text(longest), to: name)
        }
    }
}
