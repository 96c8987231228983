import Binnacle
import CLinux
import Glibc
import Synchronization

/// Reads single values of a device through sysfs, on a thread of its own, because each of them can take seconds.
///
/// A reading that fails is never a sample of zeros: it is said to have failed.
final class IIOPoller: Sendable {
    private let stopEvent: Descriptor
    private let isStopped = Atomic<Bool>(false)

    /// So many failures on end are no hiccup.
    private static let mostMissed = 10

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - kinds: What to read of it, at most two.
    ///   - settings: How often, and how values become samples.
    ///   - tell: Called on the poller's thread.
    /// - Throws: ``SensorFailure`` when the device's description cannot be used.
    init(
        device: SensorDevice, kinds: [SampleKind], settings: SensorSettings,
        tell: @escaping @Sendable (PollOutcome) -> Void
    ) throws(SensorFailure) {
        stopEvent = Descriptor(
            owning: try SensorFailure.judging { () throws(SystemError) in
                try systemCall("eventfd") { clinux_eventfd() }
            })
        let values = try PolledValues(device, kinds, settings)
        let interval = max(1_000_000, Units.nanoseconds(settings.updateInterval))
        try SensorFailure.judging { () throws(SystemError) in
            try WorkerThread.start { [self] in run(values, interval, tell) }
        }
    }

    /// Ends the thread, soon; nothing is told afterwards.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(stopEvent.raw, &one, 8)
    }

    private func run(_ values: PolledValues, _ interval: Int64, _ tell: (PollOutcome) -> Void) {
        var due = SystemClock.monotonic()
        var missed = 0
        while !isStopped.load(ordering: .acquiring) {
            do throws(SensorFailure) {
                let reading = try values.read()
                missed = 0
                if !isStopped.load(ordering: .acquiring) { tell(.reading(reading)) }
            } catch {
                missed += 1
                let isGone = error.category == .removed
                if !isStopped.load(ordering: .acquiring) {
                    if isGone || missed == Self.mostMissed {
                        tell(.failed(error))
                    } else if missed < Self.mostMissed {
                        tell(.missed(error))
                    }
                }
                if isGone { return }
            }
            // A device that fails for good is asked once a second.
            due += missed < Self.mostMissed ? interval : max(interval, 1_000_000_000)
            let now = SystemClock.monotonic()
            // What a slow device has made late is not made up for.
            if due < now { due = now }
            wait(nanoseconds: due - now)
        }
    }

    private func wait(nanoseconds: Int64) {
        var input = pollfd(fd: stopEvent.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&input, 1, Int32(min((nanoseconds + 999_999) / 1_000_000, 3_600_000)))
    }
}

/// The files from which a poller reads.
private struct PolledValues: Sendable {
    private let directory: SysfsDirectory
    private let streams: [(channels: [String], conversion: AxisConversion)]

    init(_ device: SensorDevice, _ kinds: [SampleKind], _ settings: SensorSettings) throws(SensorFailure) {
        directory = device.directory
        let iio = IIODevice(device)
        var streams: [(channels: [String], conversion: AxisConversion)] = []
        for kind in kinds {
            guard iio.canPoll(kind) else {
                throw SensorFailure(.description, "\(device.path): its \(kind.rawValue) cannot be read through sysfs")
            }
            streams.append((IIODevice.channels(kind).map { $0 + "_raw" }, try iio.conversion(kind, settings)))
        }
        self.streams = streams
    }

    /// Reads all axes; the stamp is the middle of the reading.
    func read() throws(SensorFailure) -> PolledReading {
        let start = SystemClock.monotonic()
        var reading = PolledReading(timeNanoseconds: start)
        for (number, stream) in streams.enumerated() {
            let axes = stream.conversion.apply(
                x: try value(stream.channels[0]), y: try value(stream.channels[1]), z: try value(stream.channels[2]))
            if number == 0 { reading.first = axes } else { reading.second = axes }
        }
        reading.timeNanoseconds = start + (SystemClock.monotonic() - start) / 2
        return reading
    }

    private func value(_ channel: String) throws(SensorFailure) -> Double {
        guard let value = try directory.number(channel) else {
            // An attribute that has gone, or is empty: with its folder the device has gone, too.
            let isGone = !directory.has(".")
            throw SensorFailure(
                isGone ? .removed : .inputOutput,
                "\(directory.path(channel)): " + (isGone ? "the device was removed" : "holds no value"))
        }
        return value
    }
}
