/// The way of the samples: asks a source, offers what it delivers to the detectors, and flushes the router.
///
/// Everything happens on the thread that calls ``turn()`` or ``run(while:)``, in one direction.
public final class Pipeline {
    /// Where the samples come from.
    public let source: any SampleSource
    /// What looks at the samples, in the order in which it speaks about one sample.
    public let detectors: [any Detector]
    /// What turns the detectors' words into events.
    public let router: Router
    /// The number of samples offered so far.
    public private(set) var sampleCount = 0
    /// The first and the last stamp offered so far, in nanoseconds.
    public private(set) var timeRange: ClosedRange<Int64>?

    private let delivery: SampleDelivery
    private var monitors: [GapMonitor]

    /// Creates a pipeline.
    ///
    /// Which delegate each detector has is up to whoever made the detector.
    ///
    /// - Parameters:
    ///   - source: Where the samples come from.
    ///   - detectors: What looks at them; each has to be started before it finds anything.
    ///   - router: Becomes the delegate of the source's sensors.
    ///   - capacity: The most samples of one stream in a delivery; never changes what is found.
    ///   - gapLimit: How long a stream may be silent before that is a gap.
    public init(
        source: any SampleSource, detectors: [any Detector], router: Router = Router(), capacity: Int = 4096,
        gapLimit: Duration = .seconds(1)
    ) {
        self.source = source
        self.detectors = detectors
        self.router = router
        let streams = source.streams
        delivery = SampleDelivery(streamCount: streams.count, capacity: capacity)
        monitors = streams.sorted { $0.index < $1.index }.map { GapMonitor(stream: $0, limit: gapLimit) }
        for stream in streams { router.watch(stream.sensor) }
    }

    /// Asks the source once and offers what it delivered.
    ///
    /// A failure deactivates its sensors and is told to them and to the detectors that need them.
    public func turn() -> SampleAnswer {
        delivery.removeAll()
        let answer = source.fill(delivery)
        offer(delivery)
        if case .failed(let sensors, let reason) = answer {
            for sensor in sensors {
                sensor.deactivate(because: reason)
                for detector in detectors { detector.sensor(sensor, didFailWith: reason) }
            }
            router.flush(upTo: nil)
        }
        return answer
    }

    /// Asks until the source has ended, then tells the handlers that nothing more will come.
    ///
    /// - Parameters:
    ///   - goesOn: Asked before each turn; `false` ends the run early, with everything found so far told.
    ///   - afterTurn: Told the source's answer after each turn.
    public func run(while goesOn: () -> Bool = { true }, afterTurn: (SampleAnswer) -> Void = { _ in }) {
        while goesOn() {
            let answer = turn()
            afterTurn(answer)
            if answer.isEnd { break }
        }
        router.finish()
    }

    /// Offers samples that somebody else has put into a delivery.
    public func offer(_ delivery: SampleDelivery) {
        guard let last = delivery.lastTimeNanoseconds else { return }
        for index in monitors.indices { monitors[index].look(at: delivery.batches[index]) }
        for detector in detectors { detector.process(delivery) }
        for batch in delivery.batches where !batch.isEmpty {
            sampleCount += batch.count
            let first = batch[0].timeNanoseconds
            timeRange = min(timeRange?.lowerBound ?? first, first)...max(timeRange?.upperBound ?? last, last)
        }
        router.flush(upTo: last)
    }
}
