import Binnacle
import Pictures
import PlainText

/// Takes what a north detector finds at each sample.
final class HeadingRecorder: HeadingObserver {
    let track: Track

    private static let bits: [HeadingFault: Float] = Dictionary(
        uniqueKeysWithValues: HeadingFault.allCases.enumerated().map { ($0.element, bit($0.offset)) })

    init(_ detector: NorthDetector, capacity: Int) {
        track = Track(Picture.HeadingSeries.allCases.map(\.kind), capacity: capacity)
        detector.observer = self
    }

    func detector(_ detector: NorthDetector, didFind heading: HeadingEvent) {
        track.append(
            timeNanoseconds: heading.timeNanoseconds,
            SIMD4(Float(heading.headingDegrees), Float(heading.accuracyDegrees), .nan, .nan))
    }

    func detector(_ detector: NorthDetector, didFindNoneBecauseOf fault: HeadingFault, at timeNanoseconds: Int64) {
        track.append(timeNanoseconds: timeNanoseconds, SIMD4(.nan, .nan, Self.bits[fault] ?? .nan, .nan))
    }

    /// The heading, the reasons why there is none, and what is faced.
    func add(_ detector: NorthDetector, to picture: inout Picture) {
        let place = picture.tracks.count
        picture.tracks.append(track)
        var panel = Picture.Panel(title: "heading of \(detector.name.printable)", unit: "°", heading: place)
        let settings = detector.settings
        panel.sectors.append(
            Picture.Sector(
                "facing", from: settings.bearingDegrees - settings.toleranceDegrees,
                to: settings.bearingDegrees + settings.toleranceDegrees,
                margin: settings.effectiveExitDegrees - settings.toleranceDegrees))
        for sector in settings.sectors {
            let width = Angle.normalizedDegrees(sector.toDegrees - sector.fromDegrees)
            panel.sectors.append(
                Picture.Sector(
                    "sector \(sector.name)", from: sector.fromDegrees, to: sector.fromDegrees + width,
                    margin: sector.marginDegrees))
        }
        panel.states.append(
            Picture.States(
                track: place, series: Picture.HeadingSeries.faults.rawValue,
                names: HeadingFault.allCases.map { "none: \($0.rawValue)" }))
        picture.panels.append(panel)
    }
}

/// Takes what an orientation detector sees at each sample.
final class OrientationRecorder: OrientationObserver {
    let track: Track

    private enum Series: Int, CaseIterable {
        case turn, lean, edge, tilt

        var kind: Track.Kind { self == .edge || self == .tilt ? .bits : .value }
    }

    init(_ detector: OrientationDetector, capacity: Int) {
        track = Track(Series.allCases.map(\.kind), capacity: capacity)
        detector.observer = self
    }

    func detector(_ detector: OrientationDetector, didLookAt angles: ScreenAngles?, at timeNanoseconds: Int64) {
        track.append(
            timeNanoseconds: timeNanoseconds,
            SIMD4(
                angles?.turnDegrees ?? .nan, angles?.leanDegrees ?? .nan, bit(of: detector.orientation),
                bit(of: detector.tilt)))
    }

    /// The angles with their limits, and the states.
    func add(_ detector: OrientationDetector, to picture: inout Picture) {
        let place = picture.tracks.count
        picture.tracks.append(track)
        func curve(_ label: String, _ series: Series) -> Picture.Curve {
            Picture.Curve(label: label, track: place, series: series.rawValue)
        }
        var panel = Picture.Panel(
            title: "screen of \(detector.name.printable): its turn from the present edge, and its lean", unit: "°",
            curves: [curve("turn", .turn), curve("lean", .lean)])
        panel.limits = detector.settings.limits.map { Picture.Limit($0, isAlwaysShown: true) }
        panel.states = [
            Picture.States(
                track: place, series: Series.edge.rawValue,
                names: ScreenOrientation.allCases.map { "orientation: \($0.rawValue)" }),
            Picture.States(
                track: place, series: Series.tilt.rawValue, names: ScreenTilt.allCases.map { "tilt: \($0.rawValue)" }),
        ]
        picture.panels.append(panel)
    }
}

/// Takes what a hinge detector measures at each sample.
final class HingeRecorder: HingeObserver {
    let track: Track

    init(_ detector: HingeDetector, capacity: Int) {
        track = Track([.value, .bits], capacity: capacity)
        detector.observer = self
    }

    func detector(_ detector: HingeDetector, didMeasure degrees: Double?, at timeNanoseconds: Int64) {
        track.append(
            timeNanoseconds: timeNanoseconds,
            SIMD4(degrees.map { Float($0) } ?? .nan, detector.posture.map { bit(of: $0) } ?? .nan, .nan, .nan))
    }

    /// The angle with its limits, and the postures.
    func add(_ detector: HingeDetector, to picture: inout Picture) {
        let place = picture.tracks.count
        picture.tracks.append(track)
        var panel = Picture.Panel(
            title: "angle of \(detector.name.printable)", unit: "°",
            curves: [Picture.Curve(label: "angle", track: place, series: 0)])
        panel.limits = detector.settings.limits.map { Picture.Limit($0) }
        panel.states = [
            Picture.States(track: place, series: 1, names: Posture.allCases.map { "posture: \($0.rawValue)" })
        ]
        picture.panels.append(panel)
    }
}

/// The bit of a state, by its place among all, as a series of bits has it.
private func bit(_ place: Int) -> Float { Float(UInt16(1) << place) }

private func bit<State: CaseIterable & Equatable>(of state: State) -> Float {
    State.allCases.enumerated().first { $0.element == state }.map { bit($0.offset) } ?? .nan
}

extension Picture.Limit {
    /// A detector's limit in a panel.
    ///
    /// - Parameters:
    ///   - limit: The limit.
    ///   - unit: What the limit's unit is in the panel's.
    ///   - isAlwaysShown: Whether it is shown also where the curve is far from it.
    init(_ limit: Readings.Limit, unit: Double = 1, isAlwaysShown: Bool = false) {
        self.init(
            "\(limit.name) \(limit.isAbove ? "above" : "below")", begin: Double(limit.begin) * unit,
            end: Double(limit.end) * unit, isAlwaysShown: isAlwaysShown)
    }
}
