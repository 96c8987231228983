import Binnacle
import PlainText

/// What is drawn of a recording: tracks, panels that show them in the coordinates of time and value, and events.
///
/// The page and the SVG draw the same kinds of shape (curves with bands, marks of areas and lines, states, events, gaps), each
/// with one function, and have nothing else of detectors.
package struct Picture {
    /// A curve in a panel; that of a direction appears at both ends of the circle.
    struct Curve {
        /// What stands beside it, as in "x"; empty for nothing.
        let label: String
        /// The places of its values among the tracks and their series.
        let track: Int
        let series: Int
        /// The series of its accuracy, drawn as a band to both sides; `nil` for none.
        var band: Int?
    }

    /// Values that a panel's curves are compared with.
    struct Mark {
        /// A stretch of values.
        struct Area {
            let from: Double
            let to: Double
            /// Whether it is hatched, in place of filled.
            var isHatched = false
        }

        /// What it is, and its value, which stands behind that; empty for none.
        let label: String
        var value = ""
        let areas: [Area]
        /// The values with a dashed line; the label stands at the first.
        let lines: [Double]
        /// Whether it is shown also where the curve is far from it.
        var isAlwaysShown = false
    }

    /// States over time, in a row for each that occurs.
    struct States {
        /// The place of its bits among the tracks and their series.
        let track: Int
        let series: Int
        /// What each bit means, the lowest first.
        let names: [String]
    }

    /// A drawing of some curves over time.
    struct Panel {
        let title: String
        /// The unit; empty for none.
        let unit: String
        var curves: [Curve] = []
        var marks: [Mark] = []
        var states: [States] = []
        /// The values that have a line, with their names, from the least to the greatest value; empty where the curves decide.
        var ticks: [(value: Double, text: String)] = []

        var heading: String { unit.isEmpty ? title : "\(title), \(unit)" }
        /// The least and the greatest value; `nil` where the curves decide.
        var range: ClosedRange<Double>? { ticks.first.flatMap { first in ticks.last.map { first.value...$0.value } } }
    }

    // MARK: - Rules of all drawings, which a page gets as JSON

    /// The values of a direction that have a line.
    static let circle: [(value: Double, text: String)] = [
        (0, "N 0"), (90, "E 90"), (180, "S 180"), (270, "W 270"), (360, "N 360"),
    ]
    /// The forms of marks around the places of events, as paths of SVG; a row has that of its number.
    static let forms = [
        "m0-5l4,9h-8z", "m-3.5-3.5h7v7h-7z", "m0-5l5,5l-5,5l-5-5z", "m-4,0a4,4,0,1,1,8,0a4,4,0,1,1-8,0z",
    ]
    /// The room of a state: its name, and its bars below that.
    static let stateHeight = 22.0
    /// The room of a row of events: its name, and its marks below that, so that no name covers a mark.
    static let (eventHeight, eventPlace) = (28.0, 20.0)
    /// How far from the curves a mark may be to be shown, as a share of their range.
    static let reach = 0.6
    /// What a panel has above and below its values, as a share of their range.
    static let margin = 0.04
    /// No curve goes on over a longer time without a sample.
    static let gapSeconds = 1.0

    /// What it is of.
    package var title: String
    /// What has to be known of it: each a name and a value.
    package var facts: [(name: String, value: String)] = []
    /// The settings that the detectors had, as a configuration.
    package var configuration = ""
    /// What was assumed, repaired or left out, each a sentence.
    package var notes: [String] = []
    var tracks: [Track] = []
    var panels: [Panel] = []
    var spectra: [(title: String, spectrum: Spectrum)] = []
    /// The events, in their order, as far as there is room.
    var events: [Event] = []
    /// How many there were.
    package internal(set) var eventCount = 0

    /// How many events there are, and which of them are drawn.
    var eventNote: String {
        eventCount > events.count
            ? "The first \(events.count) of \(eventCount) events; --from and --to show the others."
            : "\(eventCount) events"
    }

    init(title: String) {
        self.title = title
    }

    /// The first and the last stamp of all tracks, in nanoseconds.
    var timeRange: ClosedRange<Int64> {
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
    var eventRows: [(source: String, kind: EventKind)] {
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
    var source: String { detector ?? sensor ?? "" }
}
