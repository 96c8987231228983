/// A detector of one accelerometer's samples, which starts, stops and fails as that accelerometer does.
///
/// Its superclass is a ``DetectorCore``.
package protocol AccelerometerDetector: ReportingDetector {
    associatedtype Settings: CheckedSettings

    /// Creates a detector that does not detect yet; without an accelerometer, a start tells *device not available*.
    ///
    /// - Precondition: ``CheckedSettings/problems()`` finds none.
    init(name: String, accelerometer: SampleStream?, settings: Settings)
    var isDetecting: Bool { get set }
    var position: SamplePosition { get set }
    /// Returns to the state in which a start begins; what was learned or counted stays.
    func reset()
    /// Forgets what was under way, because samples are missing.
    func interrupt()
}

extension AccelerometerDetector {
    package init(accelerometer: SampleStream?, settings: Settings = Settings()) {
        self.init(name: Self.kind, accelerometer: accelerometer, settings: settings)
    }

    package func reset() { interrupt() }

    /// Starts with the next delivery, or reports that there is no active accelerometer; does nothing while detecting.
    package func startDetection() {
        guard !isDetecting else { return }
        guard streams.contains(where: \.sensor.isActive) else {
            delegate?.collect(.detectorUnavailable, self, because: "no active accelerometer")
            return
        }
        reset()
        isDetecting = true
    }

    package func stopDetection() { isDetecting = false }

    /// Reports a failure when the accelerometer's stream is among those that failed.
    package func didLose(_ lost: [SampleStream], because error: any Error) {
        guard isDetecting, lost.contains(where: { $0.id == streams.first?.id }) else { return }
        interrupt()
        delegate?.collect(.detectorFailed, self, because: error)
    }

    /// Begins a delivery; returns the place of the accelerometer's batch, if the detector is to look at it.
    func begin(_ delivery: SampleDelivery) -> Int? {
        rows?.removeAll()
        guard isDetecting, let stream = streams.first else { return nil }
        return delivery.index(of: stream.id)
    }

    /// Tells the delegate what was found at a sample.
    func tell(_ found: Finding, at position: SamplePosition) {
        self.position = position
        delegate?.collect(found.kind, self, found)
    }
}

/// What every detector of samples has.
package class DetectorCore<Settings> {
    package let name: String
    package let streams: [SampleStream]
    package let settings: Settings
    package weak var delegate: (any DetectorDelegate)?
    package var isDetecting = false
    package var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// What is drawn, at each sample or more seldom.
    package let rows: MeasuredRows? = MeasuredRows()

    /// The class itself asks nothing of its settings, which would be looked up for each kind of detector at the start.
    init(name: String, streams: [SampleStream?], settings: Settings) where Settings: CheckedSettings {
        settings.requireValid()
        self.name = name
        self.streams = streams.compactMap { $0 }
        self.settings = settings
    }
}

/// A detector that looks at the samples one by one, unless the accelerometer's chip does.
protocol SampleWiseDetector: AccelerometerDetector {
    /// What is drawn of the last sample.
    var row: SIMD4<Float> { get }
    /// Whether the chip finds what the detector is for.
    var isReplaced: Bool { get }
    /// Looks at a sample in m/s²; returns what it decides.
    func find(_ sample: SIMD3<Float>, at time: Int64) -> Finding?
    /// Looks at what happened behind the samples so far: a rest, or a report of the chip; returns what that decides.
    func find(_ phase: SampleRest.Phase) -> Finding?
}

extension SampleWiseDetector {
    var isReplaced: Bool { false }
    func find(_ phase: SampleRest.Phase) -> Finding? { nil }

    /// Looks at the samples of the accelerometer, and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        guard let place = begin(delivery) else { return }
        let stream = streams[0].id
        if delivery.hidesTime(of: stream) { interrupt() }
        for rest in delivery.rests where rest.stream == stream {
            guard let found = find(rest.phase) else { continue }
            tell(found, at: .init(timeNanoseconds: found.timeNanoseconds, streamIndex: place, sampleIndex: -1))
        }
        guard !isReplaced else { return interrupt() }
        let columns = delivery.batches[place].columns
        for index in 0..<columns.count {
            let time = columns.times[index]
            let found = find(columns.vector(index), at: time)
            rows?.append(time, row)
            guard let found else { continue }
            tell(found, at: columns.position(of: index, at: place))
        }
    }

    /// A stamp of the chip, but not before that of the last sample.
    func notBeforeSamples(_ time: Int64) -> Int64 { max(time, streams.first?.sensor.lastTimeNanoseconds ?? time) }
}
