package import Binnacle
import Configuration
import LinuxSystem
import PlainText
package import Station
package import Traces

/// Replays recordings for all combinations of some settings, and counts their events.
package struct Sweep {
    /// A key with the values that it has, one after the other.
    package struct Key {
        package let name: String
        package let values: [String]

        /// Creates a key from `KEY=A,B,C`; `nil` without a key or a value.
        ///
        /// Commas in brackets and quotes belong to a value.
        package init?(_ text: String) {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
            name = String(text[..<equals])
            var values = [""]
            var depth = 0
            var quote: Character?
            for character in text[text.index(after: equals)...] {
                if let open = quote {
                    if character == open { quote = nil }
                } else if "\"'".contains(character) {
                    quote = character
                } else if "[{".contains(character) {
                    depth += 1
                } else if "]}".contains(character) {
                    depth -= 1
                } else if character == ",", depth == 0 {
                    values.append("")
                    continue
                }
                values[values.count - 1].append(character)
            }
            guard values.allSatisfy({ !$0.isEmpty }) else { return nil }
            self.values = values
        }
    }

    private let options: ReplayOptions
    private let recordings: [String]
    private let paths: Set<String>
    private let keys: [Key]
    private let kinds: Set<EventKind>?
    private let labels: EventLabels?
    /// The name of the row for all recordings.
    private static let all = "all"
    private static let mostRows = 100_000

    /// Checks that the number of rows is bounded; `kinds` limits what is counted.
    package init(
        _ recordings: [String], _ keys: [Key], _ options: ReplayOptions, kinds: Set<EventKind>?, labels: EventLabels?
    ) throws(StationError) {
        self.options = options
        self.recordings = recordings
        paths = Set(recordings)
        self.keys = keys
        self.kinds = kinds
        self.labels = labels
        // A pipe or a device can be read once, and may never end.
        for path in recordings {
            guard let status = try? fileStatus(path), !status.isRegular, !status.isFolder else { continue }
            throw .data("\(path.printable): is no regular file, and a sweep reads it several times")
        }
        var count = recordings.count
        for key in keys {
            count = count.multipliedReportingOverflow(by: key.values.count).partialValue
            guard (1...Self.mostRows).contains(count) else {
                throw .usage("these are more than \(Self.mostRows) combinations of values and recordings")
            }
        }
    }

    private struct Row {
        let recording: String
        let values: [String]
        var counts: [EventKind: Int] = [:]
        var marks: [EventScore.Mark] = []
        var labels: [EventScore.Mark] = []
    }

    /// Replays everything; `report` gets what the user should know, each once.
    ///
    /// Of several recordings, one that cannot be read is left out and reported; the first such failure is returned with the table.
    /// Returns `nil` when it was cancelled.
    package func run(
        _ interruption: Interruption, indicator: () -> ProgressIndicator, report: (String) -> Void
    ) throws(StationError) -> (table: ResultTable, failure: StationError?)? {
        // A replay refuses what one row names twice; here it would count twice in the sum.
        var all = options.traces
        all.paths = recordings
        try all.openFolders(interruption)
        try all.refuseRepeats()
        var rows: [Row] = []
        var said: Set<String> = []
        var (left, failure) = (recordings, StationError?.none)
        try labels?.requireNames(among: recordings)
        for name in labels?.recordings(notAmong: recordings) ?? [] {
            report("the labels are also of \(Spelling.quoted(name)), which is not among the recordings")
        }
        for values in combinations {
            var sum = Row(recording: Self.all, values: values)
            for recording in left {
                let row: Row?
                do throws(StationError) {
                    row = try play(
                        recording, values, interruption, indicator(), { if said.insert($0).inserted { report($0) } })
                } catch {
                    left.removeAll { $0 == recording }
                    // Settings that cannot be used are those of all recordings, unless each device has a calibration. What cannot be
                    // read without these values is no reason to go on.
                    let isDevices = error.status == .configuration && ((try? options.namesDevice()) ?? false)
                    guard error.concernsRecording || isDevices, !left.isEmpty else { throw error }
                    failure = failure ?? error
                    report(error.description)
                    report("\(recording.printable) is left out")
                    continue
                }
                guard let row else { return nil }
                rows.append(row)
                sum.counts.merge(row.counts, uniquingKeysWith: +)
                sum.marks += row.marks
                sum.labels += row.labels
            }
            if recordings.count > 1 { rows.append(sum) }
        }
        return (table(rows), failure)
    }

    /// All values of all keys; the last key changes first.
    private var combinations: [[String]] {
        keys.reduce([[]]) { before, key in before.flatMap { values in key.values.map { values + [$0] } } }
    }

    private func play(
        _ recording: String, _ values: [String], _ interruption: Interruption, _ indicator: ProgressIndicator,
        _ report: (String) -> Void
    ) throws(StationError) -> Row? {
        var options = options
        options.traces.paths = [recording]
        options.traces.isOneOfSeveral = recordings.count > 1
        try options.traces.openFolders(interruption)
        for (key, value) in zip(keys, values) {
            guard let setting = CommandLineSetting("\(key.name)=\(value)") else {
                throw .usage("--set \(key.name)=\(value): has to be KEY=VALUE on one line")
            }
            options.settings.append(setting)
        }
        var row = Row(recording: recording, values: values)
        let kinds = Set(labels?.kinds ?? [])
        var marks: [EventScore.Mark] = []
        options.sink = { event in
            guard kinds.contains(event.kind) else { return }
            marks.append(EventScore.Mark(event, recording: recording))
        }
        let silent = LineWriter(descriptor: -1)
        let replay = try Replay(options, output: silent, errors: silent, interruption: interruption)
        for notice in replay.notices { report(notice) }
        let (summary, failures) = replay.run(indicator)
        guard !summary.isCancelled else { return nil }
        if let failure = failures.first { throw failure }
        for notice in summary.notices { report(notice) }
        row.counts = summary.eventCounts
        row.marks = marks
        if let labels {
            var all = labels.marks(of: recording, among: paths)
            if let range = summary.timeRange, !all.isEmpty {
                let lead = try labels.lead(
                    over: range.lowerBound, wallAhead: summary.wallAheadNanoseconds, of: recording.printable)
                for index in all.indices {
                    all[index].timeNanoseconds = Units.later(all[index].timeNanoseconds, by: -lead)
                }
            }
            let from = Self.stamp(options.from, after: summary.stretchStart) ?? .min
            let to = Self.stamp(options.to, after: summary.stretchStart) ?? .max
            row.labels = all.filter { from <= $0.timeNanoseconds && $0.timeNanoseconds <= to }
            let count = all.count - row.labels.count
            if count > 0 { report("\(recording.printable): labels outside of --from and --to left out: \(count)") }
            if let notice = labels.notice(of: row.labels, outside: summary.timeRange, of: recording.printable) {
                report(notice)
            }
        }
        return row
    }

    /// An end of the stretch that was played; `nil` for an end of the recording.
    private static func stamp(_ bound: ReplayBound?, after first: Int64?) -> Int64? {
        guard let bound, let first else { return nil }
        return switch bound.time {
        case .afterFirst(let distance): Units.later(first, by: distance)
        case .wallClock(let time): time
        }
    }

    private func table(_ rows: [Row]) -> ResultTable {
        let counted = EventKind.allCases.filter { kind in
            kinds?.contains(kind) ?? rows.contains { $0.counts[kind] != nil }
        }
        var columns = ["recording"] + keys.map(\.name) + counted.map(\.rawValue)
        if labels != nil { columns += EventScore.columns }
        return ResultTable(
            columns,
            rows.map { row in
                var values: [ResultTable.Value] = ([row.recording] + row.values).map { .text($0) }
                values += counted.map { .integer(Int64(row.counts[$0] ?? 0)) }
                if let labels {
                    values +=
                        EventScore(row.marks, row.labels, toleranceNanoseconds: labels.toleranceNanoseconds).values
                }
                return values
            })
    }
}
