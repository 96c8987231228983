import Kernels

/// Collects ``Readings`` of what a pipeline sees: stands behind the detectors, as a detector that finds nothing.
///
/// It is in a pipeline only while readings are wanted; without it nothing is computed.
package final class ReadingsCollector: Detector {
    package let name = "readings"
    package let streams: [SampleStream]
    package let isDetecting = true

    private let detectors: [any Detector]
    private var columns: [Columns]
    private var users: [(motion: MotionManager, collected: Collected, linear: Collected)]
    private let headings: [HeadingWatch]
    private var beginNanoseconds: Int64

    /// What was collected of some values: extremes of those that are finite, and the last of these.
    private struct Collected {
        var bounds = Extremes()
        var last: Float?

        /// The span of the values, each changed by a function that keeps their order.
        func span(_ change: (Float) -> Float = { $0 }) -> Readings.Span? {
            guard let last, bounds.least <= bounds.greatest else { return nil }
            return Readings.Span(least: change(bounds.least), greatest: change(bounds.greatest), last: change(last))
        }

        mutating func take(_ values: UnsafePointer<Float>, _ range: Range<Int>) {
            take(extremes(of: values, range: range), range) { values[$0] }
        }

        mutating func take(_ value: Float) {
            guard value.isFinite else { return }
            bounds.take(value)
            last = value
        }

        /// Takes extremes that a kernel found; only where an infinite value is among them each is looked at.
        mutating func take(_ found: Extremes, _ range: Range<Int>, _ value: (Int) -> Float) {
            if let place = range.last(where: { value($0).isFinite }) { last = value(place) }
            guard found.least <= found.greatest else { return }
            if found.least.isFinite, found.greatest.isFinite { return bounds.take(found) }
            for index in range where value(index).isFinite { bounds.take(value(index)) }
        }
    }

    private struct Columns {
        let stream: SampleStream
        var count = 0
        var x = Collected()
        var y = Collected()
        var z = Collected()
        /// The squares of the lengths.
        var squares = Collected()
        /// The last sample, for the direction of up.
        var last: SIMD3<Float>?
    }

    /// Creates a collector.
    ///
    /// - Parameters:
    ///   - streams: Those of the pipeline, in their order.
    ///   - detectors: Those before it; headings are observed until ``end()``.
    ///   - now: The beginning of the first interval, on CLOCK_MONOTONIC.
    package init(streams: [SampleStream], detectors: [any Detector], now: Int64) {
        self.streams = streams
        self.detectors = detectors
        beginNanoseconds = now
        columns = streams.map { Columns(stream: $0) }
        users = detectors.compactMap { ($0 as? MotionManager).map { ($0, Collected(), Collected()) } }
        headings = detectors.compactMap { ($0 as? NorthDetector).map(HeadingWatch.init) }
    }

    /// Observes no more headings.
    package func end() {
        for heading in headings { heading.end() }
    }

    package func startDetection() {}
    package func stopDetection() {}
    package func didLose(_ streams: [SampleStream], because error: any Error) {}

    package func process(_ delivery: SampleDelivery) {
        for place in columns.indices {
            guard let batch = delivery[columns[place].stream.id]?.columns, batch.count > 0 else { continue }
            let range = 0..<batch.count
            columns[place].count += batch.count
            columns[place].x.take(batch.x, range)
            columns[place].y.take(batch.y, range)
            columns[place].z.take(batch.z, range)
            columns[place].squares.take(extremes(x: batch.x, y: batch.y, z: batch.z, range: range), range) { index in
                let vector = batch.vector(index)
                return (vector * vector).sum()
            }
            columns[place].last = batch.vector(batch.count - 1)
        }
        for place in users.indices {
            let motion = users[place].motion
            // A manager that was stopped has not looked at these samples.
            guard motion.isDetecting, let values = motion.userAccelerationSquared, let stream = motion.accelerometer,
                let count = delivery[stream.id]?.count, count > 0
            else { continue }
            users[place].collected.take(values, 0..<count)
            guard motion.settings.measure == .linearAcceleration else { continue }
            guard let linear = motion.linearAccelerationSquared else {
                // Without a gyroscope it is decided on user acceleration.
                users[place].linear.take(values, 0..<count)
                continue
            }
            for index in 0..<count {
                let value = linear[index] < 0 ? values[index] : linear[index]
                users[place].linear.take(value)
            }
        }
    }

    // MARK: - Readings

    /// The readings since the last call; a new interval begins.
    ///
    /// - Parameters:
    ///   - now: The end of the interval, on CLOCK_MONOTONIC.
    ///   - statistics: Those of the streams.
    ///   - isWorking: Whether a detector looks at samples.
    ///   - clock: The time of a stamp, on CLOCK_MONOTONIC.
    /// - Returns: The readings of the interval.
    package func take(
        at now: Int64, statistics: [StreamStatistics], isWorking: (any Detector) -> Bool, clock: (Int64) -> Int64
    ) -> Readings {
        var readings = Readings(timeNanoseconds: now, intervalNanoseconds: max(1, now - beginNanoseconds))
        beginNanoseconds = now
        for place in columns.indices {
            let known = statistics.first { $0.stream.id == columns[place].stream.id }
            // A gyroscope that has never delivered is not there.
            if columns[place].stream.isOptional, known?.sampleCount ?? 0 == 0 { continue }
            readings.streams.append(Self.stream(columns[place], known, at: now, clock))
        }
        readings.detectors = detectors.map { self.detector($0, isRunning: isWorking($0)) }
        for place in columns.indices {
            columns[place] = Columns(stream: columns[place].stream)
        }
        for place in users.indices { (users[place].collected, users[place].linear) = (Collected(), Collected()) }
        return readings
    }

    private static func stream(
        _ columns: Columns, _ known: StreamStatistics?, at now: Int64, _ clock: (Int64) -> Int64
    ) -> Readings.Stream {
        let (sensor, kind) = (columns.stream.sensor, columns.stream.kind)
        var stream = Readings.Stream(sensor: sensor.name, kind: kind, isActive: sensor.isActive)
        stream.isSimulated = sensor.isSimulated
        stream.sampleCount = columns.count
        if let known {
            stream.ageSeconds = known.lastTimeNanoseconds.map { rounded(Double(now - clock($0)) * 1e-9, 1e3) }
            // Without recent samples there is no rate.
            let isOld = stream.ageSeconds.map { $0 > 2 } ?? true
            stream.rateHz = isOld ? nil : known.rateHz.map { rounded($0, 1e2) }
            stream.lossCount = known.lossCount
            stream.lostSampleCount = known.lostSampleCount
            stream.gapCount = known.gapCount
        }
        let unit = kind == .gyroscope ? Float(180 / Double.pi) : 1
        stream.x = columns.x.span { $0 * unit }
        stream.y = columns.y.span { $0 * unit }
        stream.z = columns.z.span { $0 * unit }
        stream.length = columns.squares.span { $0.squareRoot() * unit }
        return stream
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    private func detector(_ detector: any Detector, isRunning: Bool) -> Readings.Detector {
        func named(_ kind: String) -> Readings.Detector {
            var result = Readings.Detector(name: detector.name, kind: kind, isRunning: isRunning)
            for sensor in detector.streams.map(\.sensor.name) where !result.sensors.contains(sensor) {
                result.sensors.append(sensor)
            }
            return result
        }
        switch detector {
        case let motion as MotionManager: return describe(motion, named("motion"))
        case let north as NorthDetector: return describe(north, named("north"))
        case let orientation as OrientationDetector: return describe(orientation, named("orientation"))
        case let hinge as HingeDetector:
            var result = named("hinge")
            result.limits = hinge.settings.limits
            result.state = hinge.posture?.rawValue
            if let degrees = hinge.angleDegrees { result.figures = [Figure(.angle, Figure.Name.angle.number(degrees))] }
            return result
        case let light as AmbientLightDetector:
            var result = named("light")
            if let level = light.level { result.figures = [Figure.Name.illuminance, .brightness].figures(of: level) }
            return result
        case let proximity as ProximityDetector:
            var result = named("proximity")
            result.state = proximity.proximity?.rawValue
            return result
        default: return named("")
        }
    }

    private func columns(of stream: SampleStream?) -> Columns? {
        stream.flatMap { stream in columns.first { $0.stream.id == stream.id } }
    }

    private func describe(_ motion: MotionManager, _ start: Readings.Detector) -> Readings.Detector {
        var result = start
        result.state = motion.isMoving ? "moving" : motion.isRotating ? "rotating" : "still"
        result.limits = motion.settings.limits
        let gravity = Units.standardGravity
        if let user = users.first(where: { $0.motion === motion }) {
            for (name, collected) in [("user_g", user.collected), ("linear_g", user.linear)] {
                guard let span = collected.span({ $0.squareRoot() / gravity }) else { continue }
                result.measures.append(Readings.Measure(name, span))
            }
        }
        if let total = columns(of: motion.accelerometer)?.squares.span({ $0.squareRoot() / gravity }) {
            result.measures.append(Readings.Measure("total_g", total))
        }
        let degrees = Float(180 / Double.pi)
        if motion.settings.features.contains(.rotation),
            let rate = columns(of: motion.gyroscope)?.squares.span({ $0.squareRoot() * degrees })
        {
            result.measures.append(Readings.Measure("rate_dps", rate))
        }
        return result
    }

    private func describe(_ north: NorthDetector, _ start: Readings.Detector) -> Readings.Detector {
        var result = start
        result.limits = north.settings.limits
        if let heading = north.heading {
            result.state = north.isFacing ? "facing" : "away"
            let names: [Figure.Name] = [.heading, .reference, .accuracy, .age, .axis, .off, .field, .dip, .turnRate]
            result.figures = names.figures(of: heading)
        }
        if let fault = headings.first(where: { $0.detector === north })?.fault {
            result.figures.append(Figure(.reason, .text(fault.rawValue)))
        }
        return result
    }

    private func describe(_ orientation: OrientationDetector, _ start: Readings.Detector) -> Readings.Detector {
        var result = start
        result.limits = orientation.settings.limits
        if orientation.orientation != .undefined { result.state = orientation.orientation.rawValue }
        result.figures = [Figure(.tilt, .word(orientation.tilt))]
        guard let last = columns(of: orientation.accelerometer)?.last, let angles = orientation.angles(of: last) else {
            return result
        }
        for (name, degrees) in [("turn_deg", angles.turnDegrees), ("lean_deg", angles.leanDegrees)] {
            let degrees = (degrees * 10).rounded() / 10
            guard let span = Readings.Span(least: degrees, greatest: degrees, last: degrees) else { continue }
            result.measures.append(Readings.Measure(name, span))
        }
        return result
    }
}

extension [Figure.Name] {
    /// The figures that a result has, in this order.
    fileprivate func figures(of source: some FigureSource) -> [Figure] {
        compactMap { name in source.value(of: name).map { Figure(name, $0) } }
    }
}

/// Remembers why there was no heading at the last sample that could have had one.
private final class HeadingWatch: HeadingObserver {
    let detector: NorthDetector
    private(set) var fault: HeadingFault?

    init(_ detector: NorthDetector) {
        self.detector = detector
        detector.observer = self
    }

    func end() {
        if detector.observer === self { detector.observer = nil }
    }

    func detector(_ detector: NorthDetector, didFind heading: HeadingEvent) { fault = nil }

    func detector(_ detector: NorthDetector, didFindNoneBecauseOf fault: HeadingFault, at timeNanoseconds: Int64) {
        self.fault = fault
    }
}
