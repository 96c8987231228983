package import PlainText

/// Is told by a detector, between two samples, what becomes an event.
package protocol DetectorDelegate: AnyObject {
    /// Takes what the detector found, about its own sensor.
    func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult)
    /// Takes that the detector cannot work; the reason belongs to a sample when the detector found it there.
    func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error)
    /// Takes that the detector cannot work; the reason belongs to no sample.
    func collect(_ kind: EventKind, _ detector: any Detector, because reason: String)
}

/// A detector that tells its delegate nothing but events.
package protocol ReportingDetector: EventDetector {
    /// Told what is found; held weakly, and loaded once a delivery: a change counts from the next.
    var delegate: (any DetectorDelegate)? { get set }
}

extension ReportingDetector {
    package func report(to router: Router) { delegate = delegate ?? router }
}

/// A detector whose results become events, and which shows what it measures to views that do not know its class.
///
/// What follows ``report(to:)`` has a default, so that a detector states only what it has.
package protocol EventDetector: DrivenDetector {
    /// What such detectors are called: the word of their section in the configuration, as in "motion".
    static var kind: String { get }
    /// The sample at which the detector stands; means something only to a delegate that is being told.
    var position: SamplePosition { get }
    /// Makes a router the delegate, unless it has one.
    func report(to router: Router)
    /// The name of the sensor that its events are about, that of its first stream by default; `nil` where it has none.
    var eventSensor: String? { get }

    // MARK: What it shows

    /// The name of its present state, as in "moving"; `nil` while it is unknown.
    var state: String? { get }
    /// Whether ``state`` is one that the detector waits for, such as a motion.
    var isActive: Bool { get }
    /// Its latest values, as of the end of the last delivery. With ``Figure/Name/age`` they are held from before.
    var figures: [Figure] { get }
    /// What its values are compared with.
    var limits: [LiveValues.Limit] { get }
    /// What is drawn of it over time.
    var lanes: [Lane] { get }
    /// The values that it has at samples, for ``lanes`` and ``limits``.
    var sampledValues: [SampledValue] { get }
    /// The spectrum of the last second, made when it is asked for, without values before the first; `nil` for a detector without
    /// one. What is `nil` later does not replace what a client has.
    var spectrum: LiveValues.Spectrum? { get }
    /// The values that are in no stream's columns; `nil` for a detector without such values.
    var rows: MeasuredRows? { get }
    /// The squares of a value at the samples of the last delivery, in the samples' unit; `nil` while there are none.
    ///
    /// They lie in memory of the detector, and are valid until it processes another delivery.
    ///
    /// `place` is that of ``SampledValue/Place/squares(_:of:)``; `count` is the number of samples of the value's stream.
    func squares(_ place: Int, count: Int) -> UnsafePointer<Float>?
    /// What is known of the gyroscope, as of the end of the last delivery; `nil` while none is used.
    var gyroscopeState: GyroscopeState? { get }
    /// The lines of a replay's summary about it, besides a state that has not ended.
    var summary: [String] { get }
    /// What it assumes of its sensor, or leaves out because of it.
    var assumptions: [Assumption] { get }
    /// What it has learned or counted, as a JSON object that the daemon keeps; `nil` for a detector that keeps nothing.
    var learned: String? { get }
    /// Takes what a detector of its kind and name had learned before; hostile values change nothing. `false` when some
    /// of it is not used.
    func recall(_ learned: JSONValue) -> Bool
    /// Forgets what it has learned or counted; `false` for a detector that keeps nothing.
    func resetKept() -> Bool

    // MARK: Single readings

    /// What it takes of the readings that are no samples.
    var ambientKinds: Set<AmbientReading.Kind> { get }
    /// Looks at a single reading, or at the failure to take one, of ``ambientKinds``.
    func process(_ outcome: AmbientReading.Outcome)
}

extension EventDetector {
    package var state: String? { nil }
    package var isActive: Bool { false }
    package var figures: [Figure] { [] }
    package var limits: [LiveValues.Limit] { [] }
    package var lanes: [Lane] { [] }
    package var sampledValues: [SampledValue] { [] }
    package var spectrum: LiveValues.Spectrum? { nil }
    package var rows: MeasuredRows? { nil }
    package func squares(_ place: Int, count: Int) -> UnsafePointer<Float>? { nil }
    package var gyroscopeState: GyroscopeState? { nil }
    package var eventSensor: String? { streams.first?.sensor.name }
    package var summary: [String] { [] }
    package var assumptions: [Assumption] { [] }
    package var learned: String? { nil }
    package func recall(_ learned: JSONValue) -> Bool { true }
    package func resetKept() -> Bool { false }
    package var ambientKinds: Set<AmbientReading.Kind> { [] }
    package func process(_ outcome: AmbientReading.Outcome) {}
}

extension [Figure.Name] {
    /// The figures that a result has, in this order.
    package func figures(of source: some FigureSource) -> [Figure] {
        compactMap { name in source.value(of: name).map { Figure(name, $0) } }
    }
}

/// What a detector assumes of a sensor, or leaves out because of it.
package struct Assumption: Sendable {
    /// What it is about: of two with the same subject the first is told.
    package let subject: String
    private let makeText: @Sendable () -> String

    package init(subject: String, text: @autoclosure @escaping @Sendable () -> String) {
        self.subject = subject
        makeText = text
    }

    /// A sentence for people, made when it is asked for: the daemon looks at its detectors in each turn.
    package var text: String { makeText() }
}
