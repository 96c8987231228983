import Binnacle
import Kernels
import LinuxSystem

/// Reads single values of a device through sysfs on its own thread, because each may take seconds.
///
/// A failed reading is reported as a failure and never becomes a sample of zeros.
final class IIOPoller: Sendable {
    private let stopSignal: StopSignal
    private let values: PolledValues
    private let intervalNanoseconds: Int64
    /// How long readings may collect before the reader is woken.
    private let latencyNanoseconds: Int64

    /// The number of failed readings in a row after which the device counts as failed.
    static let mostMissed = 10

    /// Reads the device's description, which may block, but no value.
    init(device: SensorDevice, kinds: [SampleKind], settings: SensorSettings) throws(SensorFailure) {
        stopSignal = try mapError(SensorFailure.init) { () throws(SystemError) in try StopSignal() }
        values = try PolledValues(device, kinds, settings)
        intervalNanoseconds = max(1_000_000, Units.nanoseconds(settings.updateInterval))
        latencyNanoseconds = Units.nanoseconds(settings.latency)
    }

    /// Starts the thread, which calls `tell`; without `isDue` the reader need not be woken.
    func start(tell: @escaping @Sendable (_ outcome: PollOutcome, _ isDue: Bool) -> Void) throws(SensorFailure) {
        try mapError(SensorFailure.init) { () throws(SystemError) in
            try WorkerThread.start { [self] in run(tell) }
        }
    }

    /// Ends the thread; at most one report in progress still follows.
    func stop() { stopSignal.request() }

    private func run(_ tell: (PollOutcome, Bool) -> Void) {
        var due = SystemClock.monotonic()
        var missed = 0
        /// The time of the first reading since the reader was last woken.
        var gatheredNanoseconds: Int64?
        while !stopSignal.isRequested {
            do throws(SensorFailure) {
                let reading = try values.read()
                missed = 0
                let time = reading.timeNanoseconds
                // Until the next reading the first would wait too long.
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
            // A failed device is read once a second.
            due += missed < Self.mostMissed ? intervalNanoseconds : max(intervalNanoseconds, 1_000_000_000)
            let now = SystemClock.monotonic()
            // Readings that a slow device has delayed are skipped.
            if due < now { due = now }
            stopSignal.wait(nanoseconds: due - now)
        }
    }
}

/// One reading of a device through sysfs, converted.
struct PolledScan: Sendable {
    /// The time of the reading on CLOCK_MONOTONIC.
    var timeNanoseconds: Int64
    /// The axes of each stream, in the order of the device's streams; a device has at most three.
    var axes = InlineArray<3, (x: Float, y: Float, z: Float)>(repeating: (0, 0, 0))
    /// The streams that could not be read this time, and why; never all of them.
    var failures: [(stream: Int, failure: SensorFailure)] = []

    func misses(_ stream: Int) -> Bool { failures.contains { $0.stream == stream } }
}

enum PollOutcome: Sendable {
    case reading(PolledScan)
    /// A failed reading; the poller continues.
    case missed(SensorFailure)
    /// The device keeps failing or was removed; the poller continues at a lower rate, unless it was removed.
    case failed(SensorFailure)
}

struct PolledValues: Sendable {
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

    /// Reads all axes; the stamp is the middle of the time that this takes.
    ///
    /// Throws ``SensorFailure`` when no stream can be read, or the device was removed.
    func read() throws(SensorFailure) -> PolledScan {
        let start = SystemClock.monotonic()
        var reading = PolledScan(timeNanoseconds: start)
        for (number, stream) in streams.enumerated() {
            do throws(SensorFailure) {
                reading.axes[number] = stream.conversion.apply(
                    x: try directory.value(stream.channels[0]), y: try directory.value(stream.channels[1]),
                    z: try directory.value(stream.channels[2]))
            } catch {
                reading.failures.append((number, error))
                guard error.category != .removed, reading.failures.count < streams.count else { throw error }
            }
        }
        reading.timeNanoseconds = start + (SystemClock.monotonic() - start) / 2
        return reading
    }

    var isGone: Bool { directory.isGone }
}
