import Binnacle
import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// Reads single values of a device through sysfs, on a thread of its own, because each of them can take seconds.
///
/// A reading that fails is reported as such, and never becomes a sample of zeros.
final class IIOPoller: Sendable {
    private let stopEvent: Descriptor
    private let isStopped = Atomic<Bool>(false)
    private let values: PolledValues
    private let intervalNanoseconds: Int64

    /// The number of failures in a row after which the device counts as failed.
    private static let mostMissed = 10

    /// Reads the device's description, which may block; no value is read yet.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - kinds: What to read of it, each once.
    ///   - settings: How often, and how values become samples.
    /// - Throws: ``SensorFailure`` when the device's description cannot be used.
    init(device: SensorDevice, kinds: [SampleKind], settings: SensorSettings) throws(SensorFailure) {
        stopEvent = Descriptor(
            owning: try mapError(SensorFailure.init) { () throws(SystemError) in
                try systemCall("eventfd") { clinux_eventfd() }
            })
        values = try PolledValues(device, kinds, settings)
        intervalNanoseconds = max(1_000_000, Units.nanoseconds(settings.updateInterval))
    }

    /// Starts the thread.
    ///
    /// - Parameter tell: Called on the poller's thread.
    /// - Throws: ``SensorFailure`` when the system has no thread left.
    func start(tell: @escaping @Sendable (PollOutcome) -> Void) throws(SensorFailure) {
        try mapError(SensorFailure.init) { () throws(SystemError) in
            try WorkerThread.start { [self] in run(tell) }
        }
    }

    /// Has the thread end; nothing is reported afterwards.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(stopEvent.raw, &one, 8)
    }

    private func run(_ tell: (PollOutcome) -> Void) {
        var due = SystemClock.monotonic()
        var missed = 0
        while !isStopped.load(ordering: .acquiring) {
            do throws(SensorFailure) {
                let reading = try values.read()
                missed = 0
                if !isStopped.load(ordering: .acquiring) { tell(.reading(reading)) }
            } catch {
                missed += 1
                let isGone = values.isGone
                if !isStopped.load(ordering: .acquiring) {
                    tell(isGone || missed >= Self.mostMissed ? .failed(error) : .missed(error))
                }
                if isGone { return }
            }
            // A device that counts as failed is read once a second.
            due += missed < Self.mostMissed ? intervalNanoseconds : max(intervalNanoseconds, 1_000_000_000)
            let now = SystemClock.monotonic()
            // Readings that a slow device has delayed are left out.
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
            streams.append((IIODevice.channels(kind).map { $0 + "_raw" }, try iio.scaling(kind, settings).conversion))
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
            reading[number] = axes
        }
        reading.timeNanoseconds = start + (SystemClock.monotonic() - start) / 2
        return reading
    }

    /// Whether the device's folder has gone, and the device with it.
    var isGone: Bool { !directory.has(".") }

    private func value(_ channel: String) throws(SensorFailure) -> Double {
        guard let value = try directory.number(channel) else {
            throw SensorFailure(
                isGone ? .removed : .inputOutput,
                "\(directory.path(channel)): " + (isGone ? "the device was removed" : "holds no value"))
        }
        return value
    }
}
