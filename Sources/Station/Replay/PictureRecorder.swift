import Binnacle
import Configuration
import Kernels
import Pictures
import PlainText

/// Draws what a replay's pipeline sees: it stands behind the detectors, and takes the corrected samples, what the detectors made
/// of them, and the events.
///
/// Its memory does not grow with the recording's length: tracks keep a fixed number of blocks, and only the first events are
/// kept one by one.
final class PictureRecorder: Detector {
    let name = "picture"
    let streams: [SampleStream]
    let isDetecting = true

    private let gravity = Double(Units.standardGravity)
    private let motions: [MotionManager]
    private let norths: [NorthDetector]
    /// For each stream its track and what is made of its samples.
    private var tracks: [Part] = []
    private let headings: [(detector: NorthDetector, recorder: HeadingRecorder)]
    private let orientations: [(detector: OrientationDetector, recorder: OrientationRecorder)]
    private let hinges: [(detector: HingeDetector, recorder: HingeRecorder)]
    private var events: [Event] = []
    private var eventCount = 0

    /// The most events that are kept.
    static let mostEvents = 4000
    /// The most pairs of a least and a greatest value in all tracks: with 4 bytes each, in base64, 1.5 MB.
    private static let mostPairs = 280_000

    /// What is kept of a stream.
    private struct Part {
        let stream: SampleStream
        let track: Track
        let measures: [AccelerationMeasure]
        let spectrum: Spectrum?
    }

    init(_ assembly: Assembly) {
        streams = assembly.streams
        let motions = assembly.motions.map(\.object)
        let norths = assembly.norths.map(\.object)
        let measures = streams.map { stream in
            motions.filter { $0.accelerometer?.id == stream.id }.flatMap(AccelerationMeasure.of)
        }
        let seriesCount =
            measures.reduce(0) { $0 + Self.ownSeries + $1.count } + norths.count * Picture.HeadingSeries.allCases.count
            + 4 * assembly.orientations.count + 2 * assembly.hinges.count
        // Even, because blocks are joined in pairs.
        let capacity = max(1024, Self.mostPairs / max(1, seriesCount) / 2 * 2)
        for (stream, measures) in zip(streams, measures) {
            tracks.append(
                Part(
                    stream: stream,
                    track: Track(
                        Array(repeating: .value, count: Self.ownSeries + measures.count), capacity: capacity),
                    measures: measures, spectrum: stream.kind == .accelerometer ? Spectrum() : nil))
        }
        headings = norths.map { ($0, HeadingRecorder($0, capacity: capacity)) }
        orientations = assembly.orientations.map { ($0.object, OrientationRecorder($0.object, capacity: capacity)) }
        hinges = assembly.hinges.map { ($0.object, HingeRecorder($0.object, capacity: capacity)) }
        self.motions = motions
        self.norths = norths
    }

    /// The three axes and the vector's length.
    private static let ownSeries = 4

    func startDetection() {}
    func stopDetection() {}
    func didLose(_ streams: [SampleStream], because error: any Error) {}

    func process(_ delivery: SampleDelivery) {
        for part in tracks {
            guard let columns = delivery[part.stream.id]?.columns, columns.count > 0 else { continue }
            let measures = part.measures.map(\.squares)
            let scale = part.stream.kind == .gyroscope ? Float(180 / Double.pi) : 1
            part.track.append(columns.times, count: columns.count) { series, range in
                var found: Extremes
                switch series {
                case 0: found = extremes(of: columns.x, range: range)
                case 1: found = extremes(of: columns.y, range: range)
                case 2: found = extremes(of: columns.z, range: range)
                case 3: found = extremes(x: columns.x, y: columns.y, z: columns.z, range: range)
                default: found = measures[series - Self.ownSeries]?.extremes(range) ?? Extremes()
                }
                guard found.least <= found.greatest else { return found }
                if !found.least.isFinite || !found.greatest.isFinite {
                    found = Self.finiteExtremes(series, columns, range, measures)
                }
                guard found.least <= found.greatest else { return found }
                if series >= 3 {
                    found.least = found.least.squareRoot()
                    found.greatest = found.greatest.squareRoot()
                }
                let unit = series >= Self.ownSeries ? 1 / Units.standardGravity : scale
                found.least *= unit
                found.greatest *= unit
                return found
            }
            part.spectrum?.append(columns)
        }
    }

    /// The extremes without the values that are infinite.
    private static func finiteExtremes(
        _ series: Int, _ columns: SampleColumns, _ range: Range<Int>, _ measures: [AccelerationMeasure.Squares?]
    ) -> Extremes {
        var found = Extremes()
        for index in range {
            let vector = columns.vector(index)
            let value =
                switch series {
                case 0: vector.x
                case 1: vector.y
                case 2: vector.z
                case 3: (vector * vector).sum()
                default: measures[series - ownSeries]?[index] ?? .nan
                }
            if value.isFinite { found.take(value) }
        }
        return found
    }

    // MARK: - The picture

    /// The samples a second of a stream, gaps included; `nil` for fewer than two.
    func rateHz(of stream: SampleStream) -> Double? {
        guard let track = tracks.first(where: { $0.stream.id == stream.id })?.track,
            let first = track.originNanoseconds, track.lastNanoseconds > first
        else { return nil }
        return Double(track.sampleCount - 1) / Units.seconds(from: first, to: track.lastNanoseconds)
    }

    /// What was recorded.
    func picture(_ title: String, _ configuration: Configuration) -> Picture {
        var picture = Picture(title: title)
        picture.configuration = configuration.detectorText
        picture.events = events
        picture.eventCount = eventCount
        // What moves, where it points, and what that was found from.
        let order: [SampleKind] = [.accelerometer, .magnetometer, .gyroscope]
        for kind in order {
            for part in tracks where part.stream.kind == kind && part.track.count > 0 { add(part, to: &picture) }
            guard kind == .accelerometer else { continue }
            for (detector, recorder) in orientations where recorder.track.count > 0 {
                recorder.add(detector, to: &picture)
            }
            for (detector, recorder) in hinges where recorder.track.count > 0 { recorder.add(detector, to: &picture) }
            for (detector, recorder) in headings where recorder.track.count > 0 {
                recorder.add(detector, to: &picture)
            }
        }
        return picture
    }

    private func add(_ part: Part, to picture: inout Picture) {
        let sensor = part.stream.sensor.name.printable
        addPanels(of: part, to: &picture)
        if let spectrum = part.spectrum, !spectrum.cells.isEmpty {
            picture.spectra.append(Picture.NamedSpectrum(title: "vibration of \(sensor)", spectrum: spectrum))
        }
        if part.track.earlierCount > 0 {
            picture.notes.append(
                "\(part.track.earlierCount) samples of the \(part.stream.kind.rawValue) of \(sensor) are earlier than its first "
                    + "one, and are not drawn")
        }
    }

    private func addPanels(of part: Part, to picture: inout Picture) {
        let stream = part.stream
        let place = picture.tracks.count
        picture.tracks.append(part.track)
        let sensor = stream.sensor.name.printable
        func curve(_ label: String, _ series: Int) -> Picture.Curve {
            Picture.Curve(label: label, track: place, series: series)
        }
        let axes = ["x", "y", "z"].enumerated().map { curve($0.element, $0.offset) }
        switch stream.kind {
        case .accelerometer:
            picture.panels.append(Picture.Panel(title: "acceleration of \(sensor)", unit: "m/s²", curves: axes))
            var total = Picture.Panel(
                title: "total acceleration of \(sensor)", unit: "m/s²", curves: [curve("|a|", 3)])
            for motion in motions where motion.accelerometer?.id == stream.id {
                total.limits += motion.settings.limits(of: "total_g", unit: gravity)
            }
            picture.panels.append(total)
            for (index, measure) in part.measures.enumerated() {
                let word = measure.isLinear ? "linear" : "user"
                var panel = Picture.Panel(
                    title: "\(word) acceleration, \(measure.motion.name.printable)", unit: "g",
                    curves: [curve(word, Self.ownSeries + index)])
                panel.limits = measure.motion.settings.limits(of: "\(word)_g", unit: 1)
                picture.panels.append(panel)
            }
        case .magnetometer:
            var panel = Picture.Panel(title: "field at \(sensor)", unit: "µT", curves: axes + [curve("|B|", 3)])
            for north in norths where north.magnetometer?.id == stream.id {
                guard let range = north.settings.plausibleFieldMicrotesla else { continue }
                for (side, limit) in [("below", range.lowerBound), ("above", range.upperBound)] {
                    panel.limits.append(
                        Picture.Limit("\(north.name.printable): |B| implausible \(side)", begin: limit, end: limit))
                }
            }
            picture.panels.append(panel)
        case .gyroscope:
            var panel = Picture.Panel(title: "turn rate of \(sensor)", unit: "°/s", curves: axes + [curve("|ω|", 3)])
            for motion in motions where motion.gyroscope?.id == stream.id {
                panel.limits += motion.settings.limits(of: "rate_dps", unit: 1)
            }
            picture.panels.append(panel)
        }
    }
}

extension PictureRecorder: EventHandler {
    func handle(_ event: Event) {
        eventCount += 1
        if events.count < Self.mostEvents { events.append(event) }
    }
}

extension MotionSettings {
    /// The limits of one measure; those of motion are shown wherever the curve is.
    ///
    /// - Parameters:
    ///   - measure: As in ``Readings/Limit/measure``.
    ///   - unit: What 1 g is in the panel's unit.
    /// - Returns: The limits, in the panel's unit.
    fileprivate func limits(of measure: String, unit: Double) -> [Picture.Limit] {
        limits.filter { $0.measure == measure }.map { limit in
            Picture.Limit(limit, unit: unit, isAlwaysShown: ["motion", "rotation"].contains(limit.name))
        }
    }
}

/// An acceleration without gravity that a motion manager has found.
private struct AccelerationMeasure {
    let motion: MotionManager
    /// Whether it is the one that a gyroscope follows through each turn.
    let isLinear: Bool

    /// Its squares at the samples of the last delivery, in (m/s²)².
    struct Squares {
        let user: UnsafePointer<Float>
        /// Below 0 where the gyroscope did not tell, and user acceleration decides.
        let linear: UnsafePointer<Float>?

        subscript(index: Int) -> Float {
            guard let value = linear?[index], !(value < 0) else { return user[index] }
            return value
        }

        func extremes(_ range: Range<Int>) -> Extremes {
            guard linear != nil else { return Kernels.extremes(of: user, range: range) }
            var found = Extremes()
            for index in range { found.take(self[index]) }
            return found
        }
    }

    /// What a motion manager measures.
    static func of(_ motion: MotionManager) -> [Self] {
        guard motion.userAccelerationSquared != nil else { return [] }
        let isLinear = motion.settings.features.contains(.motion) && motion.settings.measure == .linearAcceleration
        return [Self(motion: motion, isLinear: false)] + (isLinear ? [Self(motion: motion, isLinear: true)] : [])
    }

    /// The squares; `nil` of a manager that was stopped, which has not looked at these samples.
    var squares: Squares? {
        guard motion.isDetecting, let user = motion.userAccelerationSquared else { return nil }
        return Squares(user: user, linear: isLinear ? motion.linearAccelerationSquared : nil)
    }
}
