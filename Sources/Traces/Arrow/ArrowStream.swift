import Binnacle
import PosixCalls

/// Recognises Arrow streams, and other formats that have to be converted first.
enum ArrowStream {
    /// The first bytes of every message.
    private static let mark: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    private static let markCount = 8

    /// The first bytes of other formats, with the remedy.
    private static let others: [(mark: [UInt8], message: String)] = [
        (
            Array("ARROW1".utf8),
            "is an Arrow file (Feather), and no stream: convert it, with pyarrow: t = ipc.open_file(IN).read_all(); "
                + "w = ipc.new_stream(OUT, t.schema); w.write_table(t); w.close()"
        ),
        (
            Array("FEA1".utf8),
            "is an old Feather file: convert it to an Arrow stream, with pyarrow: t = feather.read_table(IN); "
                + "w = ipc.new_stream(OUT, t.schema); w.write_table(t); w.close()"
        ),
        (
            Array("PAR1".utf8),
            "is a Parquet file: convert it to an Arrow stream, with pyarrow: t = parquet.read_table(IN); "
                + "w = ipc.new_stream(OUT, t.schema); w.write_table(t); w.close()"
        ),
        ([0x1F, 0x8B], "is compressed with gzip: unpack it first (gunzip)"),
        ([0x28, 0xB5, 0x2F, 0xFD], "is compressed with zstd: unpack it first (unzstd)"),
        ([0x04, 0x22, 0x4D, 0x18], "is compressed with lz4: unpack it first (unlz4)"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "is compressed with xz: unpack it first (unxz)"),
    ]

    /// Opens a file that begins as an Arrow stream does; `nil` for other files and pipes.
    static func open(
        path: String, makeDecoder: ScanDecoderMaker?, assumedKind: SampleKind?
    ) throws(TraceError) -> ArrowFile? {
        // A pipe must not be opened here: opening it again would wait for a second writer.
        guard InputFile.isRegular(path) else { return nil }
        let file = try InputFile.open(path: path)
        let first = file.firstBytes(markCount)
        try refuseOthers(first, path)
        guard first.starts(with: mark), first.count == markCount, let size = file.size else { return nil }
        return try ArrowFile(
            MappedFile(file, count: Int(size)), makeDecoder: makeDecoder, assumedKind: assumedKind)
    }

    /// Throws ``TraceError`` when unread lines, perhaps from a pipe, are an Arrow stream or another format to be
    /// converted.
    static func refuse(_ lines: LineReader) throws(TraceError) {
        let first = try lines.firstBytes(markCount)
        try refuseOthers(first, lines.path)
        guard first.starts(with: mark) else { return }
        throw TraceError(
            .data, path: lines.path, "an Arrow stream is not read from a pipe: write it to a file first, and name that")
    }

    private static func refuseOthers(_ first: [UInt8], _ path: String) throws(TraceError) {
        guard let other = others.first(where: { first.starts(with: $0.mark) }) else { return }
        throw TraceError(.data, path: path, other.message)
    }

    /// The readers of a file's streams: one that keeps the order of arrival if the file stores it, else one for each
    /// stream.
    static func readers(of file: ArrowFile, assumedKind: SampleKind?) throws(TraceError) -> [ArrowReader] {
        let first = try file.firstBatch()
        let metadata = file.schema.metadata
        let described = ArrowSensor.described(in: metadata)
        var numbers = described
        // A schema by Binnacle describes all sensors; otherwise the batches have to be searched.
        if numbers.isEmpty || metadata[ArrowKeys.version] == nil {
            numbers = file.presentSensors().union(numbers).numbers
        }
        guard !numbers.isEmpty else {
            let end = file.takeTorn() == nil ? "" : ": the first batch was not written to its end"
            throw TraceError(.data, path: file.path, "has a schema and no sample\(end)")
        }
        var sensors: [ArrowSensor] = []
        var notices: [TraceNotice] = []
        for number in numbers {
            let sensor = try mapError({ TraceError(.data, path: file.path, $0.message) }) { () throws(ArrowFault) in
                try ArrowSensor(number, metadata: metadata, assumedKind: assumedKind)
            }
            sensors.append(sensor)
            guard !described.contains(number) else { continue }
            let content = sensor.content
            let unit = content.kind == .accelerometer ? "m/s²" : "µT"
            notices.append(
                TraceNotice(
                    path: file.path, line: nil, column: nil,
                    message:
                        "sensor \(number) is not described: taken as \(content.kind == .accelerometer ? "an" : "a") \(content.kind.rawValue) in \(unit) "
                        + "(--bind SENSOR=FILE:KIND says otherwise)"))
        }
        if first?.group != nil {
            return [ArrowReader(file, sensors: sensors, of: sensors.count, group: first?.group, notices: notices)]
        }
        return sensors.enumerated().map { index, sensor in
            ArrowReader(file, sensors: [sensor], of: sensors.count, group: nil, notices: index == 0 ? notices : [])
        }
    }
}
