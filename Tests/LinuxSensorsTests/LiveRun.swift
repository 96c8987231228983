import Binnacle
import Foundation
import LinuxSensors
import LinuxSystem
import TestSupport
import Testing

/// A live source at work, with everything that comes of it.
final class LiveRun: SampleSource {
    let source: LiveSource
    private(set) var samples: [[Sample]]
    private(set) var events: [Event] = []
    private(set) var notices: [String] = []
    /// The deliveries with samples, and the most streams of one.
    private(set) var deliveryCount = 0
    private(set) var largestDelivery = 0
    /// The raw scans of each stream, when they were asked for, and how they were laid out.
    private(set) var scans: [[UInt8]]
    private(set) var layouts: [String] = []
    private let keepsScans: Bool
    private var pipeline: Pipeline?

    var streams: [SampleStream] { source.streams }

    init(
        _ requests: [SensorRequest], _ tree: FifoTree, suspended: @escaping () -> Int64 = { 0 }, capacity: Int = 64,
        keepsScans: Bool = false, bufferRetryNanoseconds: Int64 = 3_600_000_000_000
    ) throws {
        self.keepsScans = keepsScans
        source = try LiveSource(
            requests, finder: tree.finder, waker: try Waker(), suspended: suspended,
            bufferRetryNanoseconds: bufferRetryNanoseconds)
        samples = source.streams.map { _ in [] }
        scans = source.streams.map { _ in [] }
        let router = Router()
        router.add(ClosureHandler { [unowned self] in events.append($0) })
        pipeline = Pipeline(source: Tap(self), detectors: [], router: router, capacity: capacity)
    }

    /// Looks at deliveries on their way; the pipeline owns it, not the run.
    private final class Tap: SampleSource {
        private unowned let run: LiveRun
        init(_ run: LiveRun) { self.run = run }
        var streams: [SampleStream] { run.streams }
        func fill(_ delivery: SampleDelivery) -> SampleAnswer { run.fill(delivery) }
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if keepsScans { delivery.keepScans() }
        let answer = source.fill(delivery)
        let filled = delivery.batches.count { !$0.isEmpty }
        if filled > 0 { deliveryCount += 1 }
        largestDelivery = max(largestDelivery, filled)
        #expect((delivery.scans == nil) == !keepsScans)
        for (index, batch) in delivery.batches.enumerated() {
            if let kept = delivery.scans, !kept.isEmpty, !batch.isEmpty {
                #expect(kept.count == batch.count)
                scans[index] += kept.bytes
                if layouts.last != kept.layout { layouts.append(kept.layout) }
            }
            for place in 0..<batch.count { samples[index].append(batch[place]) }
        }
        notices += source.takeNotices()
        return answer
    }

    /// Turns the pipeline until something is the case; gives up after what is an eternity even on a busy machine.
    func turn(_ comment: String, until isEnough: (LiveRun) -> Bool) throws {
        for _ in 0..<6000 {
            if isEnough(self) { return }
            guard let answer = pipeline?.turn() else { return }
            if case .pending = answer { source.wait(timeoutMilliseconds: 10) }
        }
        Issue.record("waited in vain for \(comment); events: \(events.map(\.json)), samples: \(samples.map(\.count))")
        throw CancellationError()
    }

    func losses(_ cause: SampleLoss.Cause) -> [Event] {
        events.filter { $0.kind == .samplesLost && $0.figure(.cause) == .word(cause) }
    }
}

func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func request(
    _ name: String, _ kinds: [SampleKind] = [.accelerometer], settings: SensorSettings = SensorSettings()
) -> SensorRequest {
    var match = DeviceMatch()
    match.name = name
    return SensorRequest(sensor: Sensor(name: name), kinds: kinds, interface: .iio, match: match, settings: settings)
}

extension FifoTree {
    var finder: DeviceFinder { DeviceFinder(under: root) }
}
