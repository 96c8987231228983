package import Binnacle
package import LinuxSystem
package import Station
package import VirtualDevices

/// Sends the samples of a source to a virtual device when they are due, and can stall, skip and unplug it.
///
/// It never waits; ``nextDueNanoseconds`` is the time of the next turn.
package final class DevicePlayer {
    package private(set) var sentCount = 0

    private let source: PacedSource
    private let device: any VirtualDevice
    /// The virtual sensor of each stream of the source; `nil` for unused streams.
    private let roles: [VirtualSensor?]
    private let clock: () -> Int64
    private let delivery: SampleDelivery
    /// Whether sending starts only when the kernel requests samples.
    private var isWaiting: Bool
    private var stallEndNanoseconds = Int64.min
    private var gapNanoseconds: Range<Int64> = 0..<0

    /// Maximum number of deliveries in a turn, after which commands and the kernel are served.
    private static let mostDeliveries = 256

    /// Creates a player for an unplugged device; the source delivers at most one sample of each stream at a time.
    ///
    /// With `waits`, sending starts when the kernel requests samples.
    package init(
        _ source: PacedSource, streams: [SampleStream], device: any VirtualDevice, waits: Bool = false,
        clock: @escaping () -> Int64 = SystemClock.monotonic
    ) {
        self.source = source
        self.device = device
        self.clock = clock
        isWaiting = waits
        delivery = SampleDelivery(streams: source.streams, capacity: 1)
        roles = source.streams.map { stream in
            guard streams.contains(where: { $0.id == stream.id }) else { return nil }
            return VirtualSensor(stream.kind)
        }
    }

    /// Whether the device is stalled: it sends nothing and answers no request.
    package var isStalled: Bool { clock() < stallEndNanoseconds }

    /// The time of the next turn; `nil` while it depends on the kernel.
    package var nextDueNanoseconds: Int64? {
        if isStalled { return stallEndNanoseconds }
        if isWaiting { return device.isWanted ? .min : nil }
        return source.nextDueNanoseconds ?? .min
    }

    /// Sends the samples that are due; returns whether there will be more.
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
            guard !gapNanoseconds.contains(due) else { continue }
            var values = SIMD3(Double(sample.x), Double(sample.y), Double(sample.z))
            if sensor == .gyroscope { values *= 180 / .pi }
            try send(sensor, values, due)
        }
    }

    private func send(_ sensor: VirtualSensor, _ values: SIMD3<Double>, _ due: Int64) throws(StationError) {
        do throws(SystemError) {
            if try device.send(sensor, values, timeNanoseconds: due) { sentCount += 1 }
        } catch {
            throw StationError(.inputOutput, "the kernel takes no sample of the \(sensor): \(error.description)")
        }
    }

    package func stall(nanoseconds: Int64) {
        stallEndNanoseconds = Units.later(clock(), by: nanoseconds)
    }

    /// Drops samples for some time.
    package func skip(nanoseconds: Int64) {
        let now = clock()
        gapNanoseconds = now..<Units.later(now, by: nanoseconds)
    }

    package func plug() throws(SystemError) {
        try device.plug()
        // Samples that were due earlier are dropped.
        gapNanoseconds = .min..<clock()
    }

    /// Removes the device and ends a stall; samples that become due meanwhile are lost.
    package func unplug() {
        stallEndNanoseconds = .min
        gapNanoseconds = 0..<0
        device.unplug()
    }
}

extension VirtualSensor {
    init(_ kind: SampleKind) {
        self =
            switch kind {
            case .accelerometer: .accelerometer
            case .magnetometer: .magnetometer
            case .gyroscope: .gyroscope
            }
    }
}
