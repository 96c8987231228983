import Binnacle

/// Reads streams of samples from an Arrow stream.
///
/// A recording of ours says in which groups its batches were in order: one reader has all its streams, and keeps the order
/// of arrival. A file from elsewhere says nothing, and each of its streams has a reader; they are merged by their stamps as
/// files are.
final class ArrowReader: TraceReader {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    var repairs: TraceRepairs { rules.repairs }
    var path: String { source.path }
    var isMapped: Bool { true }
    var hasShrunk: Bool { source.file.hasShrunk }

    private let source: ArrowFile
    private let rows: [ArrowRows]
    private var rules: RowRules
    /// The group whose rows are read; `nil` when the file is taken as one.
    private var group: Int64?

    /// Each stream's place in the order of samples with one stamp.
    private var places: [Int] = []
    /// The streams in that order.
    private var order: [Int] = []
    /// For each stream up to where its rows go into the window.
    private var ends: [Int] = []

    /// Whether the row read last belongs to the next window.
    private var isRowHeld = false
    private var rowNumber = 0
    private var isAtEnd = false

    /// Windows that would have fewer samples go on with the next group, and copy.
    private static let fewSamples = 2048
    /// After so many rows one by one it is tried again to take whole blocks.
    private static let mostSlowRows = 4096

    /// - Parameters:
    ///   - source: The file.
    ///   - sensors: The streams that this reader has.
    ///   - streamCount: How many streams the file has.
    ///   - group: That of the file's first batch; `nil` when its batches are in none.
    ///   - notices: What was assumed.
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
        let goesOn: Bool
        do throws(TraceError) {
            goesOn = try read(window)
        } catch {
            try refuseLost(window)
            throw error
        }
        try refuseLost(window)
        source.file.release(upTo: rows.reduce(Int.max) { min($0, $1.offset) })
        guard !goesOn else { return true }
        isAtEnd = true
        if let torn = source.takeTorn() {
            rules.note(
                .tornBatch, at: nil,
                "the last message was not written to its end: \(source.bytes.count - torn) bytes skipped")
        }
        try source.remove()
        try rules.requireEnd(at: rowNumber)
        return false
    }

    /// Hands nothing out that the file may not have had any more when it was read.
    private func refuseLost(_ window: [SampleBatch]) throws(TraceError) {
        guard hasShrunk else { return }
        for batch in window { batch.removeAll() }
        try source.requireWhole()
    }

    /// Puts the streams into the pipeline's order; those that nobody wants keep that of the file, behind all others.
    private func setOrder(_ ranks: [Int]) {
        order = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        places = order.map { _ in 0 }
        for (place, stream) in order.enumerated() { places[stream] = place }
    }

    // MARK: - Windows

    private func read(_ window: [SampleBatch]) throws(TraceError) -> Bool {
        var last: Key?
        while !isRowHeld {
            guard try loadBlocks() else { return false }
            guard let first = firstKey, last.map({ $0 <= first }) ?? true else { return true }
            // A group that is small is copied behind the one before it, so that a delivery is worth its while.
            guard findEnds(window) else { break }
            for stream in rows.indices where ends[stream] > rows[stream].position {
                last = max(last ?? .least, hand(stream, to: window[stream]))
            }
            var count = 0
            for batch in window { count = batch.isFull ? .max : max(count, batch.count) }
            if count >= Self.fewSamples { return true }
            guard last != nil else { break }
            // The next block takes the place of the one that was lent.
            for batch in window { batch.keep() }
        }
        // What is not clean is taken row by row, by the rules.
        guard last == nil else { return true }
        return try readRows(window)
    }

    /// Makes sure that each stream has a row, unless the group has none of it; goes on to the next group when it has none
    /// at all.
    ///
    /// - Returns: Whether there is a row.
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
            // What comes before it has been handed out.
            case .fault(let error): throw error
            default: return false
            }
        }
    }

    /// The place in the order of samples, first by stamp, then by stream.
    private struct Key: Comparable {
        let time: Int64
        let place: Int

        static let least = Key(time: .min, place: -1)

        static func < (left: Key, right: Key) -> Bool { (left.time, left.place) < (right.time, right.place) }
    }

    private func key(_ stream: Int, _ row: Int) -> Key { Key(time: rows[stream].time(row), place: places[stream]) }

    /// What stands right behind the row before another one.
    private func behind(_ stream: Int, _ row: Int) -> Key {
        Key(time: rows[stream].time(row - 1), place: places[stream] + 1)
    }

    /// The first row that was not taken yet.
    private var firstKey: Key? {
        var first: Key?
        for stream in rows.indices where !rows[stream].isDrained {
            let key = key(stream, rows[stream].position)
            first = min(first ?? key, key)
        }
        return first
    }

    /// Finds for each stream up to where its rows can go into the window as they are.
    ///
    /// - Returns: Whether there are such rows, and the rules would have nothing to say about them.
    private func findEnds(_ window: [SampleBatch]) -> Bool {
        // What goes is before this: beyond, another stream may still have a row.
        var horizon: Key?
        for (stream, row) in rows.enumerated() {
            let position = row.position
            ends[stream] = position
            guard !row.isDrained else { continue }
            row.checkAgain()
            let end = min(row.clean, position + window[stream].capacity - window[stream].count)
            guard end > position, followsSteadily(row.time(position), stream) else { return false }
            ends[stream] = end
            guard rows.count > 1 else { continue }
            if end < row.clean {
                horizon = min(horizon ?? key(stream, end), key(stream, end))
                continue
            }
            // The next stamp is not known, or not one to go by.
            if end < row.count || row.hasMore(in: group) {
                horizon = min(horizon ?? behind(stream, end), behind(stream, end))
            }
        }
        guard let horizon else { return true }
        for stream in rows.indices { ends[stream] = firstRow(of: stream, notBefore: horizon) }
        return true
    }

    /// Whether a stream's next row is later than the one before it, and not so much that it would be doubted.
    private func followsSteadily(_ time: Int64, _ stream: Int) -> Bool {
        if let last = rules.row.lastTimeNanoseconds(stream), time <= last { return false }
        guard let latest = rules.row.lastTimeNanoseconds ?? firstKey?.time else { return true }
        return time <= Units.later(latest, by: RowRules.jumpNanoseconds)
    }

    private func firstRow(of stream: Int, notBefore horizon: Key) -> Int {
        var low = rows[stream].position
        var high = ends[stream]
        while low < high {
            let middle = low + (high - low) / 2
            if key(stream, middle) < horizon { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Hands a stream's rows over; without copying them when the batch has none yet.
    ///
    /// - Returns: Where the last of them stands.
    private func hand(_ stream: Int, to batch: SampleBatch) -> Key {
        let row = rows[stream]
        let end = ends[stream]
        let columns = row.columns(row.position..<end)
        if batch.isEmpty { batch.borrow(columns, of: row) } else { batch.append(columns) }
        let last = key(stream, end - 1)
        rowNumber = max(rowNumber, row.number(end - 1))
        rules.row.timeNanoseconds = last.time
        rules.row.keep(stream)
        row.take(upTo: end)
        source.didRead()
        return last
    }

    // MARK: - Row by row

    /// Appends samples to the window one by one, as they come and as far as they are believed.
    private func readRows(_ window: [SampleBatch]) throws(TraceError) -> Bool {
        var last = Key.least
        for _ in 0..<Self.mostSlowRows {
            if !isRowHeld, try !readRow() { return false }
            let key = rowKey
            isRowHeld = key < last
            if isRowHeld { return true }
            var isFull = false
            for stream in order where rules.row.hasSample(stream) {
                let row = rules.row
                window[stream].append(
                    timeNanoseconds: row.timeNanoseconds, x: row.axis(stream, 0), y: row.axis(stream, 1),
                    z: row.axis(stream, 2))
                isFull = isFull || window[stream].isFull
                last = Key(time: row.timeNanoseconds, place: places[stream])
            }
            if isFull { return true }
        }
        return true
    }

    /// Where the row's first sample stands.
    private var rowKey: Key {
        let place = order.firstIndex { rules.row.hasSample($0) }
        return Key(time: rules.row.timeNanoseconds, place: place ?? 0)
    }

    /// Reads rows until one has a sample that can be used.
    ///
    /// - Returns: Whether there is one.
    private func readRow() throws(TraceError) -> Bool {
        while true {
            guard try takeRow() else { return false }
            if rules.jumpsAhead { rules.dropOutlier(following: nextTime, at: rowNumber) }
            try rules.dropBackwards(at: rowNumber)
            guard !rules.row.isEmpty else { continue }
            source.didRead()
            return true
        }
    }

    /// The stamp of the next row; `nil` when there is none, or none that can be used.
    private var nextTime: Int64? {
        (try? loadBlocks()) == true ? firstKey?.time : nil
    }

    /// Puts the next sample into a row, and those of the same stamp that follow it in the order of the streams.
    private func takeRow() throws(TraceError) -> Bool {
        guard try loadBlocks(), let first = firstKey else { return false }
        let row = rules.row
        row.removeAll()
        row.timeNanoseconds = first.time
        rowNumber = rows[order[first.place]].number(rows[order[first.place]].position)
        var flaw: TraceRepairs.Kind?
        var last = -1
        while let key = firstKey, key.time == first.time, key.place > last {
            last = key.place
            let found = takeSample(order[key.place])
            flaw = flaw ?? found
        }
        switch flaw {
        case .notFinite: rules.note(.notFinite, at: rowNumber, "not a finite number")
        case .beyondSensors: rules.note(.beyondSensors, at: rowNumber, "a value beyond any sensor")
        default: break
        }
        return true
    }

    /// Puts a stream's next sample into the row.
    ///
    /// - Returns: What is wrong with it, so that it is left out.
    private func takeSample(_ stream: Int) -> TraceRepairs.Kind? {
        let own = rows[stream]
        let sample = own.sample(own.position)
        own.take(upTo: own.position + 1)
        // Its next one may have the same stamp.
        if own.isDrained { _ = own.load(in: group) }
        if let flaw = Self.flaw(sample) { return flaw }
        rules.row.set(stream, 0, sample.x)
        rules.row.set(stream, 1, sample.y)
        rules.row.set(stream, 2, sample.z)
        return nil
    }

    /// What is wrong with the first axis with which something is.
    private static func flaw(_ sample: (x: Float, y: Float, z: Float)) -> TraceRepairs.Kind? {
        flaw(sample.x) ?? flaw(sample.y) ?? flaw(sample.z)
    }

    private static func flaw(_ value: Float) -> TraceRepairs.Kind? {
        if value.magnitude <= TraceRow.largest { return nil }
        return value.isFinite ? .beyondSensors : .notFinite
    }
}
