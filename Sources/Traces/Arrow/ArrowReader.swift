import ArrowStream
import Binnacle

/// Reads streams of samples from an Arrow stream.
///
/// A recording by Binnacle stores the groups of batches within which the samples are ordered: one reader has all its streams and
/// keeps the order of arrival. In any other file each stream has a reader of its own, and the streams are merged by their stamps,
/// like several files.
final class ArrowReader: TraceReader {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    var repairs: TraceRepairs { rules.repairs }
    var path: String { source.path }
    var wallAheadNanoseconds: Int64? {
        // The least number has no opposite.
        source.schema.all.metadata[ArrowKeys.wallAhead].flatMap { Int64($0) }.flatMap { $0 > .min ? $0 : nil }
    }
    var isMapped: Bool { true }
    var hasShrunk: Bool { source.file.hasShrunk }

    private let source: ArrowFile
    private let rows: [ArrowRows]
    private var rules: RowRules
    /// The group being read; `nil` when the file has no groups.
    private var group: Int64?

    /// Each stream's rank among samples with one stamp.
    private var places: [Int] = []
    /// The streams by rank.
    private var order: [Int] = []
    /// For each stream the end of the rows that go into the window.
    private var ends: [Int] = []

    /// Whether the row read last belongs to the next window.
    private var isRowHeld = false
    private var rowNumber = 0
    private var isAtEnd = false

    /// A window with fewer samples is filled from the next group, by copying.
    private static let fewSamples = 2048
    /// The number of rows read one by one before whole blocks are tried again.
    private static let mostSlowRows = 4096

    /// Reads some of the file's streams; `group` is the first batch's, or `nil` without groups.
    init(_ source: ArrowFile, sensors: [ArrowSensor], of streamCount: Int, group: Int64?, notices: [TraceNotice]) {
        self.source = source
        self.group = group
        self.notices = notices
        contents = sensors.map(\.content)
        rows = sensors.map { ArrowRows(source, sensor: $0, of: streamCount) }
        rules = RowRules(path: source.path, place: .row, streamCount: sensors.count)
        ends = sensors.map { _ in 0 }
        source.add()
    }

    var fraction: Double? {
        let offset = isAtEnd ? source.bytes.count : rows.reduce(Int.max) { min($0, $1.offset) }
        return Double(offset) / Double(source.bytes.count)
    }

    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        if places.isEmpty { setOrder(ranks) }
        let result = Result { () throws(TraceError) in try read(window) }
        // A file that shrank explains any other error.
        if hasShrunk {
            for batch in window { batch.removeAll() }
            throw MappedFile.shrunk(path)
        }
        let mayContinue = try result.get()
        source.file.release(upTo: rows.reduce(Int.max) { min($0, $1.offset) })
        guard !mayContinue else { return true }
        isAtEnd = true
        for batch in source.removeUnwritten() {
            rules.record(
                .tornBatch, at: nil,
                "message at byte \(batch.offset): its \(batch.rowCount) rows end in zero bytes, as a power failure leaves them: "
                    + "skipped")
        }
        if let torn = source.removeTornMessage() {
            let rest = source.bytes[torn...]
            rules.record(
                .tornBatch, at: nil,
                rest.allSatisfy { $0 == 0 }
                    ? "the file ends with \(rest.count) zero bytes, as a power failure leaves them: skipped"
                    : "the last message was not written to its end: \(rest.count) bytes skipped")
        }
        try source.remove()
        try rules.requireEnd(at: rowNumber)
        return false
    }

    /// Sorts the streams into the pipeline's order; those without a sensor stay in the file's order, last.
    private func setOrder(_ ranks: [Int]) {
        order = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        places = order.map { _ in 0 }
        for (place, stream) in order.enumerated() { places[stream] = place }
    }

    // MARK: - Windows

    private func read(_ window: [SampleBatch]) throws(TraceError) -> Bool {
        var last: SamplePlace?
        while !isRowHeld {
            guard try loadBlocks() else { return false }
            guard let first = firstPlace, last.map({ $0 <= first }) ?? true else { return true }
            // Small groups are copied into one window, so that deliveries do not become small.
            guard findEnds(window) else { break }
            for stream in rows.indices where ends[stream] > rows[stream].position {
                let place = hand(stream, to: window[stream])
                last = max(last ?? place, place)
            }
            var count = 0
            for batch in window { count = batch.isFull ? .max : max(count, batch.count) }
            if count >= Self.fewSamples { return true }
            guard last != nil else { break }
            // Loading the next block invalidates the borrowed memory.
            for batch in window { batch.keep() }
        }
        // Rows with flaws are read one by one.
        guard last == nil else { return true }
        return try readRows(window)
    }

    private func loadBlocks() throws(TraceError) -> Bool {
        while true {
            var hasRow = false
            for row in rows {
                if row.isDrained, !row.load(in: group) { continue }
                hasRow = true
            }
            if hasRow { return true }
            switch source.find(at: rows[0].offset) {
            case .batch(let batch, _) where group != nil: group = batch.group
            // All rows before the fault have been delivered.
            case .fault(let error): throw error
            default: return false
            }
        }
    }

    private func place(_ stream: Int, _ row: Int) -> SamplePlace {
        SamplePlace(timeNanoseconds: rows[stream].time(row), rank: places[stream])
    }

    /// The place right after the row before this one.
    private func placeBehind(_ stream: Int, _ row: Int) -> SamplePlace {
        SamplePlace(timeNanoseconds: rows[stream].time(row - 1), rank: places[stream] + 1)
    }

    /// The earliest place among the rows not consumed yet.
    private var firstPlace: SamplePlace? {
        var first: SamplePlace?
        for stream in rows.indices where !rows[stream].isDrained {
            let place = place(stream, rows[stream].position)
            first = min(first ?? place, place)
        }
        return first
    }

    /// Finds for each stream the rows that can go into the window without a check by ``RowRules``; `false` if there are none.
    private func findEnds(_ window: [SampleBatch]) -> Bool {
        // Beyond this place another stream may still have an earlier row.
        var horizon: SamplePlace?
        for (stream, row) in rows.enumerated() {
            let position = row.position
            ends[stream] = position
            guard !row.isDrained else { continue }
            row.checkAgain()
            let end = min(row.clean, position + window[stream].capacity - window[stream].count)
            guard end > position, followsSteadily(row.time(position), stream) else { return false }
            ends[stream] = end
            guard rows.count > 1 else { continue }
            let next: SamplePlace
            if end < row.clean {
                next = place(stream, end)
            } else if end < row.count || row.hasMore(in: group) {
                // The next stamp is unknown or not reliable.
                next = placeBehind(stream, end)
            } else {
                continue
            }
            horizon = min(horizon ?? next, next)
        }
        guard let horizon else { return true }
        for stream in rows.indices {
            ends[stream] = (rows[stream].position..<ends[stream]).partitionPoint { place(stream, $0) < horizon }
        }
        return true
    }

    /// Whether a stream's next stamp is later than the previous one and not an outlier.
    private func followsSteadily(_ time: Int64, _ stream: Int) -> Bool {
        if let last = rules.row.lastTimeNanoseconds(stream), time <= last { return false }
        guard let latest = rules.row.lastTimeNanoseconds ?? firstPlace?.timeNanoseconds else { return true }
        return time <= Units.later(latest, by: RowRules.jumpNanoseconds)
    }

    /// Adds a stream's rows to a batch, without copying if it is empty; returns the place of the last of them.
    private func hand(_ stream: Int, to batch: SampleBatch) -> SamplePlace {
        let row = rows[stream]
        let end = ends[stream]
        let columns = row.columns(row.position..<end)
        if batch.isEmpty { batch.borrow(columns, of: row.block) } else { batch.append(columns) }
        let last = place(stream, end - 1)
        rowNumber = max(rowNumber, row.number(end - 1))
        rules.row.keep(stream, timeNanoseconds: last.timeNanoseconds)
        row.skip(upTo: end)
        source.didRead()
        return last
    }

    // MARK: - Row by row

    /// Appends samples that pass the rules to the window, one by one.
    private func readRows(_ window: [SampleBatch]) throws(TraceError) -> Bool {
        var last = SamplePlace(timeNanoseconds: .min, rank: -1)
        for _ in 0..<Self.mostSlowRows {
            if !isRowHeld, try !readRow() { return false }
            let row = rules.row
            let first = order.firstIndex { row.hasSample($0) }
            isRowHeld = SamplePlace(timeNanoseconds: row.timeNanoseconds, rank: first ?? 0) < last
            if isRowHeld { return true }
            var isFull = false
            for stream in order where row.hasSample(stream) {
                window[stream].append(row.sample(stream))
                isFull = isFull || window[stream].isFull
                last = SamplePlace(timeNanoseconds: row.timeNanoseconds, rank: places[stream])
            }
            if isFull { return true }
        }
        return true
    }

    /// Reads rows until one has a usable sample; `false` at the end.
    private func readRow() throws(TraceError) -> Bool {
        while true {
            guard try gatherRow() else { return false }
            if rules.jumpsAhead { rules.dropOutlier(following: nextTime, at: rowNumber) }
            try rules.dropBackwards(at: rowNumber)
            guard !rules.row.isEmpty else { continue }
            source.didRead()
            return true
        }
    }

    /// The stamp of the next row; `nil` when there is none, or it cannot be read.
    private var nextTime: Int64? {
        (try? loadBlocks()) == true ? firstPlace?.timeNanoseconds : nil
    }

    /// Fills the row with the next sample, and with those of the same stamp that follow it in the order of the streams.
    private func gatherRow() throws(TraceError) -> Bool {
        guard try loadBlocks(), let first = firstPlace else { return false }
        let row = rules.row
        row.removeAll()
        row.timeNanoseconds = first.timeNanoseconds
        let firstRows = rows[order[first.rank]]
        rowNumber = firstRows.number(firstRows.position)
        var flaw: TraceRepairs.Kind?
        var last = -1
        while let place = firstPlace, place.timeNanoseconds == first.timeNanoseconds, place.rank > last {
            last = place.rank
            let found = readSample(order[place.rank])
            flaw = flaw ?? found
        }
        switch flaw {
        case .notFinite: rules.record(.notFinite, at: rowNumber, "not a finite number")
        case .beyondSensors: rules.record(.beyondSensors, at: rowNumber, "a value beyond any sensor")
        default: break
        }
        return true
    }

    /// Adds a stream's next sample to the row, or returns the reason why it is skipped.
    private func readSample(_ stream: Int) -> TraceRepairs.Kind? {
        let own = rows[stream]
        let sample = own.sample(own.position)
        own.skip(upTo: own.position + 1)
        // The stream's next sample may have the same stamp.
        if own.isDrained { _ = own.load(in: group) }
        if let flaw = Self.flaw(sample.x) ?? Self.flaw(sample.y) ?? Self.flaw(sample.z) { return flaw }
        rules.row.set(stream, 0, sample.x)
        rules.row.set(stream, 1, sample.y)
        rules.row.set(stream, 2, sample.z)
        return nil
    }

    private static func flaw(_ value: Float) -> TraceRepairs.Kind? {
        if value.magnitude <= TraceRow.largest { return nil }
        return value.isFinite ? .beyondSensors : .notFinite
    }
}
