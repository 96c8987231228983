package import Kernels

/// Observes what a pipeline sees: stands behind the detectors, as a detector that finds nothing, and tells its delegate the
/// corrected samples and what the detectors measured at them.
///
/// It is in a pipeline only while its delegate is there to be told; without it no values are kept.
package final class PipelineObserver: DrivenDetector {
    /// What is observed of a stream, or of a detector with values at samples of several streams.
    package struct Source {
        /// The stream; `nil` for the rows of a detector.
        package let stream: SampleStream?
        /// The detector whose rows they are; `nil` for a stream.
        fileprivate let owner: (any EventDetector)?
        /// The values of detectors; those at a stream's samples stand behind the stream's own series.
        package let values: [(detector: any EventDetector, value: SampledValue)]

        /// The series of a stream itself: the three axes, and the length of the vector.
        package static let lengthSeries = 3
        package static let ownSeries = 4

        /// The number of series.
        package var seriesCount: Int { firstValue + values.count }
        /// The series of the first of ``values``.
        package var firstValue: Int { stream == nil ? 0 : Self.ownSeries }
    }

    package let name = "observer"
    package let streams: [SampleStream]
    package let isDetecting = true
    /// The streams in their order, and then the detectors with rows.
    package let sources: [Source]
    /// Told what is observed.
    package weak var delegate: (any PipelineObserverDelegate)?

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - streams: Those of the pipeline, in their order.
    ///   - detectors: Those before it, which keep rows from now on.
    package init(streams: [SampleStream], detectors: [any EventDetector]) {
        self.streams = streams
        let values = detectors.flatMap { detector in detector.sampledValues.map { (detector: detector, value: $0) } }
        let ofStreams = streams.map { stream in
            Source(stream: stream, owner: nil, values: values.filter { $0.value.place.isSquares(of: stream) })
        }
        let withRows = detectors.filter { $0.rows != nil }
        for detector in withRows { detector.rows?.isKept = true }
        sources =
            ofStreams
            + withRows.map { owner in
                Source(
                    stream: nil, owner: owner, values: values.filter { $0.detector === owner && $0.value.place.isRow })
            }
    }

    deinit {
        for source in sources { source.owner?.rows?.isKept = false }
    }

    package func startDetection() {}
    package func stopDetection() {}
    package func didLose(_ streams: [SampleStream], because error: any Error) {}

    package func process(_ delivery: SampleDelivery) {
        guard let delegate else { return }
        for (place, source) in sources.enumerated() {
            func tell(_ samples: ObservedSamples?) {
                if let samples, samples.count > 0 { delegate.pipelineObserver(self, didObserve: samples, of: place) }
            }
            if let columns = source.stream.flatMap({ delivery[$0.id]?.columns }) {
                tell(ObservedSamples(columns, source.values))
            } else if let rows = source.owner?.rows {
                rows.times.withUnsafeBufferPointer { times in
                    rows.values.withUnsafeBufferPointer { tell(ObservedSamples(times, $0, source.values)) }
                }
            }
        }
    }

    /// Where a value of a detector is found: its source and series; `nil` when its stream is not observed.
    package func place(of value: SampledValue, in detector: any EventDetector) -> (source: Int, series: Int)? {
        if case .lengths(of: let stream) = value.place {
            return sources.firstIndex { $0.stream?.id == stream.id }.map { ($0, Source.lengthSeries) }
        }
        for (place, source) in sources.enumerated() {
            let found = source.values.firstIndex { $0.detector === detector && $0.value.name == value.name }
            if let found { return (place, source.firstValue + found) }
        }
        return nil
    }
}

/// What a ``PipelineObserver`` tells.
package protocol PipelineObserverDelegate: AnyObject {
    /// Passes the observed samples of a delivery, at least one and valid during the call; `place` is that of their source
    /// in ``PipelineObserver/sources``.
    func pipelineObserver(_ observer: PipelineObserver, didObserve samples: ObservedSamples, of place: Int)
}

/// The series of one source in one delivery.
package struct ObservedSamples {
    /// The number of samples.
    package let count: Int
    /// Their stamps in nanoseconds.
    package let times: UnsafePointer<Int64>
    /// The columns of a stream; `nil` for rows.
    package let columns: SampleColumns?
    private let series: [Series]

    private enum Series {
        case plain(UnsafePointer<Float>)
        case squares(UnsafePointer<Float>)
        case lengths(SampleColumns)
        case row(UnsafeBufferPointer<SIMD4<Float>>, Int)
        /// Of a detector that was stopped, and has not looked at these samples.
        case none

        subscript(index: Int) -> Float {
            switch self {
            case .plain(let values): return values[index]
            case .squares(let values): return values[index].squareRoot()
            case .lengths(let columns):
                let vector = columns.vector(index)
                return (vector * vector).sum().squareRoot()
            case .row(let rows, let place): return rows[index][place]
            case .none: return .nan
            }
        }
    }

    fileprivate init(_ columns: SampleColumns, _ values: [(detector: any EventDetector, value: SampledValue)]) {
        (count, times, self.columns) = (columns.count, columns.times, columns)
        let own: [Series] = [.plain(columns.x), .plain(columns.y), .plain(columns.z), .lengths(columns)]
        series =
            own
            + values.map { detector, value in
                guard case .squares(let place, of: _) = value.place, detector.isDetecting,
                    let squares = detector.squares(place, count: columns.count)
                else { return .none }
                return .squares(squares)
            }
    }

    fileprivate init?(
        _ times: UnsafeBufferPointer<Int64>, _ rows: UnsafeBufferPointer<SIMD4<Float>>,
        _ values: [(detector: any EventDetector, value: SampledValue)]
    ) {
        guard let start = times.baseAddress else { return nil }
        (count, self.times, columns) = (times.count, start, nil)
        series = values.map { _, value in if case .row(let place) = value.place { .row(rows, place) } else { .none } }
    }

    /// A value, in the unit of samples; NaN where there is none.
    package subscript(series: Int, index: Int) -> Float { self.series[series][index] }

    /// The least and the greatest of the values in a range that are finite, in the unit of samples.
    package func extremes(of series: Int, _ range: Range<Int>) -> Extremes {
        let values = self.series[series]
        var found = Extremes()
        switch values {
        case .plain(let values): found = Kernels.extremes(of: values, range: range)
        case .squares(let squares): found = Kernels.extremes(of: squares, range: range)
        case .lengths(let columns):
            found = Kernels.extremes(x: columns.x, y: columns.y, z: columns.z, range: range)
        case .row: for index in range { found.include(values[index]) }
        case .none: break
        }
        guard found.least <= found.greatest else { return found }
        guard found.least.isFinite, found.greatest.isFinite else {
            // Only then each value is looked at.
            found = Extremes()
            for index in range where values[index].isFinite { found.include(values[index]) }
            return found
        }
        switch values {
        case .squares, .lengths: (found.least, found.greatest) = (found.least.squareRoot(), found.greatest.squareRoot())
        case .plain, .row, .none: break
        }
        return found
    }
}

extension SampledValue.Place {
    fileprivate var isRow: Bool { if case .row = self { true } else { false } }

    fileprivate func isSquares(of stream: SampleStream) -> Bool {
        if case .squares(_, of: let own) = self { own.id == stream.id } else { false }
    }
}
