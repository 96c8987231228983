import Kernels

/// Collects ``LiveValues`` of what a pipeline sees, by its ``observer``.
package final class LiveValuesCollector {
    /// What stands behind the detectors.
    package let observer: PipelineObserver

    private let detectors: [any EventDetector]
    private let hasSpectra: Bool
    private let measures: [[Measure]]
    private let lanes: [[Lane]]
    /// What was collected of each series of each source.
    private var sources: [Collected]
    private var beginNanoseconds: Int64

    /// A measure of a detector, and where its values are.
    private typealias Measure = (value: SampledValue, source: Int, series: Int)

    private struct Collected {
        var count = 0
        var series: [(bounds: Extremes, last: Float?)]

        init(_ source: PipelineObserver.Source) {
            series = Array(repeating: (Extremes(), nil), count: source.seriesCount)
        }

        /// The span of a series in a unit; `nil` without a finite value.
        func span(_ place: Int, in unit: SampledValue.Unit) -> LiveValues.Span? {
            guard let last = series[place].last else { return nil }
            let bounds = series[place].bounds
            return LiveValues.Span(
                least: unit.of(bounds.least), greatest: unit.of(bounds.greatest), last: unit.of(last))
        }
    }

    /// Creates a collector for the streams of a pipeline, in their order, and its detectors.
    ///
    /// The first interval begins now, on CLOCK_MONOTONIC. Spectra are in the readings if they are wanted.
    package init(
        streams: [SampleStream], detectors: [any EventDetector], now: Int64, hasSpectra: Bool = false
    ) {
        let observer = PipelineObserver(streams: streams, detectors: detectors)
        self.observer = observer
        self.detectors = detectors
        self.hasSpectra = hasSpectra
        beginNanoseconds = now
        sources = observer.sources.map(Collected.init)
        measures = detectors.map { detector in
            detector.sampledValues.compactMap { value in
                guard value.form == .value, let place = observer.place(of: value, in: detector) else { return nil }
                return (value: value, source: place.source, series: place.series)
            }
        }
        lanes = detectors.map { detector in
            detector.lanes.map { lane in
                var lane = lane
                for place in lane.states.indices { lane.states[place].words = [] }
                return lane
            }
        }
        observer.delegate = self
    }

    /// The readings since the last call; a new interval begins.
    ///
    /// `now`, the end of the interval, and the times of `clock` are on CLOCK_MONOTONIC; `isWorking` says whether a detector
    /// looks at samples.
    package func collect(
        at now: Int64, statistics: [StreamStatistics], isWorking: (any DrivenDetector) -> Bool, clock: (Int64) -> Int64
    ) -> LiveValues {
        var readings = LiveValues(timeNanoseconds: now, intervalNanoseconds: max(1, now - beginNanoseconds))
        beginNanoseconds = now
        for (source, collected) in zip(observer.sources, sources) {
            guard let stream = source.stream else { continue }
            let known = statistics.first { $0.stream.id == stream.id }
            // A gyroscope that has never delivered is not there.
            if stream.isOptional, known?.sampleCount ?? 0 == 0 { continue }
            readings.streams.append(Self.reading(of: stream, collected, known, at: now, clock))
        }
        readings.detectors = detectors.indices.map { reading(of: $0, isRunning: isWorking(detectors[$0])) }
        sources = observer.sources.map(Collected.init)
        return readings
    }

    private static func reading(
        of source: SampleStream, _ collected: Collected, _ known: StreamStatistics?, at now: Int64,
        _ clock: (Int64) -> Int64
    ) -> LiveValues.Stream {
        var stream = LiveValues.Stream(
            sensor: source.sensor.name, kind: source.kind, isActive: source.sensor.isActive)
        stream.isSimulated = source.sensor.isSimulated
        stream.sampleCount = collected.count
        if let known {
            stream.ageSeconds = known.lastTimeNanoseconds.map { rounded(Double(now - clock($0)) * 1e-9, 1e3) }
            // Without recent samples there is no rate.
            let isOld = stream.ageSeconds.map { $0 > 2 } ?? true
            stream.rateHz = isOld ? nil : known.rateHz.map { rounded($0, 1e2) }
            stream.lossCount = known.lossCount
            stream.lostSampleCount = known.lostSampleCount
            stream.gapCount = known.gapCount
        }
        let unit = SampledValue.Unit.shown(of: source.kind)
        (stream.x, stream.y, stream.z) = (
            collected.span(0, in: unit), collected.span(1, in: unit), collected.span(2, in: unit)
        )
        stream.length = collected.span(PipelineObserver.Source.lengthSeries, in: unit)
        return stream
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    private func reading(of place: Int, isRunning: Bool) -> LiveValues.Detector {
        let detector = detectors[place]
        var result = LiveValues.Detector(name: detector.name, kind: type(of: detector).kind, isRunning: isRunning)
        for sensor in detector.streams.map(\.sensor.name) where !result.sensors.contains(sensor) {
            result.sensors.append(sensor)
        }
        result.isWaiting = !isRunning && detector.streams.contains { $0.sensor.isAbsent && !$0.isOptional }
        result.limits = detector.limits
        result.lanes = lanes[place]
        // What a detector knew before it stopped is not how things are.
        guard isRunning else { return result }
        result.state = detector.state
        result.isActive = detector.isActive
        result.figures = detector.figures
        if hasSpectra { result.spectrum = detector.spectrum }
        result.measures = measures[place].compactMap { measure in
            sources[measure.source].span(measure.series, in: measure.value.unit).map {
                LiveValues.Measure(measure.value.name, $0)
            }
        }
        return result
    }
}

extension LiveValuesCollector: PipelineObserverDelegate {
    package func pipelineObserver(_ observer: PipelineObserver, didObserve samples: ObservedSamples, of place: Int) {
        let all = 0..<samples.count
        sources[place].count += samples.count
        for series in sources[place].series.indices {
            let found = samples.extremes(of: series, all)
            guard found.least <= found.greatest else { continue }
            sources[place].series[series].bounds.include(found)
            if let index = all.last(where: { samples[series, $0].isFinite }) {
                sources[place].series[series].last = samples[series, index]
            }
        }
    }
}
