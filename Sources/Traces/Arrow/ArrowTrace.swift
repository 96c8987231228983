import ArrowStream
import PosixCalls

/// Recognises Arrow streams, and formats that have to be converted first.
enum ArrowTrace {
    /// The first bytes of every message.
    private static let mark: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    private static let markCount = ForeignFormat.markCount
    /// The number of samples of a sensor whose values are examined.
    private static let examinedRows = 200

    /// Whether a file that begins with these bytes is an Arrow stream, complete or not.
    static func begins(with first: [UInt8]) -> Bool { first.starts(with: mark) }

    /// Opens an Arrow stream; `nil` for other files.
    static func open(
        _ file: InputFile, makeDecoder: ScanDecoderMaker?, hints: TraceHints, chunking: Chunking
    ) throws(TraceError) -> ArrowFile? {
        let first = file.firstBytes(markCount)
        try ForeignFormat.refuse(first, file.path)
        guard begins(with: first), first.count >= 8, file.size != nil else { return nil }
        let file = try unpacked(file)
        return try ArrowFile(
            MappedFile(file, count: Int(file.size ?? 0)), isUnpacked: file.hasUnpackedBatches, makeDecoder: makeDecoder,
            hints: hints, chunking: chunking)
    }

    /// An Arrow stream with record batches that are not compressed; any other file as it is.
    static func unpacked(_ file: InputFile) throws(TraceError) -> InputFile {
        let first = file.firstBytes(markCount)
        guard !file.hasUnpackedBatches, begins(with: first), first.count >= 8, let size = file.size else { return file }
        let mapped = try MappedFile(file, count: Int(size))
        guard ArrowUnpacking.isNeeded(mapped.bytes) else { return file }
        let unpacked = Result { () throws(TraceError) in
            try ArrowUnpacking.unpacked(mapped.bytes, path: file.path)
        }
        // A file that shrank explains any other error.
        guard !mapped.hasShrunk else {
            throw TraceError(.inputOutput, path: file.path, "the file shrank while it was read: nothing of it is used")
        }
        var input = try unpacked.get()
        input.hasUnpackedBatches = true
        return input
    }

    /// The readers of a file's streams: a single one if the file stores the order of arrival, else one for each stream.
    static func readers(of file: ArrowFile, hints: TraceHints) throws(TraceError) -> [ArrowReader] {
        let first = try file.firstBatch()
        let metadata = file.schema.all.metadata
        let described = ArrowSensor.described(in: metadata)
        var numbers = described
        // A schema by Binnacle describes all sensors; otherwise the batches have to be searched.
        if numbers.isEmpty || metadata[ArrowKeys.version] == nil {
            var present = file.presentSensors()
            present.formUnion(SensorSet(numbers))
            numbers = present.numbers
        }
        guard !numbers.isEmpty else {
            let end = file.removeTornMessage() == nil ? "" : ": the first batch was not written to its end"
            throw TraceError(.data, path: file.path, "has a schema and no sample\(end)")
        }
        var sensors: [ArrowSensor] = []
        var notices: [TraceNotice] = []
        for number in numbers {
            let first =
                metadata[ArrowKeys.version] == nil || !described.contains(number)
                ? file.firstVectors(of: number, most: examinedRows) : nil
            let sensor = try mapError({ TraceError(.data, path: file.path, $0.message) }) { () throws(ArrowFault) in
                try ArrowSensor(number, metadata: metadata, hints: hints, values: first?.values)
            }
            sensors.append(sensor)
            var words = sensor.notices
            if let step = first?.stepSeconds, step > 0, step < CSVTimeChoice.shortestSeconds {
                words.append(
                    CSVTimeChoice.implausible("sensor \(number)", step)
                        + ": if that is not so, write its column t in nanoseconds")
            }
            notices += words.map { TraceNotice(path: file.path, line: nil, column: nil, message: $0) }
        }
        file.expect(only: numbers)
        if first?.group != nil {
            return [ArrowReader(file, sensors: sensors, of: sensors.count, group: first?.group, notices: notices)]
        }
        return sensors.enumerated().map { index, sensor in
            ArrowReader(file, sensors: [sensor], of: sensors.count, group: nil, notices: index == 0 ? notices : [])
        }
    }
}
