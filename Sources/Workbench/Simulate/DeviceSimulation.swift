package import Binnacle
package import LinuxSystem
import PlainText
package import Station
package import VirtualDevices

/// Plays samples on virtual devices until they end, the user ends it, or the time is over.
package final class DeviceSimulation {
    /// Messages for the user before the start.
    package let notices: [String]

    private let options: SimulateOptions
    private let path: String
    private let device: any VirtualDevice
    private let player: DevicePlayer
    private let waker: Waker
    private var commands: CommandLines
    private let output: LineWriter
    private let errors: LineWriter
    /// When a missing driver is reported; `nil` once it was reported or a driver has bound.
    private var driverDeadlineNanoseconds: Int64?
    private var hasEnded = false
    private var session: SampleLoop?
    private let interruption: Interruption

    /// Time for a driver to bind; the kernel's own take half a second.
    private static let driverNanoseconds: Int64 = 5_000_000_000
    /// Accepted delay of a sample, comparable to that of a bus.
    private static let latenessNanoseconds: Int64 = 1_000_000
    /// Time that a device stays after the last sample, because unread samples vanish with it.
    private static let lingerNanoseconds: Int64 = 1_000_000_000

    /// Opens the traces; ``run()`` creates the device.
    package init(
        _ options: SimulateOptions, commands: Int32, output: LineWriter, errors: LineWriter,
        interruption: Interruption
    ) throws(StationError) {
        self.options = options
        self.interruption = interruption
        self.output = output
        self.errors = errors
        self.commands = CommandLines(descriptor: commands)
        waker = try mapError({ StationError($0) }) { () throws(SystemError) in try Waker() }
        let input = try SimulationInput(options, interruption: interruption)
        notices = input.notices
        path = options.node ?? options.file.path
        device = Self.device(options, kinds: input.streams.map(\.kind), path: path)
        player = DevicePlayer(
            input.source, streams: input.streams, device: device, waits: options.waits)
    }

    private static func device(_ options: SimulateOptions, kinds: [SampleKind], path: String) -> any VirtualDevice {
        let file = options.file
        let open = { () throws(SystemError) in try file.open(path) }
        switch file {
        case .uhid:
            var hub = HubDescription(Set(kinds.map(VirtualSensor.init)))
            if let name = options.name { hub.name = name }
            hub.width = options.width
            hub.hasTime = options.hasTime
            if case .model(let settings) = options.samples {
                hub.intervalMilliseconds = UInt32(max(1, (1000 / settings.rateHz).rounded()))
            }
            return HubDevice(hub, open: open)
        case .uinput:
            var input = InputDevice.Description()
            if let name = options.name { input.name = name }
            input.hasTime = options.hasTime
            input.hasGyroscope = kinds.contains(.gyroscope)
            return InputDevice(input, open: open)
        }
    }

    /// The descriptor to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { waker.descriptor }

    /// Creates the devices, plays, and removes them.
    package func run() throws(StationError) {
        defer { player.unplug() }
        try plug()
        let settings = SampleLoop.Settings(duration: options.duration, interruption: interruption)
        // The player sends the samples without a pipeline.
        let session = SampleLoop(self, capacity: 1, settings: settings)
        session.delegate = self
        self.session = session
        session.run()
        // Breaks the cycle: the session owns its source, this object.
        self.session = nil
        // Samples that were due before the deadline are still sent.
        if session.isOver, !hasEnded, session.failures.isEmpty { _ = try player.turn() }
        if let failure = session.failures.first { throw failure }
    }

    private func serve(_ isReady: Bool) throws(StationError) {
        guard isReady else { return }
        do throws(SystemError) {
            _ = try device.serve()
        } catch {
            throw StationError(.inputOutput, "\(path.printable): \(error.call): \(error.reason)")
        }
    }

    // MARK: - Commands

    private func execute(_ line: String) throws(StationError) {
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
        case .count: output.write("\(player.sentCount) samples sent")
        case .quit: session?.end()
        case nil: break
        case _ where !device.isPlugged: errors.write("binnacle: \(line.printable): it is not plugged in; say 'plug'")
        case .unplug:
            player.unplug()
            driverDeadlineNanoseconds = nil
            output.write("unplugged")
        case .stall(let nanoseconds):
            player.stall(nanoseconds: nanoseconds)
            output.write("stalled for \(Self.seconds(nanoseconds)) s")
        case .gap(let nanoseconds):
            player.skip(nanoseconds: nanoseconds)
            output.write("a gap of \(Self.seconds(nanoseconds)) s")
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String { (Double(nanoseconds) / 1e9).text(3) }

    private func plug() throws(StationError) {
        do throws(SystemError) {
            try player.plug()
        } catch {
            let words = options.file.remedy(for: error, path: path.printable).joined(separator: "\n")
            throw StationError(error.isPermission ? .noPermission : .unavailable, words)
        }
        driverDeadlineNanoseconds = Units.later(SystemClock.monotonic(), by: Self.driverNanoseconds)
        output.write("plugged in: \(Spelling.list(device.sensors.map { "\($0)" }))")
    }

    /// Reports once if no driver has bound to the device.
    private func reportMissingDriver() {
        guard let deadline = driverDeadlineNanoseconds else { return }
        if device.isDriven {
            driverDeadlineNanoseconds = nil
        } else if SystemClock.monotonic() >= deadline {
            driverDeadlineNanoseconds = nil
            let drivers = Spelling.list(["hid-sensor-hub"] + device.sensors.map(\.driver))
            errors.write(
                "binnacle: the kernel has the hub, but no driver for it yet; it needs the modules \(drivers)")
        }
    }
}

extension DeviceSimulation: SampleLoopSource {
    package var streams: [SampleStream] { [] }
    package var isSettled: Bool { true }

    /// Sends the samples that are due; after the last one the device stays for a moment.
    package func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !hasEnded else { return .pending }
        do throws(StationError) {
            guard try !player.turn() else { return .pending }
            hasEnded = true
            output.write("the traces have ended")
            let last = Units.later(SystemClock.monotonic(), by: Self.lingerNanoseconds)
            session?.deadlineNanoseconds = min(session?.deadlineNanoseconds ?? last, last)
        } catch {
            session?.end(error)
        }
        return .pending
    }

    package func isDrained(after answer: SampleAnswer) -> Bool { true }

    /// Waits for a command, the kernel, or due samples, and serves them.
    package func wait(until deadlineNanoseconds: Int64?) {
        var next = deadlineNanoseconds
        let now = SystemClock.monotonic()
        if !hasEnded, let due = player.nextDueNanoseconds {
            // At a high rate samples are sent in groups, because a wake-up costs more than sending.
            next = min(next ?? .max, max(due, now + Self.latenessNanoseconds))
        }
        // A stalled device does not answer the kernel.
        let kernel = player.isStalled ? nil : device.descriptor
        let ready = Readiness.wait(
            for: [waker.descriptor, commands.descriptor, kernel],
            timeoutNanoseconds: next.map { max(0, PacedSource.distance(from: now, to: $0)) })
        if ready[0] { waker.clear() }
        do throws(StationError) {
            // One answer at a time, so that a sensor that it enables sends a sample before the next answer.
            try serve(ready[2])
            guard ready[1] else { return }
            for line in commands.read() where session?.hasEnded == false { try execute(line) }
        } catch {
            session?.end(error)
        }
    }

    package func takeNotices() -> [String] { [] }
}

extension DeviceSimulation: SampleLoopDelegate {
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) { reportMissingDriver() }

    /// Writes the answers to commands; without a reader the session ends.
    package func sessionShouldFlush(_ session: SampleLoop) {
        output.flush()
        errors.flush()
        if output.failure != nil { session.end() }
    }

    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? { driverDeadlineNanoseconds }
}

/// The options of `binnacle simulate`.
package struct SimulateOptions {
    package enum Samples {
        /// A motion model.
        case model(SimulationSettings)
        /// Recordings, at a multiple of their speed.
        case traces(TraceSet, speed: Double, loops: Bool)
    }

    package var samples: Samples
    /// A HID sensor hub (uhid) or an input device (uinput).
    package var file = DeviceFile.uhid
    /// The width of a hub's axes.
    package var width = HubDescription.Width.bits32
    /// Whether samples carry the device's own time.
    package var hasTime = true
    /// Whether a hub has a gyroscope.
    package var hasGyroscope = false
    /// The device's name in the kernel; `nil` for the default.
    package var name: String?
    /// Whether sending starts only when the kernel requests samples.
    package var waits = false
    /// `nil` for no limit, or until the end of the traces.
    package var duration: Duration?
    /// The device file; `nil` for the default.
    package var node: String?
    /// The sensors of the traces to play; empty for the first of each kind.
    package var sensors: [String] = []

    package init(_ samples: Samples) {
        self.samples = samples
    }
}
