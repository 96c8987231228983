package import Binnacle
import Kernels
import PlainText

/// Records a replay and draws it: the corrected samples, the detectors' values, and the events.
///
/// Its memory does not grow with the recording: tracks keep a fixed number of blocks, only the first events are kept, and gaps
/// are joined.
package final class PictureRecorder {
    /// Runs after the detectors.
    package let observer: PipelineObserver

    private let detectors: [any EventDetector]
    /// Tracks of the observer's sources, with the units of their series.
    private let tracks: [(track: Track, units: [SampledValue.Unit])]
    /// Spectra of the accelerometers among the sources.
    private let spectra: [Spectrum?]
    /// The events and gaps so far, headings limited by themselves: a turn has one for each degree.
    private var recorded = Picture(title: "")

    /// The most headings and attitudes that are drawn, and the most other events.
    private static let mostEvents = 4000
    private static let mostGaps = 4000
    /// The most pairs of least and greatest values in all tracks: with 4 bytes each, in base64, 1.5 MB.
    private static let mostPairs = 280_000

    /// Creates a recorder for the streams and detectors of a pipeline, in their order.
    package init(streams: [SampleStream], detectors: [any EventDetector]) {
        let observer = PipelineObserver(streams: streams, detectors: detectors)
        self.observer = observer
        self.detectors = detectors
        let count = observer.sources.reduce(0) { $0 + $1.seriesCount }
        // Even, because blocks are joined in pairs.
        let capacity = max(1024, Self.mostPairs / max(1, count) / 2 * 2)
        tracks = observer.sources.map { source in
            let own = source.stream.map { stream in
                Array(repeating: (SampledValue.Form.value, SampledValue.Unit.shown(of: stream.kind)), count: 4)
            }
            let series = (own ?? []) + source.values.map { ($0.value.form, $0.value.unit) }
            return (Track(series.map(\.0), capacity: capacity), series.map(\.1))
        }
        spectra = observer.sources.map { $0.stream?.kind == .accelerometer ? Spectrum() : nil }
        observer.delegate = self
    }

    /// The mean sampling rate of a stream including gaps, in Hz; `nil` for fewer than two samples.
    package func rateHz(of stream: SampleStream) -> Double? {
        guard let place = observer.sources.firstIndex(where: { $0.stream?.id == stream.id }),
            case let track = tracks[place].track, let first = track.originNanoseconds, track.lastNanoseconds > first
        else { return nil }
        return Double(track.sampleCount - 1) / Units.seconds(from: first, to: track.lastNanoseconds)
    }

    // MARK: - The picture

    /// The recorded picture: for each stream its samples, and what detectors derived from them.
    package func picture(_ title: String) -> Picture {
        var picture = recorded
        picture.title = title
        for kind in [SampleKind.accelerometer, .magnetometer, .gyroscope] {
            for (place, source) in observer.sources.enumerated() {
                guard let stream = source.stream, stream.kind == kind, tracks[place].track.count > 0 else { continue }
                add(stream, place, to: &picture)
            }
            guard kind == .accelerometer else { continue }
            for (place, source) in observer.sources.enumerated()
            where source.stream == nil && tracks[place].track.count > 0 {
                picture.tracks.append(tracks[place].track)
                addLanes(of: place, to: &picture)
            }
        }
        return picture
    }

    private func add(_ stream: SampleStream, _ place: Int, to picture: inout Picture) {
        let sensor = stream.sensor.name.printable
        let own = picture.tracks.count
        picture.tracks.append(tracks[place].track)
        let axes = ["x", "y", "z"].enumerated().map { Picture.Curve(label: $1, track: own, series: $0) }
        let (title, unit, label) =
            switch stream.kind {
            case .accelerometer: ("acceleration of \(sensor)", "m/s²", "|a|")
            case .magnetometer: ("field at \(sensor)", "µT", "|B|")
            case .gyroscope: ("turn rate of \(sensor)", "°/s", "|ω|")
            }
        var panel = Picture.Panel(title: title, unit: unit, curves: axes)
        // The length of an acceleration seldom has the range of its axes.
        if stream.kind == .accelerometer {
            picture.panels.append(panel)
            panel = Picture.Panel(title: "total \(title)", unit: unit)
        }
        panel.curves.append(Picture.Curve(label: label, track: own, series: PipelineObserver.Source.lengthSeries))
        let shown = SampledValue.Unit.shown(of: stream.kind).size
        for detector in detectors {
            for value in detector.sampledValues {
                guard case .lengths(of: let other) = value.place, other.id == stream.id else { continue }
                panel.marks += marks(of: [value.name], in: detector, unit, scale: value.unit.size / shown)
            }
        }
        picture.panels.append(panel)
        addLanes(of: place, to: &picture)
        if let spectrum = spectra[place], !spectrum.cells.isEmpty {
            picture.spectra.append((title: "vibration of \(sensor)", spectrum: spectrum))
        }
        let earlier = tracks[place].track.earlierCount
        if earlier > 0 {
            picture.notes.append(
                "\(earlier) samples of the \(stream.kind.rawValue) of \(sensor) are earlier than its first one, and are not drawn"
            )
        }
    }

    /// Adds the lanes with values of a source, which is the last track.
    private func addLanes(of place: Int, to picture: inout Picture) {
        let track = picture.tracks.count - 1
        for detector in detectors {
            func series(_ name: String) -> Int? {
                let value = detector.sampledValues.first { $0.name == name }
                guard let value, case .lengths = value.place else {
                    let found = value.flatMap { observer.place(of: $0, in: detector) }
                    return found?.source == place ? found?.series : nil
                }
                // It is drawn in the panel of its stream.
                return nil
            }
            for lane in detector.lanes {
                var panel = Picture.Panel(title: lane.title.printable, unit: lane.unit)
                panel.curves = lane.curves.compactMap { curve in
                    series(curve.name).map { Picture.Curve(label: curve.label, track: track, series: $0) }
                }
                panel.marks = marks(of: lane.curves.map(\.name), in: detector, lane.unit)
                if let direction = lane.direction, let found = series(direction.name) {
                    panel.ticks = Picture.circle
                    panel.curves.append(
                        Picture.Curve(label: "", track: track, series: found, band: series(direction.accuracy)))
                    panel.marks += lane.sectors.flatMap(Self.marks)
                }
                panel.states = lane.states.compactMap { states in
                    series(states.name).map { place in
                        Picture.States(track: track, series: place, names: states.words.map { states.prefix + $0 })
                    }
                }
                if !panel.curves.isEmpty { picture.panels.append(panel) }
            }
        }
    }

    /// The thresholds of some values of a detector, with hysteresis; `scale` converts their unit to the panel's.
    ///
    /// The label has the digits of the configuration, or four that count where the unit is another one.
    private func marks(
        of names: [String], in detector: any EventDetector, _ unit: String, scale: Double = 1
    ) -> [Picture.Mark] {
        detector.limits.filter { names.contains($0.measure) }.map { limit in
            let (begin, end) = (Double(limit.begin) * scale, Double(limit.end) * scale)
            let short = PictureSVG.short(begin, digits: scale == 1 ? 0 : 4)
            let text = scale == 1 ? ShownValue.exact(begin, short) : short
            return Picture.Mark(
                label: "\(limit.name) \(limit.isAbove ? "above" : "below")",
                value: "\(text) \(unit)",
                areas: [
                    Picture.Mark.Area(from: begin, to: end), Picture.Mark.Area(from: begin, to: end, isHatched: true),
                ],
                lines: [begin], isAlwaysShown: limit.isAlwaysShown)
        }
    }

    /// The marks of a sector with its margin, at each end of the circle that it reaches.
    private static func marks(of sector: Lane.Sector) -> [Picture.Mark] {
        [-360.0, 0, 360].compactMap { turn in
            let (from, to) = (sector.from + turn, sector.to + turn)
            let (least, greatest) = (from - sector.margin, to + sector.margin)
            guard greatest > 0, least < 360 else { return nil }
            return Picture.Mark(
                label: sector.label.printable,
                areas: [
                    Picture.Mark.Area(from: max(least, 0), to: min(greatest, 360)),
                    Picture.Mark.Area(from: least, to: from, isHatched: true),
                    Picture.Mark.Area(from: to, to: greatest, isHatched: true),
                ], lines: [from, to])
        }
    }
}

extension PictureRecorder: PipelineObserverDelegate {
    package func pipelineObserver(_ observer: PipelineObserver, didObserve samples: ObservedSamples, of place: Int) {
        let (track, units) = tracks[place]
        track.append(samples.times, count: samples.count) { series, range in
            var found = samples.extremes(of: series, range)
            (found.least, found.greatest) = (units[series].of(found.least), units[series].of(found.greatest))
            return found
        }
        if let columns = samples.columns { spectra[place]?.append(columns) }
    }
}

extension PictureRecorder: EventHandler {
    package func handle(_ event: Event) {
        recorded.eventCount += 1
        let isCourse = event.kind.role == .course
        if isCourse { recorded.courseCount += 1 }
        if (isCourse ? recorded.courseCount : recorded.eventCount - recorded.courseCount) <= Self.mostEvents {
            recorded.events.append(event)
        } else if !isCourse, recorded.leftOutNanoseconds == nil {
            recorded.leftOutNanoseconds = event.timeNanoseconds
        }
        guard let gap = Picture.Gap(event) else { return }
        recorded.gaps.append(gap)
        if recorded.gaps.count > Self.mostGaps { recorded.gaps = Picture.Gap.joined(recorded.gaps) }
    }
}
