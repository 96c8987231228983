package import Binnacle

/// What is drawn of a recording, on a page or as an SVG: tracks, panels that show them, and events.
package struct Picture {
    /// A curve in a panel.
    package struct Curve {
        /// What it is, as in "x"; stands beside it.
        package let label: String
        /// The places of its values among the tracks and their series.
        package let track: Int
        package let series: Int

        /// Creates a curve.
        package init(label: String, track: Int, series: Int) {
            self.label = label
            self.track = track
            self.series = series
        }
    }

    /// A limit of a detector in a panel, with its hysteresis as a band from one to the other value.
    package struct Limit {
        /// What begins beyond it, as in "motion".
        package let label: String
        /// Where it begins, and where it ends.
        package let begin: Double
        package let end: Double
        /// Whether it is shown also where the curve is far from it.
        package let isAlwaysShown: Bool

        /// Creates a limit.
        package init(_ label: String, begin: Double, end: Double, isAlwaysShown: Bool = false) {
            self.isAlwaysShown = isAlwaysShown
            self.label = label
            self.begin = begin
            self.end = end
        }
    }

    /// States over time, in a row for each that occurs.
    package struct States {
        /// The place of its bits among the tracks and their series.
        package let track: Int
        package let series: Int
        /// What each bit means, the lowest first.
        package let names: [String]

        /// Creates a group of states.
        package init(track: Int, series: Int, names: [String]) {
            self.track = track
            self.series = series
            self.names = names
        }
    }

    /// A range of bearings that a heading enters and leaves.
    package struct Sector {
        /// What is entered, as in "north".
        package let label: String
        /// Where it begins, and where it ends clockwise from there, in degrees.
        package let from: Double
        package let to: Double
        /// How far outside it is left, in degrees.
        package let margin: Double

        /// Creates a sector.
        package init(_ label: String, from: Double, to: Double, margin: Double) {
            self.label = label
            self.from = from
            self.to = to
            self.margin = margin
        }
    }

    /// A drawing of some curves over time.
    package struct Panel {
        /// What it shows, of what.
        package let title: String
        /// The unit; empty for none.
        package let unit: String
        /// The curves.
        package var curves: [Curve] = []
        /// The limits.
        package var limits: [Limit] = []
        /// The track of a heading, whose series are ``HeadingSeries``; `nil` for other panels.
        package var heading: Int?
        /// What a heading enters and leaves.
        package var sectors: [Sector] = []
        /// The states below the curves.
        package var states: [States] = []

        /// Creates a panel.
        package init(
            title: String, unit: String, curves: [Curve] = [], limits: [Limit] = [], heading: Int? = nil
        ) {
            self.title = title
            self.unit = unit
            self.curves = curves
            self.limits = limits
            self.heading = heading
        }
    }

    /// The series of a heading's track.
    package enum HeadingSeries: Int, CaseIterable {
        case heading
        case accuracy
        /// The causes of there being none, a bit for each ``HeadingFault`` in the order of its cases.
        case faults

        package var kind: Track.Kind {
            switch self {
            case .heading: .angle
            case .accuracy: .value
            case .faults: .bits
            }
        }
    }

    /// The spectrum of an accelerometer.
    package struct NamedSpectrum {
        package let title: String
        package let spectrum: Spectrum

        /// Names a spectrum.
        package init(title: String, spectrum: Spectrum) {
            self.title = title
            self.spectrum = spectrum
        }
    }

    /// What it is of.
    package var title: String
    /// What has to be known of it: each a name and a value.
    package var facts: [(name: String, value: String)] = []
    /// The settings that the detectors had, as a configuration.
    package var configuration = ""
    /// What was assumed, repaired or left out, each a sentence.
    package var notes: [String] = []
    package var tracks: [Track] = []
    package var panels: [Panel] = []
    package var spectra: [NamedSpectrum] = []
    /// The events, in their order, as far as there is room.
    package var events: [Event] = []
    /// How many there were.
    package var eventCount = 0

    /// Creates an empty picture.
    package init(title: String) {
        self.title = title
    }

    /// The first and the last stamp of all tracks, in nanoseconds.
    package var timeRange: ClosedRange<Int64> {
        var range: ClosedRange<Int64>?
        for track in tracks {
            guard let first = track.originNanoseconds else { continue }
            range = min(range?.lowerBound ?? first, first)...max(range?.upperBound ?? first, track.lastNanoseconds)
        }
        return range ?? 0...1
    }

    /// The places of the states that occur.
    func occurring(_ states: States) -> [Int] {
        let values = tracks[states.track].least[states.series]
        let bits = values.reduce(UInt16(0)) { $0 | ($1.isFinite ? UInt16($1) : 0) }
        return states.names.indices.filter { $0 < UInt16.bitWidth && bits & (1 << $0) != 0 }
    }

    /// The events' rows: each detector, or sensor, with each kind that it has, in the order of the kinds.
    package var eventRows: [(source: String, kind: EventKind)] {
        var rows: [(source: String, kind: EventKind)] = []
        for event in events {
            let source = event.source
            if !rows.contains(where: { $0.source == source && $0.kind == event.kind }) {
                rows.append((source, event.kind))
            }
        }
        let order = Dictionary(
            uniqueKeysWithValues: EventKind.allCases.enumerated().map { ($0.element, $0.offset) })
        return rows.sorted { ($0.source, order[$0.kind] ?? 0) < ($1.source, order[$1.kind] ?? 0) }
    }
}

extension Picture {
    /// Where samples are missing: from the last one before to the first one after, and why.
    var gaps: [(fromNanoseconds: Int64, toNanoseconds: Int64, text: String)] {
        events.compactMap { event in
            guard event.kind == .gap || event.kind == .samplesLost, let seconds = event.number(.gap),
                let length = Int64(exactly: (seconds * 1e9).rounded())
            else { return nil }
            let text = event.figure(.cause).map { "lost: \($0)" } ?? "gap"
            return (Units.later(event.timeNanoseconds, by: -length), event.timeNanoseconds, text)
        }
    }
}

extension Event {
    /// The detector that found it, or else the sensor that it is about.
    package var source: String { detector ?? sensor ?? "" }
}
