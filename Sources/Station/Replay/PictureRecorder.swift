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
    private var tracks: [(stream: SampleStream, track: Track, motions: [MotionManager], spectrum: Spectrum?)] = []
    private var headings: [(detector: NorthDetector, recorder: HeadingRecorder)] = []
    private var events: [Event] = []
    private var eventCount = 0

    /// The most events that are kept.
    static let mostEvents = 4000
    /// The most pairs of a least and a greatest value in all tracks: with 4 bytes each, in base64, 1.5 MB.
    private static let mostPairs = 280_000

    init(_ assembly: Assembly) {
        streams = assembly.streams
        motions = assembly.motions.map(\.object)
        norths = assembly.norths.map(\.object)
        let users = streams.map { stream in
            motions.filter {
                $0.accelerometer?.id == stream.id && $0.userAccelerationSquared != nil
            }
        }
        let seriesCount =
            users.reduce(0) { $0 + Self.ownSeries + $1.count } + norths.count * Picture.HeadingSeries.allCases.count
        // Even, because blocks are joined in pairs.
        let capacity = max(1024, Self.mostPairs / max(1, seriesCount) / 2 * 2)
        for (stream, users) in zip(streams, users) {
            tracks.append(
                (
                    stream,
                    Track(Array(repeating: .value, count: Self.ownSeries + users.count), capacity: capacity), users,
                    stream.kind == .accelerometer ? Spectrum() : nil
                ))
        }
        for north in norths {
            let recorder = HeadingRecorder(Track(Picture.HeadingSeries.allCases.map(\.kind), capacity: capacity))
            north.observer = recorder
            headings.append((north, recorder))
        }
    }

    /// The three axes and the vector's length.
    private static let ownSeries = 4

    func startDetection() {}
    func stopDetection() {}
    func didLose(_ streams: [SampleStream], because error: any Error) {}

    func process(_ delivery: SampleDelivery) {
        for place in tracks.indices {
            let (stream, track, motions, spectrum) = tracks[place]
            guard let columns = delivery[stream.id]?.columns, columns.count > 0 else { continue }
            // A manager that was stopped has not looked at these samples.
            let users = motions.map { $0.isDetecting ? $0.userAccelerationSquared : nil }
            let scale = stream.kind == .gyroscope ? Float(180 / Double.pi) : 1
            track.append(columns.times, count: columns.count) { series, range in
                var found: Extremes
                switch series {
                case 0: found = extremes(of: columns.x, range: range)
                case 1: found = extremes(of: columns.y, range: range)
                case 2: found = extremes(of: columns.z, range: range)
                case 3: found = extremes(x: columns.x, y: columns.y, z: columns.z, range: range)
                default: found = users[series - Self.ownSeries].map { extremes(of: $0, range: range) } ?? Extremes()
                }
                guard found.least <= found.greatest else { return found }
                if !found.least.isFinite || !found.greatest.isFinite {
                    found = Self.finiteExtremes(series, columns, range, users)
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
            if let spectrum {
                for index in 0..<columns.count {
                    spectrum.append(columns.vector(index), timeNanoseconds: columns.times[index])
                }
            }
        }
    }

    /// The extremes without the values that are infinite.
    private static func finiteExtremes(
        _ series: Int, _ columns: SampleColumns, _ range: Range<Int>, _ users: [UnsafePointer<Float>?]
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
                default: users[series - ownSeries]?[index] ?? .nan
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
            if kind == .accelerometer { addHeadings(to: &picture) }
        }
        return picture
    }

    private func add(
        _ part: (stream: SampleStream, track: Track, motions: [MotionManager], spectrum: Spectrum?),
        to picture: inout Picture
    ) {
        let sensor = part.stream.sensor.name.printable
        addPanels(of: part.stream, part.track, part.motions, to: &picture)
        if let spectrum = part.spectrum, !spectrum.cells.isEmpty {
            picture.spectra.append(Picture.NamedSpectrum(title: "vibration of \(sensor)", spectrum: spectrum))
        }
        if part.track.earlierCount > 0 {
            picture.notes.append(
                "\(part.track.earlierCount) samples of the \(part.stream.kind.rawValue) of \(sensor) are earlier than its first "
                    + "one, and are not drawn")
        }
    }

    private func addHeadings(to picture: inout Picture) {
        for (detector, recorder) in headings where recorder.track.count > 0 {
            picture.tracks.append(recorder.track)
            picture.panels.append(
                Picture.Panel(
                    title: "heading of \(detector.name.printable)", unit: "°", heading: picture.tracks.count - 1))
        }
    }

    private func addPanels(
        of stream: SampleStream, _ track: Track, _ users: [MotionManager], to picture: inout Picture
    ) {
        let place = picture.tracks.count
        picture.tracks.append(track)
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
            for (index, motion) in users.enumerated() {
                var panel = Picture.Panel(
                    title: "user acceleration, \(motion.name.printable)", unit: "g",
                    curves: [curve("user", Self.ownSeries + index)])
                panel.limits = motion.settings.limits(of: "user_g", unit: 1)
                picture.panels.append(panel)
            }
        case .magnetometer:
            picture.panels.append(
                Picture.Panel(
                    title: "field at \(sensor)", unit: "µT", curves: axes + [curve("|B|", 3)]))
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

/// Takes what a north detector finds at each sample.
private final class HeadingRecorder: HeadingObserver {
    let track: Track

    private static let bits: [HeadingFault: Float] = Dictionary(
        uniqueKeysWithValues: HeadingFault.allCases.enumerated().map { ($0.element, Float(UInt16(1) << $0.offset)) })

    init(_ track: Track) {
        self.track = track
    }

    func detector(_ detector: NorthDetector, didFind heading: HeadingEvent) {
        track.append(
            timeNanoseconds: heading.timeNanoseconds,
            SIMD4(Float(heading.headingDegrees), Float(heading.accuracyDegrees), .nan, .nan))
    }

    func detector(_ detector: NorthDetector, didFindNoneBecauseOf fault: HeadingFault, at timeNanoseconds: Int64) {
        track.append(timeNanoseconds: timeNanoseconds, SIMD4(.nan, .nan, Self.bits[fault] ?? .nan, .nan))
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
            Picture.Limit(
                "\(limit.name) \(limit.isAbove ? "above" : "below")", begin: Double(limit.begin) * unit,
                end: Double(limit.end) * unit, isAlwaysShown: ["motion", "rotation"].contains(limit.name))
        }
    }
}
