package import Binnacle
package import LinuxSystem
package import Station
import Traces
package import VirtualDevices

/// Feeds a virtual device with the samples of a source when they are due, and can stall, skip and unplug it.
///
/// It never waits; it says when there is something to do.
package final class DevicePlayer {
    /// The angular velocity in degrees a second at a stamp of the source, for a device with a gyroscope.
    package typealias Spin = (Int64) -> SIMD3<Double>

    /// How many samples were handed to the kernel.
    package private(set) var sentCount = 0

    private let source: PacedSource
    private let device: any VirtualDevice
    /// For each stream of the source what it plays; nothing for a sensor that the device does not have.
    private let roles: [VirtualSensor?]
    private let spin: Spin?
    private let clock: () -> Int64
    private let delivery: SampleDelivery
    /// Whether the play starts only when the kernel asks for samples.
    private var isWaiting: Bool
    private var stallEndNanoseconds = Int64.min
    private var gapEndNanoseconds = Int64.min

    /// The most deliveries in one turn, so that commands and the kernel are answered in between.
    private static let mostDeliveries = 256

    /// Creates a player; the device is plugged in by somebody else.
    ///
    /// - Parameters:
    ///   - source: The samples, in their time, one of a stream at a time.
    ///   - streams: Those of its streams that are played.
    ///   - device: What plays them.
    ///   - spin: What a gyroscope measures whenever the accelerometer does.
    ///   - waits: Whether the play begins when the kernel wants samples, instead of at once.
    ///   - clock: What time it is, on CLOCK_MONOTONIC; that of the source.
    package init(
        _ source: PacedSource, streams: [SampleStream], device: any VirtualDevice, spin: Spin? = nil,
        waits: Bool = false, clock: @escaping () -> Int64 = SystemClock.monotonic
    ) {
        self.source = source
        self.device = device
        self.spin = spin
        self.clock = clock
        isWaiting = waits
        delivery = SampleDelivery(streams: source.streams, capacity: 1)
        roles = source.streams.map { stream in
            guard streams.contains(where: { $0.id == stream.id }) else { return nil }
            return stream.kind == .accelerometer ? .accelerometer : .magnetometer
        }
    }

    /// Whether the device hangs, and answers nobody.
    package var isStalled: Bool { clock() < stallEndNanoseconds }

    /// When there is something to do again, on the clock; `nil` when that is up to the kernel.
    package var nextDueNanoseconds: Int64? {
        if isStalled { return stallEndNanoseconds }
        if isWaiting { return device.isWanted ? .min : nil }
        return source.nextDueNanoseconds ?? .min
    }

    /// Hands over what is due.
    ///
    /// - Returns: Whether there will be more.
    /// - Throws: ``StationError`` when a trace cannot be read on, or the kernel takes no samples.
    package func turn() throws(StationError) -> Bool {
        guard !isStalled else { return true }
        if isWaiting, !device.isWanted { return true }
        isWaiting = false
        for _ in 0..<Self.mostDeliveries {
            delivery.removeAll()
            let answer = source.fill(delivery)
            try send()
            switch answer {
            case .samples: continue
            case .pending: return true
            case .ended: return false
            case .failed(let streams, let reason):
                // Failures of streams that are not played do not matter.
                guard streams.contains(where: { delivery.index(of: $0.id).flatMap { roles[$0] } != nil }) else {
                    continue
                }
                throw StationError(sourceFailure: reason)
            }
        }
        return true
    }

    private func send() throws(StationError) {
        for stream in delivery.batches.indices {
            guard !delivery.batches[stream].isEmpty, let sensor = roles[stream] else { continue }
            let sample = delivery.batches[stream][0]
            let time = sample.timeNanoseconds
            let due = source.dueNanoseconds(of: time) ?? clock()
            guard due >= gapEndNanoseconds else { continue }
            try send(sensor, SIMD3(Double(sample.x), Double(sample.y), Double(sample.z)), due)
            if sensor == .accelerometer, let spin { try send(.gyroscope, spin(time), due) }
        }
    }

    private func send(_ sensor: VirtualSensor, _ values: SIMD3<Double>, _ due: Int64) throws(StationError) {
        do throws(SystemError) {
            if try device.send(sensor, values, timeNanoseconds: due) { sentCount += 1 }
        } catch {
            throw StationError(.inputOutput, "the kernel takes no sample of the \(sensor): \(error.description)")
        }
    }

    /// Has the device hang from now on.
    package func stall(nanoseconds: Int64) {
        stallEndNanoseconds = Units.later(clock(), by: nanoseconds)
    }

    /// Leaves out what is measured from now on.
    package func skip(nanoseconds: Int64) {
        gapEndNanoseconds = Units.later(clock(), by: nanoseconds)
    }

    /// Gives the device to the kernel, as new.
    ///
    /// - Throws: ``SystemError`` when the kernel does not take it.
    package func plug() throws(SystemError) {
        try device.plug()
        // Samples that were due before the device existed are not sent to it.
        gapEndNanoseconds = clock()
    }

    /// Removes the device, and ends a stall.
    ///
    /// Time goes on for it: what it would have measured meanwhile is lost.
    package func unplug() {
        stallEndNanoseconds = .min
        gapEndNanoseconds = .min
        device.unplug()
    }
}
