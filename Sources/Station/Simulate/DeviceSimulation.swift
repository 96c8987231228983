import Binnacle
import Glibc
package import Handlers
import LinuxSystem
import VirtualDevices

/// Makes virtual devices of samples, until there are no more, somebody ends it, or a time is over.
package final class DeviceSimulation {
    /// What a person should know before it begins.
    package let notices: [String]

    private let options: SimulateOptions
    private let path: String
    private let device: any VirtualDevice
    private let player: DevicePlayer
    private let waker: Waker
    private var commands: CommandLines
    private let output: LineWriter
    private let errors: LineWriter
    /// When it is said that no driver has come; `nil` when that has been said, or is no longer awaited.
    private var complaintNanoseconds: Int64?
    private var isQuitting = false

    /// So long a driver may take: the kernel's need half a second.
    private static let driverNanoseconds: Int64 = 5_000_000_000
    /// A sample is handed over so late at most, which is no more than a bus would add.
    private static let restNanoseconds: Int64 = 1_000_000
    /// So long a device stays after the last sample of a trace, because what nobody has read goes with it.
    private static let lingerNanoseconds: Int64 = 1_000_000_000

    /// Opens the traces; the kernel is not asked yet.
    ///
    /// - Parameters:
    ///   - options: What to make, of what.
    ///   - commands: Where commands are read from.
    ///   - output: Where it is said what became of them.
    ///   - errors: Where it is said what is wrong with them.
    /// - Throws: ``StationError`` when a trace cannot be used.
    package init(
        _ options: SimulateOptions, commands: Int32, output: LineWriter, errors: LineWriter
    ) throws(StationError) {
        self.options = options
        self.output = output
        self.errors = errors
        self.commands = CommandLines(descriptor: commands)
        do throws(SystemError) {
            waker = try Waker()
        } catch {
            throw StationError(error)
        }
        let input = try SimulationInput(options)
        notices = input.notices
        path = options.node ?? options.file.path
        device = Self.device(options, kinds: input.streams.map(\.kind), path: path)
        player = DevicePlayer(
            input.source, streams: input.streams, device: device, spin: input.spin, waits: options.waits)
    }

    private static func device(_ options: SimulateOptions, kinds: [SampleKind], path: String) -> any VirtualDevice {
        let file = options.file
        let open = { () throws(SystemError) in try file.open(path) }
        switch file {
        case .uhid:
            var sensors = Set(kinds.map { $0 == .accelerometer ? VirtualSensor.accelerometer : .magnetometer })
            if options.hasGyroscope { sensors.insert(.gyroscope) }
            var hub = HubDescription(sensors)
            if let name = options.name { hub.name = name }
            hub.width = options.width
            hub.hasTime = options.hasTime
            if case .model(let settings) = options.samples {
                hub.intervalMilliseconds = UInt32(max(1, (1000 / settings.rateHz).rounded()))
            }
            return HubDevice(hub, open: open)
        case .uinput:
            var accelerometer = InputDevice.Description()
            if let name = options.name { accelerometer.name = name }
            accelerometer.hasTime = options.hasTime
            return InputDevice(accelerometer, open: open)
        }
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { waker.descriptor }

    /// Plays; the devices are gone afterwards, however it ends.
    ///
    /// - Throws: ``StationError`` when the kernel has no such devices, does not let us, or takes no more samples, and when a
    ///   trace cannot be read on.
    package func run() throws(StationError) {
        defer { player.unplug() }
        try plug()
        var end = options.duration.map { Units.later(SystemClock.monotonic(), by: Units.nanoseconds($0)) }
        var hasEnded = false
        while !Interruption.isRequested, !isQuitting, output.failure == nil {
            if !hasEnded, try !player.turn() {
                hasEnded = true
                output.write("the traces have ended")
                let last = Units.later(SystemClock.monotonic(), by: Self.lingerNanoseconds)
                end = min(end ?? last, last)
            }
            complain()
            output.flush()
            errors.flush()
            if let end, SystemClock.monotonic() >= end { return }
            try wait(until: [end, complaintNanoseconds, hasEnded ? nil : nextTurnNanoseconds])
        }
    }

    /// When to look again for samples that are due: not for each one of many, because going to sleep costs more than a sample.
    private var nextTurnNanoseconds: Int64? {
        player.nextDueNanoseconds.map { max($0, SystemClock.monotonic() + Self.restNanoseconds) }
    }

    private func wait(until deadlines: [Int64?]) throws(StationError) {
        var timeout: Int64?
        if let next = deadlines.compactMap({ $0 }).min() {
            timeout = PacedSource.distance(from: SystemClock.monotonic(), to: next)
        }
        // What hangs hears nobody.
        let kernel = player.isStalled ? nil : device.descriptor
        let ready = Readiness.wait(
            for: [waker.descriptor, commands.descriptor, kernel], timeoutNanoseconds: timeout.map { max(0, $0) })
        if ready[0] { waker.clear() }
        // One answer at a time: what the kernel switches on with it has a sample before the next.
        if ready[2] {
            do throws(SystemError) {
                _ = try device.serve()
            } catch {
                throw StationError(.inputOutput, "\(path.printable): \(error.call): \(error.reason)")
            }
        }
        guard ready[1] else { return }
        for line in commands.read() where !isQuitting { try obey(line) }
    }

    // MARK: - Commands

    private func obey(_ line: String) throws(StationError) {
        let command: PlayCommand?
        do throws(PlayCommand.SyntaxError) {
            command = try PlayCommand.parse(line)
        } catch {
            errors.write("binnacle: \(error.message)")
            return
        }
        switch command {
        case .plug where device.isPlugged: errors.write("binnacle: plug: it is plugged in already")
        case .plug: try plug()
        case .unplug, .stall, .gap:
            guard device.isPlugged else {
                errors.write("binnacle: \(line.printable): it is not plugged in; say 'plug'")
                return
            }
            obeyWhilePlugged(command)
        case .count: output.write("\(player.sentCount) samples sent")
        case .quit: isQuitting = true
        case nil: break
        }
    }

    private func obeyWhilePlugged(_ command: PlayCommand?) {
        switch command {
        case .unplug:
            player.unplug()
            complaintNanoseconds = nil
            output.write("unplugged")
        case .stall(let nanoseconds):
            player.stall(nanoseconds: nanoseconds)
            output.write("stalled for \(Self.seconds(nanoseconds)) s")
        case .gap(let nanoseconds):
            player.skip(nanoseconds: nanoseconds)
            output.write("a gap of \(Self.seconds(nanoseconds)) s")
        case .plug, .count, .quit, nil: break
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        Figure.Value.number(Double(nanoseconds) / 1e9, decimals: 3).description
    }

    private func plug() throws(StationError) {
        do throws(SystemError) {
            try player.plug()
        } catch {
            let words = options.file.remedy(for: error, path: path.printable).joined(separator: "\n")
            throw StationError(error.isPermission ? .noPermission : .unavailable, words)
        }
        complaintNanoseconds = Units.later(SystemClock.monotonic(), by: Self.driverNanoseconds)
        output.write("plugged in: \(Spelling.list(device.sensors.map { "\($0)" }))")
    }

    /// Says once when no driver has come, which is silence otherwise.
    private func complain() {
        guard let deadline = complaintNanoseconds else { return }
        if device.isDriven {
            complaintNanoseconds = nil
        } else if SystemClock.monotonic() >= deadline {
            complaintNanoseconds = nil
            let drivers = Spelling.list(["hid-sensor-hub"] + device.sensors.map(\.driver))
            errors.write(
                "binnacle: the kernel has the hub, but no driver for it yet; it needs the modules \(drivers)")
        }
    }
}
