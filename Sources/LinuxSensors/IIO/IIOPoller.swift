import Binnacle
import Kernels
import LinuxSystem

/// Reads single values of a device through sysfs, on a thread of its own, because each of them can take seconds.
///
/// A reading that fails is reported as such, and never becomes a sample of zeros.
final class IIOPoller: Sendable {
    private let stopSignal: StopSignal
    private let values: PolledValues
    private let intervalNanoseconds: Int64
    /// How long readings may gather before the reader is woken.
    private let latencyNanoseconds: Int64

    /// The number of failures in a row after which the device counts as failed.
    private static let mostMissed = 10

    /// Reads the device's description, which may block; no value is read yet.
    init(device: SensorDevice, kinds: [SampleKind], settings: SensorSettings) throws(SensorFailure) {
        stopSignal = try mapError(SensorFailure.init) { () throws(SystemError) in try StopSignal() }
        values = try PolledValues(device, kinds, settings)
        intervalNanoseconds = max(1_000_000, Units.nanoseconds(settings.updateInterval))
        latencyNanoseconds = Units.nanoseconds(settings.latency)
    }

    /// Starts the thread, which calls `tell`; `isDue` unless the reader may be left asleep.
    func start(tell: @escaping @Sendable (_ outcome: PollOutcome, _ isDue: Bool) -> Void) throws(SensorFailure) {
        try mapError(SensorFailure.init) { () throws(SystemError) in
            try WorkerThread.start { [self] in run(tell) }
        }
    }

    /// Ends the thread; nothing is reported afterwards.
    func stop() { stopSignal.request() }

    private func run(_ tell: (PollOutcome, Bool) -> Void) {
        var due = SystemClock.monotonic()
        var missed = 0
        /// The first reading of which the reader was not told.
        var gatheredNanoseconds: Int64?
        while !stopSignal.isRequested {
            do throws(SensorFailure) {
                let reading = try values.read()
                missed = 0
                let time = reading.timeNanoseconds
                // With the next one the first would have waited too long.
                let isDue = time - (gatheredNanoseconds ?? time) + intervalNanoseconds > latencyNanoseconds
                gatheredNanoseconds = isDue ? nil : gatheredNanoseconds ?? time
                if !stopSignal.isRequested { tell(.reading(reading), isDue) }
            } catch {
                missed += 1
                gatheredNanoseconds = nil
                let isGone = values.isGone
                if !stopSignal.isRequested {
                    tell(isGone || missed >= Self.mostMissed ? .failed(error) : .missed(error), true)
                }
                if isGone { return }
            }
            // A device that counts as failed is read once a second.
            due += missed < Self.mostMissed ? intervalNanoseconds : max(intervalNanoseconds, 1_000_000_000)
            let now = SystemClock.monotonic()
            // Readings that a slow device has delayed are left out.
            if due < now { due = now }
            stopSignal.wait(nanoseconds: due - now)
        }
    }
}

/// One reading of a device through sysfs, converted.
struct PolledScan: Sendable {
    /// When it was made, on CLOCK_MONOTONIC.
    var timeNanoseconds: Int64
    /// The axes of each stream, in the order of the device's streams; three are the most a device has.
    var axes = InlineArray<3, (x: Float, y: Float, z: Float)>(repeating: (0, 0, 0))
}

/// What a poller reports.
enum PollOutcome: Sendable {
    case reading(PolledScan)
    /// A reading that failed; the poller goes on.
    case missed(SensorFailure)
    /// The device fails for good, or is gone; the poller goes on, more slowly, unless it is gone.
    case failed(SensorFailure)
}

/// The files from which a poller reads.
private struct PolledValues: Sendable {
    private let directory: SysfsDirectory
    private let streams: [(channels: [String], conversion: ScanConversion)]

    init(_ device: SensorDevice, _ kinds: [SampleKind], _ settings: SensorSettings) throws(SensorFailure) {
        directory = device.directory
        let iio = IIODevice(device)
        var streams: [(channels: [String], conversion: ScanConversion)] = []
        for kind in kinds {
            guard iio.canPoll(kind) else {
                throw SensorFailure(.description, "\(device.path): its \(kind.rawValue) cannot be read through sysfs")
            }
            streams.append((IIODevice.channels(kind).map { $0 + "_raw" }, try iio.scaling(kind, settings).conversion))
        }
        self.streams = streams
    }

    /// Reads all axes; the stamp is the middle of the reading.
    func read() throws(SensorFailure) -> PolledScan {
        let start = SystemClock.monotonic()
        var reading = PolledScan(timeNanoseconds: start)
        for (number, stream) in streams.enumerated() {
            reading.axes[number] = stream.conversion.apply(
                x: try directory.value(stream.channels[0]), y: try directory.value(stream.channels[1]),
                z: try directory.value(stream.channels[2]))
        }
        reading.timeNanoseconds = start + (SystemClock.monotonic() - start) / 2
        return reading
    }

    /// Whether the device's folder has gone, and the device with it.
    var isGone: Bool { directory.isGone }
}
