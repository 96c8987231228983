package import Binnacle
import LinuxSystem
import PlainText
package import Station
package import Traces

/// How well events agree with labels, which say what really happened.
package struct EventScore {
    /// Something that happened, or was reported, at a time of its recording.
    package struct Mark {
        package var kind: EventKind
        package var timeNanoseconds: Int64
        /// `nil` where it is not said.
        package var recording: String?

        package init(kind: EventKind, timeNanoseconds: Int64, recording: String?) {
            self.kind = kind
            self.timeNanoseconds = timeNanoseconds
            self.recording = recording
        }

        /// A mark where what an event reports began or ended, as far as its figures say so: the event comes later, when that is certain.
        package init(_ event: Event, recording: String?) {
            var time = event.timeNanoseconds
            if case .integer(let onset)? = event.figure(.onset) {
                let isEnd = event.kind.rawValue.hasSuffix(".ended")
                let seconds = isEnd ? event.number(.duration) ?? 0 : 0
                time = Units.later(onset, by: Int64((seconds * 1e9).rounded()))
            }
            self.init(kind: event.kind, timeNanoseconds: time, recording: recording)
        }
    }

    private(set) var labelCount = 0
    private(set) var eventCount = 0
    /// The times from a label to its event, in seconds.
    private(set) var errors: [Double] = []

    /// Compares events, all of kinds that are labelled, with labels of the same kind and recording.
    ///
    /// Pairs are made from the nearest on, each label and each event in one at most.
    package init(_ events: [Mark], _ labels: [Mark], toleranceNanoseconds: Int64) {
        let placed = { (mark: Mark) in Place(kind: mark.kind, recording: mark.recording) }
        let theirs = Dictionary(grouping: events, by: placed)
        for (place, ours) in Dictionary(grouping: labels, by: placed) {
            add(
                (theirs[place] ?? []).map(\.timeNanoseconds).sorted(), ours.map(\.timeNanoseconds).sorted(),
                toleranceNanoseconds)
        }
        eventCount = events.count
    }

    private struct Place: Hashable {
        let kind: EventKind
        let recording: String?
    }

    private mutating func add(_ events: [Int64], _ labels: [Int64], _ tolerance: Int64) {
        labelCount += labels.count
        var pairs: [(label: Int, event: Int, error: Int64)] = []
        var first = 0
        for (label, time) in labels.enumerated() {
            let (least, most) = (Units.later(time, by: -tolerance), Units.later(time, by: tolerance))
            while first < events.count, events[first] < least { first += 1 }
            var event = first
            while event < events.count, events[event] <= most {
                pairs.append((label, event, events[event] - time))
                event += 1
            }
        }
        pairs.sort { ($0.error.magnitude, $0.label, $0.event) < ($1.error.magnitude, $1.label, $1.event) }
        var (isFound, isUsed) = (Set<Int>(), Set<Int>())
        for pair in pairs where !isFound.contains(pair.label) && !isUsed.contains(pair.event) {
            isFound.insert(pair.label)
            isUsed.insert(pair.event)
            errors.append(Double(pair.error) * 1e-9)
        }
    }

    package static let columns = [
        "labels", "found", "missed", "false", "precision", "recall", "onset_mean_s", "onset_abs_s",
    ]

    package var values: [ResultTable.Value] {
        func ratio(_ whole: Int) -> ResultTable.Value {
            whole == 0 ? .missing : .number(Double(errors.count) / Double(whole), decimals: 3)
        }
        func mean(_ values: [Double]) -> ResultTable.Value {
            values.isEmpty ? .missing : .number(values.reduce(0, +) / Double(values.count), decimals: 3)
        }
        return [labelCount, errors.count, labelCount - errors.count, eventCount - errors.count].map {
            .integer(Int64($0))
        } + [ratio(eventCount), ratio(labelCount), mean(errors), mean(errors.map(\.magnitude))]
    }
}

/// The labels of recordings, and what is scored by them.
package struct EventLabels {
    private var marks: [EventScore.Mark] = []
    /// The same labels by the recordings that they name; `nil` is for those that name none.
    private let named: [String?: [EventScore.Mark]]
    /// What was not used, for the user.
    package private(set) var notices: [String] = []
    package let toleranceNanoseconds: Int64
    /// Whether the labels have times in UTC, which stamps that count from a boot cannot be compared with.
    private let isWallClock: Bool

    private static let longest = 1 << 28

    /// Reads a CSV file with a header; `kinds` limits what is scored, and says the kind where the file has no column for it.
    package init(path: String, kinds: Set<EventKind>?, tolerance: Duration) throws(StationError) {
        toleranceNanoseconds = Units.nanoseconds(tolerance)
        let text = try Self.text(path)
        var lines = text.split(whereSeparator: \.isNewline).enumerated().filter {
            !$0.element.allSatisfy(\.isWhitespace)
        }
        guard !lines.isEmpty else { throw .data("\(path.printable): is empty") }
        func fields(_ line: (offset: Int, element: Substring)) throws(StationError) -> [String] {
            guard let fields = Self.fields(line.element) else {
                throw .data("\(path.printable):\(line.offset + 1): a quote is not closed")
            }
            return fields
        }
        let header = try fields(lines.removeFirst())
        guard let time = header.firstIndex(where: ["time_s", "time_ns", "time"].contains) else {
            throw .data("\(path.printable):1: has no column time_s, time_ns or time; it has \(Spelling.list(header))")
        }
        isWallClock = header[time] == "time"
        let kind = header.firstIndex(of: "kind")
        guard kind != nil || kinds?.count == 1 else {
            throw .data("\(path.printable):1: has no column kind: say it with --kind, as in --kind shake")
        }
        let recording = header.firstIndex(of: "recording")
        let others = header.indices.filter { ![time, kind, recording].contains($0) }.map { header[$0] }
        if !others.isEmpty { notices.append("\(path.printable): not used: \(Spelling.list(others))") }
        for line in lines {
            let fields = try fields(line)
            let place = "\(path.printable):\(line.offset + 1)"
            guard fields.count == header.count else {
                throw .data("\(place): has \(fields.count) fields, and the header \(header.count)")
            }
            guard let stamp = Self.nanoseconds(fields[time], header[time]) else {
                throw .data("\(place): \(Spelling.quoted(fields[time])) is no \(header[time])")
            }
            let word = kind.map { fields[$0] } ?? kinds?.first?.rawValue ?? ""
            guard let named = EventKind(rawValue: word) else {
                let hint = Spelling.hint(for: word, among: EventKind.allCases.map(\.rawValue))
                throw .data("\(place): \(Spelling.quoted(word)) is no kind of event (\(hint))")
            }
            guard kinds?.contains(named) ?? true else { continue }
            marks.append(
                EventScore.Mark(kind: named, timeNanoseconds: stamp, recording: recording.map { fields[$0] }))
        }
        guard !marks.isEmpty else { throw .data("\(path.printable): has no label of these kinds") }
        named = Dictionary(grouping: marks, by: \.recording)
    }

    /// The kinds that have labels, in their order.
    package var kinds: [EventKind] { EventKind.allCases.filter(Set(marks.map(\.kind)).contains) }

    /// The labels of one of some recordings: by its path or, where labels name files alone, its file name.
    ///
    /// A name that is the path of a recording does not mean another one in a folder.
    package func marks(of recording: String, among recordings: Set<String>) -> [EventScore.Mark] {
        let name = Self.fileName(recording)
        let names: [String?] = recordings.contains(name) ? [nil, recording] : [nil, recording, name]
        return names.flatMap { named[$0] ?? [] }.map {
            EventScore.Mark(kind: $0.kind, timeNanoseconds: $0.timeNanoseconds, recording: recording)
        }
    }

    /// Refuses labels that do not say of which of several recordings they are.
    func requireNames(among recordings: [String]) throws(StationError) {
        guard recordings.count > 1 else { return }
        let (paths, files) = (Set(recordings), Dictionary(grouping: recordings, by: Self.fileName))
        for mark in marks {
            guard let name = mark.recording else {
                throw .data("labels of several recordings have to name them: give the labels a column recording")
            }
            guard let meant = files[name], meant.count > 1, !paths.contains(name) else { continue }
            throw .data(
                "the labels of \(Spelling.quoted(name)) may be those of \(Spelling.list(meant)): name the path in the labels"
            )
        }
    }

    /// The names in the labels that are none of these recordings.
    func recordings(notAmong recordings: [String]) -> [String] {
        let known = Set(recordings + recordings.map(Self.fileName))
        return Set(marks.compactMap(\.recording)).subtracting(known).sorted()
    }

    /// How far the labels' times are ahead of stamps, in nanoseconds: those in UTC as far as the wall clock is, where stamps count
    /// from a boot; labels in UTC are refused where that is not known.
    func lead(over stamp: Int64, wallAhead: Int64?, of place: String) throws(StationError) -> Int64 {
        guard isWallClock, stamp < ReplayBound.leastWallClock else { return 0 }
        if let wallAhead { return wallAhead }
        throw .data(
            "\(place): the labels are in UTC, and the stamps are no wall-clock time (one is \(Self.seconds(stamp)) s): label with "
                + "time_s or time_ns, as the stamps have it")
    }

    /// What explains that no label has an event, because none is within a recording or the times of its events.
    func notice(of labels: [EventScore.Mark], outside span: ClosedRange<Int64>?, of place: String) -> String? {
        let times = labels.map(\.timeNanoseconds)
        guard let span, let first = times.min(), let last = times.max() else { return nil }
        let least = Units.later(span.lowerBound, by: -toleranceNanoseconds)
        let most = Units.later(span.upperBound, by: toleranceNanoseconds)
        guard !times.contains(where: { (least...most).contains($0) }) else { return nil }
        func text(_ time: Int64) -> String {
            isWallClock && time >= ReplayBound.leastWallClock ? WallTime.text(time) : "\(Self.seconds(time)) s"
        }
        return
            "\(place): all labels are outside of it: they are from \(text(first)) to \(text(last)), and it is from "
            + "\(text(span.lowerBound)) to \(text(span.upperBound))"
    }

    private static func seconds(_ nanoseconds: Int64) -> String { (Double(nanoseconds) * 1e-9).text(3) }

    /// A row for each kind that has labels and, where these are several, one for all of them.
    package func table(scoring path: String) throws(StationError) -> (table: ResultTable, notices: [String]) {
        var events: [EventScore.Mark] = []
        for (number, line) in try Self.text(path).split(whereSeparator: \.isNewline).enumerated() {
            guard let value = try? JSONReader.value(of: line.utf8), let kind = value["kind"]?.text else {
                throw .data("\(path.printable):\(number + 1): is no event as 'binnacle replay --json' writes it")
            }
            guard let event = Event(value) else {
                // The result of a recording, or a kind of a newer version.
                if !kind.hasPrefix("recording.") {
                    throw .data("\(path.printable):\(number + 1): is no event")
                }
                continue
            }
            var mark = EventScore.Mark(event, recording: value["recording"]?.text)
            if isWallClock, let wall = event.wallNanoseconds {
                mark.timeNanoseconds = Units.later(wall, by: mark.timeNanoseconds &- event.timeNanoseconds)
            }
            _ = try lead(over: mark.timeNanoseconds, wallAhead: nil, of: "\(path.printable):\(number + 1)")
            events.append(mark)
        }
        let recordings = Set(events.compactMap(\.recording)).sorted()
        let labelled = Set(marks.compactMap(\.recording))
        guard labelled.isEmpty ? recordings.count <= 1 : recordings.count > 0 || labelled.count == 1 else {
            throw .data(
                "\(path.printable): events and labels have to name their recordings: replay with --each, and give the labels a "
                    + "column recording")
        }
        try requireNames(among: recordings)
        let paths = Set(recordings)
        let absent = self.recordings(notAmong: recordings.isEmpty ? Array(labelled) : recordings)
        let labels =
            recordings.isEmpty
            ? marks.map { EventScore.Mark(kind: $0.kind, timeNanoseconds: $0.timeNanoseconds, recording: nil) }
            : recordings.flatMap { marks(of: $0, among: paths) } + absent.flatMap { named[$0] ?? [] }
        let scored = kinds
        let places: [String?] = recordings.isEmpty ? [nil] : recordings
        let theirs = Dictionary(grouping: events, by: \.recording)
        let ours = Dictionary(grouping: labels, by: \.recording)
        let outside = places.compactMap { recording -> String? in
            let times = (theirs[recording] ?? []).map(\.timeNanoseconds)
            let span = times.min().flatMap { least in times.max().map { least...$0 } }
            return notice(of: ours[recording] ?? [], outside: span, of: (recording ?? path).printable)
        }
        func score(_ chosen: [EventKind]) -> [ResultTable.Value] {
            EventScore(
                events.filter { chosen.contains($0.kind) }, labels.filter { chosen.contains($0.kind) },
                toleranceNanoseconds: toleranceNanoseconds
            ).values
        }
        var rows = scored.map { [.text($0.rawValue)] + score([$0]) }
        if scored.count > 1 { rows.append([.text("all")] + score(scored)) }
        let left = EventKind.allCases.compactMap { kind -> String? in
            let count = events.count { $0.kind == kind }
            return count > 0 && !scored.contains(kind) ? "\(count) × \(kind.rawValue)" : nil
        }
        return (
            ResultTable(["kind"] + EventScore.columns, rows),
            notices + outside
                + absent.map {
                    "\(path.printable): has no event of the recording \(Spelling.quoted($0)), whose labels are missed"
                } + (left.isEmpty ? [] : ["without labels, and not scored: \(Spelling.list(left))"])
        )
    }

    private static func text(_ path: String) throws(StationError) -> String {
        let bytes = try mapError({ (failure: SmallFile.Failure) in
            StationError(failure.isMissing ? .noInput : .data, "\(path.printable): \(failure.reason)")
        }) { () throws(SmallFile.Failure) in
            try SmallFile.bytes(path == "-" ? "/dev/stdin" : path, limit: longest, kind: .given)
        }
        // A byte order mark is no part of the first name.
        return String(
            decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
    }

    private static func nanoseconds(_ text: String, _ column: String) -> Int64? {
        switch column {
        case "time_ns": Int64(text)
        case "time": WallTime.nanoseconds(text)
        default: Double(text).flatMap { $0.isFinite && $0.magnitude < 9e9 ? Int64(($0 * 1e9).rounded()) : nil }
        }
    }

    /// The fields of a line of CSV, without the quotes and the spaces around them; `nil` when a quote is not closed.
    private static func fields(_ line: Substring) -> [String]? {
        var fields = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted, ";" where !isQuoted, "\t" where !isQuoted: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
        }
        guard !isQuoted else { return nil }
        return fields.map { $0.trimmingBlanks() }
    }

    private static func fileName(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
