public import Binnacle
import PlainText

/// A source of recorded samples: one or several files, merged in the order of their stamps.
///
/// A single file keeps its own order of arrival. Samples of several files are merged by stamp, then by the order of the streams.
/// A file that cannot be read further fails its sensors; the others continue.
public final class TraceSource: NoticingSource {
    /// The streams in the order of the pipeline.
    public let streams: [SampleStream]

    /// The files that still have samples to deliver or a failure to report.
    private var inputs: [TraceInput]
    /// Every file, including those that have ended.
    private let all: [TraceInput]
    private let assumptions: [TraceNotice]
    /// What ``takeNotices()`` has returned.
    private var told: Set<String> = []

    /// Opens files with all their streams; sensors are named as in the files, or else by what they measure.
    ///
    /// - Parameters:
    ///   - paths: Trace files, at least one.
    ///   - map: Columns and units that the user names; they replace those recognised.
    ///   - rateHz: The sampling rate of a file without times, in Hz.
    ///   - calibrations: Those of sensors, by the names that ``streams`` has.
    ///   - processorCount: The number of processors that may read large files of CSV or Arrow in parallel, each with a thread that ends
    ///     with the source. The samples are the same.
    /// - Throws: ``TraceError`` when a file cannot be opened, or its header is incomplete.
    public convenience init(
        paths: [String], map: ColumnMap? = nil, rateHz: Double? = nil,
        calibrations: [String: SensorCalibration] = [:], processorCount: Int = 1
    ) throws(TraceError) {
        guard !paths.isEmpty else { throw TraceError(.noInput, path: "", "no recording is named") }
        var files: [TraceFile] = []
        let chunking = Chunking(processorCount: processorCount, fileCount: paths.count)
        for path in paths {
            files.append(try TraceFile(path: path, hints: TraceHints(map: map, rateHz: rateHz), chunking: chunking))
        }
        let sensors = Self.nameSensors(of: files, given: files.map { $0.contents.map { _ in nil } })
        let named = sensors.joined().compactMap { $0 }
        for sensor in named { sensor.calibration = calibrations[sensor.name] }
        let names = named.map(\.name)
        if let unknown = calibrations.keys.sorted().first(where: { !names.contains($0) }) {
            throw TraceError(
                .data, path: paths.joined(separator: ", "),
                "there is no sensor \(Spelling.quoted(unknown)) for a calibration (\(Spelling.hint(for: unknown, among: names)))"
            )
        }
        self.init(Array(zip(files, sensors)).map { (file: $0, sensors: $1) })
    }

    /// Reads files whose streams are assigned to sensors.
    ///
    /// - Parameter files: For each file the sensor of each of its contents; `nil` leaves that stream out.
    /// - Precondition: No file occurs twice, and no two contents of one kind have the same sensor.
    package init(_ files: [(file: TraceFile, sensors: [Sensor?])]) {
        let bound = files.flatMap(Self.assigned)
        precondition(Set(files.map { ObjectIdentifier($0.file) }).count == files.count, "a file stands there twice")
        TraceFile.settleRates(of: files.map(\.file))
        for (number, stream) in bound.enumerated() {
            let isTaken = bound[..<number].contains { $0.sensor === stream.sensor && $0.kind == stream.kind }
            precondition(!isTaken, "two contents are the \(stream.kind) of '\(stream.sensor.name)'")
        }
        let ordered = SampleStream.ordered(bound)
        streams = ordered
        inputs = files.flatMap { file, sensors in
            var ranks = zip(file.contents, sensors).map { content, sensor in
                ordered.firstIndex { $0.sensor === sensor && $0.kind == content.kind }
            }[...]
            return file.readers.map { reader in
                defer { ranks = ranks.dropFirst(reader.contents.count) }
                return TraceInput(
                    reader: reader, ranks: Array(ranks.prefix(reader.contents.count)), of: ordered.map(\.id))
            }
        }
        all = inputs
        assumptions = files.flatMap(\.file.notices)
    }

    /// The first places of each kind of defect as they come, and at the end how many there were.
    package func takeNotices() -> [String] {
        let repairs = repairs
        let notices =
            assumptions.map { "assumed: \($0)" } + repairs.notices.map(\.description)
            + (inputs.isEmpty ? repairs.counted : [])
        return notices.filter { told.insert($0).inserted }
    }

    /// The defects skipped so far in all files, and two files that have no time in common.
    package var repairs: TraceRepairs {
        var repairs = all.reduce(into: TraceRepairs()) { $0.add($1.reader.repairs) }
        guard let (early, late) = apart, let one = early.span, let other = late.span else { return repairs }
        let seconds = VectorStatistics.text(Units.seconds(from: one.last, to: other.first))
        repairs.record(
            .apart, path: late.reader.path, line: nil,
            "its \(late.words) begins at \(other.first) ns, \(seconds) s after the last sample of the \(early.words) of "
                + "\(early.reader.path.printable), which begins at \(one.first) ns: no detector uses them together. If they were "
                + "recorded together, the clock, its zone or the unit of the times differs: change the times of one file, or say the unit with "
                + "--map time=COLUMN:UNIT")
        return repairs
    }

    /// Two files of different kinds of sensors, of which the first has ended before the other begins, and no other file has such a sensor
    /// in the time of one of them, as the parts of a recording have.
    private var apart: (early: TraceInput, late: TraceInput)? {
        func isAccompanied(_ file: TraceInput, by kinds: Set<SampleKind>) -> Bool {
            all.contains { other in
                guard let one = file.span, let span = other.span, !other.kinds.isDisjoint(with: kinds) else {
                    return false
                }
                return span.first <= one.last && one.first <= span.last
            }
        }
        for early in all where !early.isOpen && early.error == nil {
            let late = all.first { file in
                guard let one = early.span, let other = file.span else { return false }
                return one.last < other.first && early.kinds.isDisjoint(with: file.kinds)
                    && !isAccompanied(file, by: early.kinds) && !isAccompanied(early, by: file.kinds)
            }
            if let late { return (early, late) }
        }
        return nil
    }

    /// How far the wall clock was ahead of the stamps when the recording began, in nanoseconds; `nil` where files differ or do not state it.
    package var wallAheadNanoseconds: Int64? {
        let first = all.first?.reader.wallAheadNanoseconds
        return all.allSatisfy { $0.reader.wallAheadNanoseconds == first } ? first : nil
    }

    /// Whether large deliveries cost no memory, because all files are mapped.
    package var isMapped: Bool { all.allSatisfy(\.reader.isMapped) }

    /// The share of the files that was read, from 0 to 1; `nil` when one of them is a pipe.
    public var fraction: Double? {
        var sum = 0.0
        for input in all {
            guard let fraction = input.reader.fraction else { return nil }
            sum += fraction
        }
        return sum / Double(max(1, all.count))
    }

    /// Delivers the next samples.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if let failure = removeEnded() { return failure }
        for input in inputs { input.refill(capacity: delivery.capacity) }
        // A file that failed with an empty window reports it before the others continue.
        if let failure = removeEnded() { return failure }
        guard !inputs.isEmpty else { return .ended }
        // Up to here the windows of all files are complete; beyond it, an earlier sample or a failure may follow. (Plain loops,
        // because this runs for each delivery, and a live one has a single sample.)
        var horizon: SamplePlace?
        for input in inputs where input.isOpen || input.error != nil {
            guard let last = input.last else { continue }
            horizon = min(horizon ?? last, last)
        }
        for input in inputs { input.move(upTo: horizon, into: delivery) }
        return .samples
    }

    /// Removes the files that are finished, and stops at the first that failed.
    private func removeEnded() -> SampleAnswer? {
        while let index = inputs.firstIndex(where: { $0.isDrained && !$0.isOpen }) {
            let input = inputs.remove(at: index)
            if let error = input.error {
                return .failed(streams.filter { input.streams.contains($0.id) }, reason: error)
            }
        }
        return nil
    }

    /// Assigns a sensor to each content without one: the one that the file names, or one named by what it measures.
    package static func nameSensors(of files: [TraceFile], given: [[Sensor?]]) -> [[Sensor?]] {
        var streams = zip(files, given).flatMap(assigned)
        func sensor(for content: TraceFile.Content) -> Sensor {
            let wanted = content.sensor ?? content.kind.rawValue
            var name = wanted
            var number = 2
            while let known = streams.first(where: { $0.sensor.name == name })?.sensor {
                // One device may carry both kinds if the recording names it so; two streams of a kind are two devices.
                let isFree = !streams.contains { $0.sensor === known && $0.kind == content.kind }
                if content.sensor != nil, isFree {
                    streams.append((known, content.kind))
                    return known
                }
                name = "\(wanted)\(number)"
                number += 1
            }
            let new = Sensor(name: name)
            streams.append((new, content.kind))
            return new
        }
        return zip(files, given).map { file, sensors in
            zip(file.contents, sensors).map { content, given in given ?? sensor(for: content) }
        }
    }

    private static func assigned(_ file: TraceFile, _ sensors: [Sensor?]) -> [(sensor: Sensor, kind: SampleKind)] {
        zip(file.contents, sensors).compactMap { content, sensor in sensor.map { ($0, content.kind) } }
    }
}

/// One file of a ``TraceSource``, with a window of samples that were read and not fully delivered.
final class TraceInput {
    let reader: any TraceReader
    /// Whether the file may have more samples than its window.
    private(set) var isOpen = true
    private(set) var error: TraceError?
    /// The first and the last stamp that were read of streams with a sensor; `nil` before a sample.
    private(set) var span: (first: Int64, last: Int64)?

    /// The identity of each stream in the file; `nil` without a sensor.
    let streams: [StreamID?]
    /// The rank of each stream in the file among those of all files.
    private let ranks: [Int]
    private var window: [SampleBatch] = []
    private var delivered: [Int] = []

    init(reader: any TraceReader, ranks: [Int?], of all: [StreamID]) {
        self.reader = reader
        streams = ranks.map { rank in rank.map { all[$0] } }
        // A stream without a sensor takes part in the file's order, as the last.
        self.ranks = ranks.map { $0 ?? .max }
    }

    /// The kinds of the streams with a sensor.
    var kinds: Set<SampleKind> {
        Set(zip(reader.contents, streams).compactMap { content, stream in stream.map { _ in content.kind } })
    }
    var words: String { kinds.map(\.rawValue).sorted().joined(separator: " and ") }

    var isDrained: Bool {
        for stream in window.indices where window[stream].count != delivered[stream] { return false }
        return true
    }

    var last: SamplePlace? {
        var latest: SamplePlace?
        for stream in window.indices {
            guard let time = window[stream].lastTimeNanoseconds else { continue }
            let place = SamplePlace(timeNanoseconds: time, rank: ranks[stream])
            latest = max(latest ?? place, place)
        }
        return latest
    }

    /// Reads the next window when the current one is delivered.
    func refill(capacity: Int) {
        if !isDrained, reader.hasShrunk { dropWindow() }
        guard isOpen, isDrained else { return }
        if window.first?.capacity != capacity {
            window = streams.map { _ in SampleBatch(capacity: capacity) }
            delivered = Array(repeating: 0, count: window.count)
        }
        dropWindow()
        do throws(TraceError) {
            isOpen = try reader.fill(window, ranks: ranks)
        } catch {
            isOpen = false
            self.error = error
        }
        for (stream, batch) in window.enumerated() where streams[stream] != nil {
            guard !batch.isEmpty, let last = batch.lastTimeNanoseconds else { continue }
            let first = batch[0].timeNanoseconds
            span = (min(span?.first ?? first, first), max(span?.last ?? last, last))
        }
    }

    private func dropWindow() {
        for stream in window.indices {
            window[stream].removeAll()
            delivered[stream] = 0
        }
    }

    /// Delivers the samples up to and including a place in the common order, or all.
    func move(upTo horizon: SamplePlace?, into delivery: SampleDelivery) {
        for (stream, batch) in window.enumerated() {
            var range = delivered[stream]..<batch.count
            if let horizon {
                let end = range.partitionPoint { index in
                    SamplePlace(timeNanoseconds: batch[index].timeNanoseconds, rank: ranks[stream]) <= horizon
                }
                range = range.lowerBound..<end
            }
            if let id = streams[stream], !range.isEmpty, let target = delivery[id] {
                // The window does not change before it is delivered, and the consumer is done with the delivery by then.
                if target.isEmpty { target.borrow(batch, range: range) } else { target.append(batch, range: range) }
            }
            delivered[stream] = range.upperBound
        }
    }
}
