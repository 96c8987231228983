import Binnacle

/// Reads CSV files.
final class CSVReader: TraceReader {
    private var rows: RowReader<CSVDecoder>

    init(
        _ lines: LineReader, map: ColumnMap?, assumedKind: SampleKind?, isLineByLine: Bool,
        isCancelled: @escaping () -> Bool
    ) throws(TraceError) {
        let head = try CSVHead(lines, map: map, assumedKind: assumedKind)
        let decoder = CSVDecoder(head, isLineByLine: isLineByLine)
        rows = RowReader(lines, decoder: decoder, isCancelled: isCancelled)
    }

    var path: String { rows.path }
    var contents: [TraceFile.Content] { rows.decoder.contents }
    var notices: [TraceNotice] { rows.decoder.notices }
    var repairs: TraceRepairs { rows.repairs }
    var fraction: Double? { rows.fraction }

    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        try rows.fill(window, ranks: ranks)
    }
}
