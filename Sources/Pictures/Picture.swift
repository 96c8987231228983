import Binnacle

/// A drawing of a recording: tracks, panels of curves over time, and events.
///
/// The page and the SVG draw the same shapes (curves with bands, marks of areas and lines, states, events, gaps), each
/// with one function, and know nothing else about detectors.
package struct Picture {
    /// A curve in a panel; a direction is drawn at both ends of the circle.
    struct Curve {
        /// The name beside it, as in "x"; may be empty.
        let label: String
        /// The track and series of its values.
        let track: Int
        let series: Int
        /// The series of its accuracy, drawn as a band on both sides; `nil` for none.
        var band: Int?
    }

    /// Thresholds of a panel's values.
    struct Mark {
        struct Area {
            let from: Double
            let to: Double
            /// Hatched instead of filled.
            var isHatched = false
        }

        /// The name, followed by the value; both may be empty.
        let label: String
        var value = ""
        let areas: [Area]
        /// Values with a dashed line; the label is at the first.
        let lines: [Double]
        /// Whether it is shown although the curve is far away.
        var isAlwaysShown = false
    }

    /// States over time, one row for each state that occurs.
    struct States {
        /// The track and series of its bits.
        let track: Int
        let series: Int
        /// The meaning of each bit, the lowest first.
        let names: [String]
    }

    struct Panel {
        let title: String
        /// Empty for none.
        let unit: String
        var curves: [Curve] = []
        var marks: [Mark] = []
        var states: [States] = []
        /// Named values with a line, in ascending order; empty if the scale follows from the curves.
        var ticks: [(value: Double, text: String)] = []

        var heading: String { unit.isEmpty ? title : "\(title), \(unit)" }
        /// The limits of the scale; `nil` if they follow from the curves.
        var range: ClosedRange<Double>? { ticks.first.flatMap { first in ticks.last.map { first.value...$0.value } } }
    }

    /// A time without samples, from the last sample before to the first after, with the reason.
    struct Gap {
        let fromNanoseconds: Int64
        let toNanoseconds: Int64
        let text: String
    }

    // MARK: - Rules of all drawings, which a page gets as JSON

    /// Ticks of a direction.
    static let circle: [(value: Double, text: String)] = [
        (0, "N 0"), (90, "E 90"), (180, "S 180"), (270, "W 270"), (360, "N 360"),
    ]
    /// Shapes of event marks as SVG paths, by the number of the row.
    static let forms = [
        "m0-5l4,9h-8z", "m-3.5-3.5h7v7h-7z", "m0-5l5,5l-5,5l-5-5z", "m-4,0a4,4,0,1,1,8,0a4,4,0,1,1-8,0z",
    ]
    /// Height of a state: its name, and its bars below.
    static let stateHeight = 22.0
    /// Height of a row of events: its name, and its marks below, so that no mark covers the name.
    static let (eventHeight, eventPlace) = (28.0, 20.0)
    /// Maximum distance of a mark that is shown from the curves, relative to their range.
    static let reach = 0.6
    /// Space above and below a panel's values, relative to their range.
    static let margin = 0.04
    /// A curve is interrupted after a longer time without a sample.
    static let gapSeconds = 1.0

    package var title: String
    /// Names and values shown above the drawing.
    package var facts: [(name: String, value: String)] = []
    /// The detectors' settings, as a configuration.
    package var configuration = ""
    /// Assumptions, repairs and omissions, each a sentence.
    package var notes: [String] = []
    var tracks: [Track] = []
    var panels: [Panel] = []
    var spectra: [(title: String, spectrum: Spectrum)] = []
    /// In their order; limited in number.
    var events: [Event] = []
    /// The number of all events, drawn or not.
    package internal(set) var eventCount = 0
    /// How many of all are headings or attitudes, which are limited apart from the others.
    var courseCount = 0
    /// The stamp of the first event, other than headings and attitudes, that is not drawn; `nil` when all are.
    var leftOutNanoseconds: Int64?
    var gaps: [Gap] = []

    /// The number of events, and of those that are drawn.
    var eventNote: String {
        let drawn = events.count { $0.kind.role == .course }
        let cut = [
            (events.count - drawn, eventCount - courseCount, "events"), (drawn, courseCount, "headings and attitudes"),
        ].filter { $0.0 < $0.1 }.map { "first \($0.0) of \($0.1) \($0.2)" }
        return cut.isEmpty
            ? "\(eventCount) events" : "The \(cut.joined(separator: " and the ")); --from and --to show the others."
    }

    /// First and last stamp of all tracks, in nanoseconds.
    var timeRange: ClosedRange<Int64> {
        var range: ClosedRange<Int64>?
        for track in tracks {
            guard let first = track.originNanoseconds else { continue }
            range = min(range?.lowerBound ?? first, first)...max(range?.upperBound ?? first, track.lastNanoseconds)
        }
        return range ?? 0...1
    }

    /// Indices of the states that occur.
    func occurring(_ states: States) -> [Int] {
        let values = tracks[states.track].least[states.series]
        let bits = values.reduce(UInt32(0)) { $0 | ($1.isFinite ? UInt32($1) : 0) }
        return states.names.indices.filter { bits & (1 << $0) != 0 }
    }

    /// Rows of events: each detector, or sensor, with each kind that occurs, in the order of kinds.
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
}

extension Picture.Gap {
    /// The gap that an event reports; `nil` for other events.
    init?(_ event: Event) {
        guard event.kind == .gap || event.kind == .samplesLost, let seconds = event.number(.gap),
            let length = Int64(exactly: (seconds * 1e9).rounded())
        else { return nil }
        fromNanoseconds = Units.later(event.timeNanoseconds, by: -length)
        toNanoseconds = event.timeNanoseconds
        text = event.figure(.cause).map { "lost: \($0)" } ?? "gap"
    }

    /// Fewer gaps that cover the same: those nearest to one another are joined in pairs.
    static func joined(_ gaps: [Self]) -> [Self] {
        let gaps = gaps.sorted { $0.fromNanoseconds < $1.fromNanoseconds }
        let distances = zip(gaps, gaps.dropFirst()).map { $0.seconds(to: $1) }.sorted()
        var joined: [Self] = []
        var isPair = true
        for gap in gaps {
            if !isPair, let last = joined.last, last.seconds(to: gap) <= distances[(distances.count - 1) / 2] {
                let end = max(last.toNanoseconds, gap.toNanoseconds), text = last.text == gap.text ? gap.text : "gaps"
                joined[joined.count - 1] = Self(
                    fromNanoseconds: last.fromNanoseconds, toNanoseconds: end, text: text)
                isPair = true
            } else {
                joined.append(gap)
                isPair = false
            }
        }
        return joined
    }

    private func seconds(to next: Self) -> Double { Units.seconds(from: toNanoseconds, to: next.fromNanoseconds) }
}

extension Event {
    var source: String { detector ?? sensor ?? "" }
}
