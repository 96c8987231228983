import Binnacle

/// Reads recordings made with evemu-record.
final class EvemuReader: TraceReader {
    private var rows: RowReader<EvemuDecoder>

    init(
        _ lines: LineReader, isCancelled: @escaping () -> Bool
    ) throws(TraceError) {
        let decoder = EvemuDecoder(try EvemuHead(lines))
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
