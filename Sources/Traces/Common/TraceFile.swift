package import Binnacle

/// An open trace file of a known format, whose streams are not yet assigned to sensors.
package final class TraceFile {
    package struct Content: Sendable, Equatable {
        /// The sensor's name; `nil` when the file has none.
        package let sensor: String?
        package let kind: SampleKind
    }

    /// The file's path as it was given.
    package let path: String
    /// The streams in the file, in the file's order.
    package var contents: [Content] { readers.flatMap(\.contents) }
    /// Assumptions made because the header is incomplete.
    package var notices: [TraceNotice] { unpackingNotices + readers.flatMap(\.notices) }

    /// The readers of the contents, in order.
    ///
    /// One reader keeps its streams in the order of arrival; the streams of several readers are merged by their stamps.
    private(set) var readers: [any TraceReader]
    /// The text of a CSV file, until its first row is read.
    private var text: (lines: LineReader, head: CSVHead, makeReader: (CSVHead) -> RowReader)?
    /// Defects found by unpacking.
    private let unpackingNotices: [TraceNotice]

    /// Opens a file and recognises its format.
    ///
    /// - Parameters:
    ///   - path: A CSV file, an Arrow stream, an MCAP file, or a recording made with evemu-record, also compressed with zstd, or a
    ///     pipe with one of them. What is not text is first read completely from a pipe into an unnamed file.
    ///   - entries: The entries of archives that were unpacked before.
    ///   - hints: The user's statements about the file.
    ///   - makeDecoder: Makes the decoder for an Arrow stream's raw scans, which replace the recorded samples; `nil` uses the
    ///     samples.
    ///   - isLineByLine: Whether CSV is never read in bulk; the result is the same.
    ///   - chunking: The number of threads that read a large file of CSV or Arrow; the result is the same.
    ///   - isCancelled: Called while the reader waits for a pipe, and while a whole file is looked at; `true` is treated as the end of the
    ///     file.
    /// - Throws: ``TraceError`` when the file cannot be opened, or its header is incomplete.
    package init(
        path: String, entries: UnpackedEntries = UnpackedEntries(), hints: TraceHints = TraceHints(),
        makeDecoder: ScanDecoderMaker? = nil,
        isLineByLine: Bool = false, chunking: Chunking = .serial,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(TraceError) {
        self.path = path
        // A pipe is opened once: a second open would wait for a second writer.
        var file = try entries.open(path: path)
        var piped: LineReader?
        if file.size == nil {
            let lines = LineReader(file, isCancelled: isCancelled)
            let first = try lines.firstBytes(ForeignFormat.markCount)
            if ArrowTrace.begins(with: first) || MCAPFile.begins(with: first) || first.starts(with: ZstdStream.mark) {
                file = try Unpacking.pipe(lines)
            } else {
                piped = lines
            }
        }
        var notice: TraceNotice?
        if piped == nil { (file, notice) = try Unpacking.file(file, isCancelled: isCancelled) }
        unpackingNotices = notice.map { [$0] } ?? []
        if piped == nil,
            let stream = try ArrowTrace.open(file, makeDecoder: makeDecoder, hints: hints, chunking: chunking)
        {
            readers = try ArrowTrace.readers(of: stream, hints: hints)
            try requireGravity(hints)
            return
        }
        if piped == nil, makeDecoder == nil, let recording = try MCAPFile(file, isCancelled: isCancelled) {
            readers = try recording.readers(hints: hints)
            try requireGravity(hints)
            return
        }
        let lines = piped ?? LineReader(file, isCancelled: isCancelled)
        try ForeignFormat.refuse(try lines.firstBytes(ForeignFormat.markCount), path)
        guard makeDecoder == nil else {
            throw TraceError(
                .data, path: path, "has no raw scans: only an Arrow stream made by record --scans has them")
        }
        guard try !EvemuHead.isNext(lines) else {
            let decoder = EvemuDecoder(try EvemuHead(lines), hints: hints)
            readers = [RowReader(lines, decoder: decoder, isCancelled: isCancelled)]
            try requireGravity(hints)
            return
        }
        let head = try CSVHead(lines, hints: hints)
        let makeReader = { (head: CSVHead) in
            let decoder = CSVDecoder(head, isLineByLine: isLineByLine)
            return RowReader(
                lines, decoder: decoder, text: lines,
                readAhead: decoder.canReadChunks ? { lines.readAhead(head, chunking) } : nil, isCancelled: isCancelled)
        }
        readers = [makeReader(head)]
        text = (lines, head, makeReader)
        if lines.size != nil { leaveOutRates() }
    }

    /// Whether a file of several is refused because no detector uses what is in it.
    package static func isUseless(path: String) -> Bool {
        var hints = TraceHints()
        hints.isOnlyFile = false
        guard InputFile.isRegular(path) else { return false }
        do throws(TraceError) {
            _ = try TraceFile(path: path, hints: hints)
            return false
        } catch {
            return error.remedy == .leftOut
        }
    }

    /// Whether a file has gravity alone, as its name says.
    package static func hasGravityAlone(path: String) -> Bool {
        TraceFileName(path).content == .gravityAlone && InputFile.isRegular(path)
    }

    /// Decides about the units of gyroscopes by the accelerometers of the same recording, before a sample is read.
    static func settleRates(of files: [TraceFile]) {
        for file in files where file.text?.head.layout.streams.contains(where: { $0.rate != nil }) == true {
            file.settleRates(beside: files.filter { $0 !== file })
        }
    }

    private func settleRates(beside others: [TraceFile]) {
        guard let (lines, first, makeReader) = text else { return }
        var head = first
        for (index, stream) in head.layout.streams.enumerated() {
            // A pipe whose header states the unit is played at once.
            guard let rate = stream.rate, !rate.isStated || lines.size != nil else { continue }
            head.settle(index, verdict(of: index, rate, beside: others).verdict, path: path)
        }
        text = (lines, head, makeReader)
        readers = [makeReader(head)]
    }

    /// Leaves out gyroscopes that the accelerometer of the file shows to have no known unit, before their streams are assigned.
    private func leaveOutRates() {
        guard let (lines, first, makeReader) = text else { return }
        var head = first
        for (index, stream) in first.layout.streams.enumerated().reversed() {
            guard let rate = stream.rate, !rate.isStated, case let found = verdict(of: index, rate, beside: []),
                let message = rate.leftOut(found.verdict, areWhole: found.areWhole)
            else { continue }
            head.leaveOut(index, message, path: path)
        }
        guard head.layout.streams.count < first.layout.streams.count else { return }
        text = (lines, head, makeReader)
        readers = [makeReader(head)]
    }

    /// What gravity says about the unit of a gyroscope, and whether the values that were compared with it are whole numbers, not all 0.
    private func verdict(
        of stream: Int, _ rate: UnsettledRate, beside others: [TraceFile]
    ) -> (verdict: GravityTurn.Verdict, areWhole: Bool) {
        var verdict = GravityTurn.Verdict.open
        var areWhole = false
        var largest: Float = 0
        var lineCount = 0
        // Gravity that stays at first may turn later, and show more: whether the axes are left-handed.
        for most in [200, 800, 3200] where !verdict.isTurn {
            guard let lines = firstLines(most), lines.count > lineCount else { break }
            lineCount = lines.count
            let own = samples(in: lines)
            let factor = Float(rate.unit.factor)
            let rates = own[stream].samples.map {
                Sample(timeNanoseconds: $0.timeNanoseconds, x: $0.x / factor, y: $0.y / factor, z: $0.z / factor)
            }
            let values = rates.flatMap { [$0.x, $0.y, $0.z] }
            // A few may be garbled.
            largest = values.map(abs).sorted().dropLast(4).last ?? 0
            let accelerometers =
                [own]
                + (contents.contains { $0.kind == .accelerometer }
                    ? [] : others.map { $0.samples(in: $0.firstLines(most)) })
            guard
                let acceleration = accelerometers.joined().first(where: {
                    $0.kind == .accelerometer && $0.hasGravity
                })
            else { continue }
            // Numbers with decimals that were written as whole ones while the device lay still are seen in what follows.
            areWhole = values.contains { abs($0) > 0.5 } && values.allSatisfy { abs($0 - $0.rounded()) < 0.005 }
            let found = GravityTurn(acceleration: acceleration.samples, rate: rates).verdict
            if found != .open { verdict = found }
        }
        let quantity = Quantity.of(.gyroscope)
        let most = quantity.possible.upperBound
        let possible = quantity.units.firstIndex { Double(largest) * $0.unit.factor < most }
        if verdict == .open, let possible, possible > 0, Double(largest) * rate.unit.factor > most {
            verdict = .exceeds(possible)
        }
        return (verdict, areWhole)
    }

    /// The first stamp of a CSV file, in seconds; `nil` without a sample at its beginning.
    var startSeconds: Double? {
        samples(in: firstLines(10)).lazy.compactMap(\.samples.first).first.map { Double($0.timeNanoseconds) * 1e-9 }
    }

    /// The first lines of a CSV file, without consuming them.
    private func firstLines(_ most: Int) -> [[UInt8]]? { try? text?.lines.firstLines(most).lines }

    /// The samples in lines of a CSV file.
    private func samples(in lines: [[UInt8]]?) -> [(kind: SampleKind, hasGravity: Bool, samples: [Sample])] {
        guard let (_, head, _) = text, let lines else { return [] }
        let decoder = CSVDecoder(head, isLineByLine: true)
        let row = TraceRow(streamCount: contents.count)
        var samples = contents.map { _ in [Sample]() }
        for line in lines where !line.isEmpty {
            (line + Array(repeating: UInt8(ascii: "\n"), count: LineReader.padding)).withUnsafeBufferPointer {
                _ = decoder.decode(UnsafeBufferPointer(rebasing: $0[..<line.count]), into: row)
            }
            for stream in samples.indices where row.hasTime && row.hasSample(stream) {
                let isLater = samples[stream].last.map { $0.timeNanoseconds < row.timeNanoseconds } ?? true
                if isLater { samples[stream].append(row.sample(stream)) }
            }
        }
        return zip(head.layout.streams, samples).map { stream, samples in
            (stream.kind, stream.lift == 0, samples)
        }
    }

    /// Throws if the user adds gravity to recordings that contain it.
    private func requireGravity(_ hints: TraceHints) throws(TraceError) {
        guard hints.map?.acceleration == .linear, contents.contains(where: { $0.kind == .accelerometer }) else {
            return
        }
        throw TraceError(
            .data, path: path,
            "--map acceleration=linear is for CSV files of apps that take gravity away, and this is none")
    }
}

/// Reads one file as a sequence of windows, each in the order of arrival and with stamps that never decrease.
protocol TraceReader: AnyObject {
    var path: String { get }
    var contents: [TraceFile.Content] { get }
    /// Assumptions made because the file is incomplete.
    var notices: [TraceNotice] { get }
    var repairs: TraceRepairs { get }
    /// The share of the file that was read, from 0 to 1; `nil` for a pipe.
    var fraction: Double? { get }
    /// How far the wall clock was ahead of the stamps when the recording began, in nanoseconds; `nil` where it is not known.
    var wallAheadNanoseconds: Int64? { get }
    /// Whether windows borrow from a mapped file, so that large windows cost no memory.
    var isMapped: Bool { get }
    /// Whether the file shrank, so that a window's contents may be invalid.
    var hasShrunk: Bool { get }

    /// Appends samples to a window, an empty batch for each stream, until a batch is full, the order of arrival steps back, or
    /// the file ends; returns whether there may be more.
    ///
    /// `ranks` are the streams' places in the pipeline's order. After an error the samples in the window are valid.
    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool
}

extension TraceReader {
    var wallAheadNanoseconds: Int64? { nil }
    var isMapped: Bool { false }
    var hasShrunk: Bool { false }
}

/// A sample's place in the order of all streams: first by stamp, then by the stream's rank.
struct SamplePlace: Comparable {
    let timeNanoseconds: Int64
    let rank: Int

    static func < (left: SamplePlace, right: SamplePlace) -> Bool {
        (left.timeNanoseconds, left.rank) < (right.timeNanoseconds, right.rank)
    }
}

extension Range<Int> {
    /// The first index for which a condition fails that holds for all indices before it; found by binary search.
    @inline(__always)
    package func partitionPoint(_ isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
