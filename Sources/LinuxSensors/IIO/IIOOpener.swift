import Binnacle
import CLinux
import Glibc
import LinuxSystem

/// Configures a device's buffer, enables it and opens it; runs on a worker thread, because sysfs may be slow.
struct IIOOpener {
    let device: SensorDevice
    let kinds: [SampleKind]
    let settings: SensorSettings

    /// An upper bound; devices have smaller buffers.
    private static let longestBuffer = 65_536

    private var directory: SysfsDirectory { device.directory }
    private var wantedHz: Double { settings.rateHz(for: kinds) }

    /// Opens the buffer, and returns it with notices for the user.
    ///
    /// The order is the kernel's: everything is set while the buffer is off, because later writes fail with EBUSY; values are
    /// read back, because the kernel may refuse or add channels and round rates. If this throws, the device can perhaps be
    /// polled.
    func openBuffer() throws(SensorFailure) -> (buffer: OpenBuffer, notices: [String]) {
        guard let buffer = IIOBufferDirectory.find(in: directory, for: kinds), let node = device.node else {
            throw SensorFailure(.description, "\(device.path): has no buffer for these channels")
        }
        var notices: [String] = []
        // Opened first: this fails when another program reads the device, before any of its settings are changed.
        let file = try open(node, buffer)
        try buffer.controls.ensure("enable", is: "0")
        let layout = try chooseChannels(buffer)
        try setClock(&notices)
        var before: [DeviceValue] = []
        var rate = try setRate(&before, &notices)
        // Of some chips the scale changes with the rate.
        var streams: [ScanDescription.Stream] = []
        for kind in kinds {
            streams.append(.init(kind: kind, scaling: try IIODevice(device).scaling(kind, settings)))
        }
        guard let scans = ScanDescription(layout: layout, streams: streams) else {
            throw SensorFailure(.description, "\(device.path): the kernel did not switch on all axes")
        }
        let trigger = IIOTrigger(device)
        let hasTrigger: Bool
        if let name = settings.trigger {
            try trigger.set(name)
            hasTrigger = true
        } else {
            hasTrigger = try trigger.setOwn()
        }
        if settings.trigger == nil, trigger.isTimer {
            rate = try trigger.setTimer(rateHz: wantedHz)
        } else {
            // A trigger named in the configuration, or set up by another program, keeps its rate; the buffer has to hold what comes.
            rate = trigger.rateHz ?? rate
        }
        let (watch, notice) = openWatch(file, node, buffer, rate: rate ?? wantedHz)
        if let notice { notices.append(notice) }
        func polling(_ latency: Duration) -> PollingPeriod? {
            PollingPeriod(latency: latency, rateHz: rate ?? wantedHz, isStamped: scans.decoder.hasTimestamp)
        }
        let (period, restPeriod) = (polling(settings.latency), settings.restLatency.flatMap(polling))
        // Last, because what fails before would leave it changed.
        let reportsOnChange = try setSensitivity(&before, &notices)
        do throws(SensorFailure) {
            try setSize(buffer, rate: rate ?? wantedHz, period, longest: restPeriod ?? period)
            try setTimeout(buffer, rate: rate ?? wantedHz, &before)
            if !(try enable(buffer, orNeedsTrigger: !hasTrigger)) {
                rate = try trigger.setTimer(rateHz: wantedHz)
                notices.append("has no trigger of its own: a timer takes its samples")
                try buffer.controls.write("1", to: "enable")
            }
        } catch {
            watch?.arming.restore()
            for value in before { value.restore() }
            throw error
        }
        let opened = OpenBuffer(
            file: file, node: node, scans: scans, rateHz: rate, period: period, restPeriod: restPeriod,
            canPoll: kinds.allSatisfy(IIODevice(device).canPoll), reportsOnChange: reportsOnChange, watch: watch,
            changes: BufferChanges(controls: buffer.controls, arming: watch?.arming, before: before))
        return (opened, notices)
    }

    /// Switches a buffer on; returns `false` when the device, which has no trigger, turns out to need one.
    private func enable(
        _ buffer: IIOBufferDirectory, orNeedsTrigger mayNeedTrigger: Bool
    ) throws(SensorFailure) -> Bool {
        do throws(SensorFailure) {
            try buffer.controls.write("1", to: "enable")
            return true
        } catch {
            guard error.code == EINVAL, mayNeedTrigger else { throw error }
            return false
        }
    }

    /// Takes over the chip's events; `nil` when none is wanted or possible, with what there is to say of it.
    private func openWatch(
        _ file: Descriptor, _ node: String, _ buffer: IIOBufferDirectory, rate: Double
    ) -> (ChipWatch?, notice: String?) {
        guard kinds.contains(.accelerometer), let chip = settings.chip else { return (nil, nil) }
        do throws(SensorFailure) {
            guard let events = ChipEvents(device) else {
                throw SensorFailure(.description, "its chip reports no events")
            }
            if chip.watch == .automatic, events.line == .missing {
                throw SensorFailure(.description, "no interrupt in /proc/interrupts has the name of its chip")
            }
            var plan = ChipWatchPlan()
            let doubt = events.line == .missing ? ", if it has an interrupt: there is none of its name" : ""
            var words = try events.add(chip.reports, to: &plan, of: device).map { $0 + doubt }
            do throws(SensorFailure) {
                if chip.rests { words.append(try addRest(chip, events, to: &plan, rate: rate)) }
            } catch {
                guard !plan.lasting.isEmpty else { throw error }
                words.append("it does not sleep at rest: \(error.description)")
            }
            // An additional buffer has a descriptor of its own, which knows no events.
            var opened = file
            if buffer.number > 0 {
                opened = try mapError(SensorFailure.init) { () throws(SystemError) in
                    try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
                }
            }
            let watch = try ChipWatch(
                plan, of: device, file: opened, node: node,
                values: try PolledValues(device, [.accelerometer], settings))
            return (watch, words.joined(separator: "; "))
        } catch {
            return (nil, chip.withoutChip(because: error.description))
        }
    }

    /// Adds what wakes the device to a plan, and returns it in words.
    private func addRest(
        _ chip: ChipSettings, _ events: ChipEvents, to plan: inout ChipWatchPlan, rate: Double
    ) throws(SensorFailure) -> String {
        guard IIODevice(device).canPoll(.accelerometer) else {
            throw SensorFailure(
                .description, "without single values in sysfs it could not be found out that its events never come")
        }
        try events.add(chip.watch, thresholdG: chip.thresholdG, rateHz: rate, to: &plan, of: device)
        if let freeFallG = chip.freeFallG { events.add(freeFallG: freeFallG, to: &plan, of: device) }
        let limit = plan.thresholdG.map { " above \(SysfsNumber.text(($0 * 1e3).rounded() / 1e3)) g" } ?? ""
        var words = "sleeps while nothing moves; its chip wakes it by '\(plan.words)'\(limit)"
        if events.line == .missing {
            words += "; there is no interrupt of its name: until the first event a sample a minute is taken"
        }
        if chip.wakesMachine, !events.addWaking(to: &plan) {
            words += "; it cannot wake the machine, because its driver has no power/wakeup"
        }
        return words
    }

    private func open(_ node: String, _ buffer: IIOBufferDirectory) throws(SensorFailure) -> Descriptor {
        do throws(SystemError) {
            let file = try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
            guard buffer.number > 0 else { return file }
            let further = Descriptor(
                owning: try systemCall("ioctl", path: node) { clinux_iio_buffer(file.raw, Int32(buffer.number)) })
            _ = fcntl(further.raw, F_SETFL, O_NONBLOCK)
            _ = fcntl(further.raw, F_SETFD, FD_CLOEXEC)
            return further
        } catch {
            guard error.code == EBUSY else { throw SensorFailure(error) }
            throw SensorFailure(
                .busy,
                "\(node): another program reads it" + DeviceHolder.of(node: node)
                    + "; only one can, so stop that one (iio-sensor-proxy, or another Binnacle)",
                code: EBUSY)
        }
    }

    /// Enables the axes and the stamp, disables all other channels, and returns the layout of the enabled channels.
    private func chooseChannels(_ buffer: IIOBufferDirectory) throws(SensorFailure) -> ScanLayout {
        let wanted = kinds.flatMap(IIODevice.channels) + ["in_timestamp"]
        for file in buffer.elements.names() where file.hasSuffix("_en") {
            // Afterwards the layout shows which channels could not be switched.
            try SensorFailure.tolerating({ $0 == .inputOutput }) { () throws(SensorFailure) in
                try buffer.elements.ensure(file, is: wanted.contains(String(file.dropLast(3))) ? "1" : "0")
            }
        }
        return ScanLayout(try buffer.enabledChannels())
    }

    /// Sets the monotonic clock if the device has a choice; a stamp of another clock is recognised by its value.
    private func setClock(_ notices: inout [String]) throws(SensorFailure) {
        let name = "current_timestamp_clock"
        // Devices that share a chip's FIFO each read their own clock when it starts, so those of the chip's other sensors are set before
        // the first one is enabled; a device that another program uses keeps its clock.
        for sibling in directory.siblings where !IIODevice.kinds(in: sibling).isEmpty && sibling.has(name) {
            if !IIOBufferDirectory.isAnyOn(in: sibling) { _ = try? sibling.ensure(name, is: "monotonic") }
        }
        guard directory.has(name) else { return }
        do throws(SensorFailure) {
            let clock = try directory.ensure(name, is: "monotonic")
            if clock != "monotonic" { notices.append("keeps the clock '\(clock)' for its stamps") }
        } catch {
            guard error.category != .removed else { throw error }
            notices.append("keeps the clock of its stamps: \(error.description)")
        }
    }

    /// Sets the sensors to report every sample instead of only changes beyond their hysteresis; returns whether that failed for a
    /// gyroscope.
    private func setSensitivity(
        _ before: inout [DeviceValue], _ notices: inout [String]
    ) throws(SensorFailure) -> Bool {
        var hasGyroscopeFailed = false
        for kind in kinds {
            let name = IIODevice.prefix(kind) + "_hysteresis"
            guard let text = try? directory.text(name), let value = SysfsNumber.parse(text), value > 0 else { continue }
            before.append(DeviceValue(folder: directory, name: name, text: text))
            try SensorFailure.tolerating({ $0 != .removed }) { () throws(SensorFailure) in
                try directory.write("0", to: name)
            }
            guard let left = try? directory.number(name), left > 0 else { continue }
            notices.append(
                "its \(kind.rawValue) reports only changes, because \(directory.path(name)) stays at "
                    + SysfsNumber.text(left))
            hasGyroscopeFailed = hasGyroscopeFailed || kind == .gyroscope
        }
        return hasGyroscopeFailed
    }

    private func setRate(
        _ before: inout [DeviceValue], _ notices: inout [String]
    ) throws(SensorFailure) -> Double? {
        var result: Double?
        let isNeed = !settings.neededRatesHz.isEmpty
        for kind in kinds {
            guard let frequency = SamplingFrequency(kind, of: directory) else { continue }
            if let off = frequency.off { before.append(off) }
            do throws(SensorFailure) {
                result = try frequency.set(wantedHz, isNeed: isNeed) ?? result
            } catch {
                // The device still works at another rate.
                guard error.category == .permission else { throw error }
                result = frequency.current ?? result
                notices.append("keeps its rate: \(error.description)")
            }
        }
        // A higher rate than needed is no reason for a notice.
        let enough = SamplingFrequency.enough * wantedHz
        if let result, isNeed ? result < enough : abs(result - wantedHz) > 0.01 * wantedHz {
            notices.append(
                "runs at \(SysfsNumber.text(result)) Hz; asked for were \(SysfsNumber.text(wantedHz)) Hz")
        }
        return result
    }

    /// Sets the size to the longest period plus two seconds, and the watermark to the scans of the usual one.
    ///
    /// The watermark wakes no reader, because the reader follows the clock: a device with a FIFO collects that many scans in it. Many
    /// drivers cannot hand over what is below it, and it cannot change while the buffer is on, so at rest the kernel alone collects more.
    private func setSize(
        _ buffer: IIOBufferDirectory, rate: Double, _ period: PollingPeriod?, longest: PollingPeriod?
    ) throws(SensorFailure) {
        let rate = min(max(rate, 1), Double(Self.longestBuffer))
        let most = min(longest?.sampleCount ?? 1, Self.longestBuffer / 2)
        let watermark = min(period?.sampleCount ?? 1, most)
        let length = min(max(2 * most, Int(2 * rate) + most, 16), Self.longestBuffer)
        for (name, value) in [("length", length), ("watermark", watermark)] where buffer.controls.has(name) {
            // Some drivers have a buffer of fixed length, which is used unchanged; the kernel then refuses even to open the attribute.
            try SensorFailure.tolerating({ $0 != .removed }) { () throws(SensorFailure) in
                try buffer.controls.ensure(name, is: String(value))
            }
        }
    }

    /// Sets the timeout of a sensor hub to at most the latency.
    ///
    /// A shorter timeout is kept, and none is set if there is none: a hub without stamps would stamp all collected samples with
    /// the time of the last one. The hub of a Chromebook, which stamps each sample, sends none before its FIFO is full without a timeout
    /// ("iio: cros_ec: Expose hwfifo_timeout", Linux 5.8).
    private func setTimeout(
        _ buffer: IIOBufferDirectory, rate: Double, _ before: inout [DeviceValue]
    ) throws(SensorFailure) {
        let name = "hwfifo_timeout"
        guard let text = try? buffer.controls.text(name), let timeout = SysfsNumber.parse(text) else { return }
        let isOff = timeout == 0 && device.name.hasPrefix(SamplingFrequency.chromebook)
        let longest = max(settings.latency / .seconds(1), isOff ? 1 / rate : 0)
        guard isOff || timeout > longest else { return }
        before.append(DeviceValue(folder: buffer.controls, name: name, text: text))
        try SensorFailure.tolerating({ $0 != .removed }) { () throws(SensorFailure) in
            try buffer.controls.write(SysfsNumber.text(longest), to: name)
        }
    }
}
