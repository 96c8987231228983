/// What sensors and detectors showed in an interval, beside the limits that it is compared with: for views, which show
/// more than events and keep nothing.
public struct LiveValues: Sendable, Equatable {
    /// The least, the greatest and the last of the values in an interval; all are finite.
    package struct Span: Sendable, Equatable {
        package let least: Float
        package let greatest: Float
        /// The last value, which may lie an interval or more back when values that are not finite came after it.
        package let last: Float

        /// Creates a span; `nil` where a value is not finite, or the least is greater than the greatest.
        package init?(least: Float, greatest: Float, last: Float) {
            guard least.isFinite, greatest.isFinite, last.isFinite, least <= greatest else { return nil }
            self.least = least
            self.greatest = greatest
            self.last = last
        }
    }

    /// The samples of one kind from one sensor.
    package struct Stream: Sendable, Equatable {
        /// The sensor's name.
        package let sensor: String
        package let kind: SampleKind
        /// Whether samples can be expected from the sensor.
        package var isActive: Bool
        /// Whether no device measures the samples.
        package var isSimulated = false
        /// The number of samples in the interval.
        package var sampleCount = 0
        /// Samples a second, by their own stamps, over the last second or more that is complete; `nil` before that.
        package var rateHz: Double?
        /// The age of the last sample at the end of the interval, in seconds; `nil` before the first.
        package var ageSeconds: Double?
        /// How often samples were lost since the start.
        package var lossCount = 0
        /// How many samples were lost since the start, as far as that could be estimated.
        package var lostSampleCount = 0
        /// How often the stream was interrupted since the start.
        package var gapCount = 0
        /// The axes, in m/s², µT or °/s, as ``kind`` says; `nil` without a sample.
        package var x: Span?
        /// See ``x``.
        package var y: Span?
        /// See ``x``.
        package var z: Span?
        /// The length of the vector, in ``unit``; `nil` without a sample.
        package var length: Span?

        package init(sensor: String, kind: SampleKind, isActive: Bool) {
            self.sensor = sensor
            self.kind = kind
            self.isActive = isActive
        }

        package var unit: String {
            switch kind {
            case .accelerometer: "m/s²"
            case .magnetometer: "µT"
            case .gyroscope: "°/s"
            }
        }
    }

    /// A limit of a detector, with its hysteresis.
    package struct Limit: Sendable, Equatable {
        /// What begins beyond it, as in "motion".
        package let name: String
        /// What is compared with it: a measure or a figure of the detector, as in "user_g".
        package let measure: String
        /// Whether it begins above the limit; otherwise below it.
        package let isAbove: Bool
        /// Where it begins, in the unit that ends the measure's name.
        package let begin: Float
        /// Where it ends, which is ``begin`` without hysteresis.
        package let end: Float
        /// Whether it is drawn also where the curve is far from it.
        package let isAlwaysShown: Bool

        package init(
            _ name: String, of measure: String, isAbove: Bool = true, begin: Float, end: Float? = nil,
            isAlwaysShown: Bool = false
        ) {
            self.name = name
            self.measure = measure
            self.isAbove = isAbove
            self.begin = begin
            self.end = end ?? begin
            self.isAlwaysShown = isAlwaysShown
        }
    }

    /// What a detector compares with its limits.
    package struct Measure: Sendable, Equatable {
        /// Its name, which ends with the unit, as in "user_g".
        package let name: String
        /// Its values in the interval.
        package var span: Span

        package init(_ name: String, _ span: Span) {
            self.name = name
            self.span = span
        }
    }

    /// The spectrum of a second, beside the bands that a detector measures.
    package struct Spectrum: Sendable, Equatable {
        /// A range of frequencies, as far as it is measured.
        package struct Band: Sendable, Equatable {
            package let name: String
            /// The measure that has its root mean square, which limits name as well.
            package let measure: String
            /// The unit of the measure.
            package let unit: String
            package let fromHz: Double
            package let toHz: Double
            /// What 1 of the unit is of a sine alone, in the unit of the values, at ``fromHz`` and at ``toHz``; linear between.
            package let scale: SIMD2<Double>
            /// The noise of the accelerometer in the band, in ``unit``; `nil` while it is not known.
            package let floor: Double?
        }

        /// The end of the second.
        package let timeNanoseconds: Int64
        /// The frequency at which the first value begins, and the width of each, in Hz.
        package let fromHz: Double
        package let stepHz: Double
        /// In g, the root mean square of a sine of that frequency alone; none when the second was not measured.
        package let values: [Float]
        package let bands: [Band]

        package static let mostValues = 512
    }

    /// The state of a detector.
    package struct Detector: Sendable, Equatable {
        package let name: String
        /// What it detects: the word of its section in the configuration, as in "motion".
        package let kind: String
        /// The names of its sensors.
        package var sensors: [String] = []
        /// Whether it looks at samples.
        package var isRunning: Bool
        /// Whether it does not because the machine lacks a sensor that may be missing.
        package var isWaiting = false
        /// Its state in a word, as in "moving"; `nil` when it has none, or none is known.
        package var state: String?
        /// Whether ``state`` is one that the detector waits for, such as a motion.
        package var isActive = false
        /// What it compares with its limits.
        package var measures: [Measure] = []
        package var limits: [Limit] = []
        /// What else is known of its state at the end of the interval: a heading, or the reason why there is none.
        package var figures: [Figure] = []
        /// What is drawn of it over time; `nil` in a line that leaves it out because the one before had the same.
        package var lanes: [Lane]? = []
        /// The last spectrum; `nil` where there is none, where none was asked for, and in a line that leaves it out as ``lanes``.
        package var spectrum: Spectrum?

        package init(name: String, kind: String, isRunning: Bool) {
            self.name = name
            self.kind = kind
            self.isRunning = isRunning
        }

        /// The value of a figure; `nil` when there is none.
        package func figure(_ name: Figure.Name) -> Figure.Value? { figures.first { $0.name == name }?.value }

        /// The values of a measure; `nil` when there are none.
        package func measure(_ name: String) -> Span? { measures.first { $0.name == name }?.span }
    }

    /// The end of the interval, in nanoseconds of the monotonic clock.
    public package(set) var timeNanoseconds: Int64
    /// The length of the interval, in nanoseconds.
    package var intervalNanoseconds: Int64
    /// The number of intervals that have no readings of their own, because they were not taken in time; these readings
    /// cover them as well.
    package var skippedCount = 0
    /// The streams, in their order.
    package var streams: [Stream] = []
    /// The detectors, in their order.
    package var detectors: [Detector] = []

    /// The last sample of a sensor, in m/s², µT or °/s, as the kind says.
    ///
    /// - Parameters:
    ///   - kind: What the sample measures.
    ///   - sensor: The sensor's name.
    /// - Returns: The three axes; `nil` without a sample.
    public func axes(_ kind: SampleKind, of sensor: String) -> SIMD3<Float>? {
        guard let stream = streams.first(where: { $0.kind == kind && $0.sensor == sensor }),
            let x = stream.x, let y = stream.y, let z = stream.z
        else { return nil }
        return SIMD3(x.last, y.last, z.last)
    }

    /// The state of a detector in a word, as in "moving".
    ///
    /// - Parameter detector: The detector's name.
    /// - Returns: The word; `nil` when the detector has no state, or none is known.
    public func state(of detector: String) -> String? { detectors.first { $0.name == detector }?.state }

    /// The last value that a detector has compared with its limits, or a figure of its state.
    ///
    /// - Parameters:
    ///   - name: What it is called in ``json``, with its unit, as in "user_g" or "heading_deg".
    ///   - detector: The detector's name.
    /// - Returns: The number; `nil` when there is none.
    public func number(_ name: String, of detector: String) -> Double? {
        guard let detector = detectors.first(where: { $0.name == detector }) else { return nil }
        if let measure = detector.measure(name) { return Double(measure.last) }
        return Figure.Name(rawValue: name).flatMap { detector.figure($0) }?.double
    }

    package init(timeNanoseconds: Int64, intervalNanoseconds: Int64) {
        self.timeNanoseconds = timeNanoseconds
        self.intervalNanoseconds = intervalNanoseconds
    }
}

extension LiveValues {
    /// The readings of some sensors and of the detectors that use one of them; `nil` stands for all sensors, and includes
    /// detectors that use none.
    package func only(_ names: Set<String>?) -> LiveValues {
        guard let names else { return self }
        var result = self
        result.streams.removeAll { !names.contains($0.sensor) }
        result.detectors.removeAll { !$0.sensors.contains(where: names.contains) }
        return result
    }

    /// These readings as they follow others in a subscription: without the lanes and spectra that are the same there.
    package func omittingKnown(of before: LiveValues?) -> LiveValues {
        changed(by: before) { detector, known in
            if known.lanes == detector.lanes { detector.lanes = nil }
            if known.spectrum == detector.spectrum { detector.spectrum = nil }
        }
    }

    /// These readings with the lanes and spectra that were left out, from those before them in a subscription.
    package func addingKnown(of before: LiveValues?) -> LiveValues {
        changed(by: before) { detector, known in
            detector.lanes = detector.lanes ?? known.lanes
            if detector.isRunning { detector.spectrum = detector.spectrum ?? known.spectrum }
        }
    }

    /// These readings and those of the interval after it as one, so that no extreme is lost.
    package func joined(with next: LiveValues) -> LiveValues {
        var result = next.changed(by: self) { detector, before in
            for measure in before.measures where detector.isRunning {
                if let place = detector.measures.firstIndex(where: { $0.name == measure.name }) {
                    let joined = Span.joined(measure.span, detector.measures[place].span)
                    if let joined { detector.measures[place].span = joined }
                } else {
                    detector.measures.append(measure)
                }
            }
        }
        result.intervalNanoseconds = Units.later(intervalNanoseconds, by: next.intervalNanoseconds)
        result.skippedCount += skippedCount
        for index in result.streams.indices {
            let stream = result.streams[index]
            guard let before = streams.first(where: { $0.sensor == stream.sensor && $0.kind == stream.kind }) else {
                continue
            }
            result.streams[index].sampleCount += before.sampleCount
            result.streams[index].x = Span.joined(before.x, stream.x)
            result.streams[index].y = Span.joined(before.y, stream.y)
            result.streams[index].z = Span.joined(before.z, stream.z)
            result.streams[index].length = Span.joined(before.length, stream.length)
        }
        return result
    }

    /// These readings with each detector changed by what other readings have of it.
    private func changed(by other: LiveValues?, _ change: (inout Detector, _ known: Detector) -> Void) -> LiveValues {
        var result = self
        for (index, detector) in detectors.enumerated() {
            let known = other?.detectors.first { $0.name == detector.name && $0.kind == detector.kind }
            if let known { change(&result.detectors[index], known) }
        }
        return result
    }
}

extension LiveValues.Span {
    /// Two spans as one, whose last value is that of the later one.
    fileprivate static func joined(_ before: Self?, _ after: Self?) -> Self? {
        guard let before, let after else { return after ?? before }
        return Self(
            least: min(before.least, after.least), greatest: max(before.greatest, after.greatest), last: after.last)
    }
}
