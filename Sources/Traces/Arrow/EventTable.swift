import ArrowStream
package import Binnacle
import PlainText

/// Writes events as an Arrow stream: a row for each event, and one for the outcome of each recording.
///
/// A column has one type for all kinds of events; binnacle-events(7) has the schema.
package final class EventTable {
    /// The first failure to write; nothing is written after it.
    package var failure: TraceError? { file.failure }
    /// Whether the failure was that the reading end of a pipe was closed.
    package var isReaderGone: Bool { file.isReaderGone }

    /// The number of rows of a batch: each batch costs a reader some 10 ms.
    private static let mostRows = 8192
    /// A batch also ends before its texts exceed the columns' 32-bit offsets.
    private static let mostTextBytes = 1 << 26

    /// The columns before the figures, in order.
    private enum Head: Int { case recording, seq, kind, detector, sensor, time, simulated }
    private static let head: [ArrowMessageWriter.Field] = [
        .init(name: "recording", type: .text, isNullable: true),
        .init(name: "seq", type: .int64, isNullable: true),
        .init(name: "kind", type: .text),
        .init(name: "detector", type: .text, isNullable: true),
        .init(name: "sensor", type: .dictionary, isNullable: true),
        .init(name: "time_ns", type: .int64, isNullable: true),
        .init(name: "simulated", type: .boolean, isNullable: true),
    ]
    /// The columns after the figures, in order.
    private enum Tail: Int { case samples, skipped, events, seconds }
    private static let tail: [ArrowMessageWriter.Field] = [
        .init(name: "samples", type: .int64, isNullable: true),
        .init(name: "skipped", type: .counts, isNullable: true),
        .init(name: "events", type: .int64, isNullable: true),
        .init(name: "seconds", type: .float64, isNullable: true),
    ]

    /// All columns, in order.
    static let fields: [ArrowMessageWriter.Field] =
        head + Figure.Name.allCases.map { .init(name: $0.rawValue, type: $0.columnType, isNullable: true) } + tail

    private let file: RecordingFile
    private var message = ArrowMessageWriter()
    private var columns = EventTable.fields.map(ArrowColumn.init)
    private let places = Dictionary(
        uniqueKeysWithValues: Figure.Name.allCases.enumerated().map { ($0.element, EventTable.head.count + $0.offset) })
    private var rowCount = 0
    private var textCount = 0

    /// Begins a stream.
    ///
    /// - Parameter file: The output, owned by the table.
    /// - Throws: ``TraceError`` when it cannot be written.
    package init(_ file: RecordingFile) throws(TraceError) {
        self.file = file
        try file.write(message.schema(Self.fields, metadata: [("pandas", Self.pandasTypes)]))
    }

    /// The types of whole numbers in pandas: by them pyarrow makes nullable integers, in place of floating-point numbers.
    ///
    /// Source: "Storing pandas DataFrame objects in Apache Parquet format" (pandas, developer documentation).
    private static let pandasTypes: String = {
        let columns = fields.filter { if case .int64 = $0.type { true } else { false } }.map { field in
            var column = JSONObject()
            column.add("name", field.name)
            column.add("field_name", field.name)
            column.add("pandas_type", "int64")
            column.add("numpy_type", "Int64")
            column.add("metadata", nil)
            return column.text
        }
        var object = JSONObject()
        object.add("index_columns", list: [])
        object.add("column_indexes", list: [])
        object.add("columns", list: columns)
        return object.text
    }()

    package func add(_ event: Event, of recording: String?) {
        let row = rowCount
        set(recording, .recording)
        columns[Head.seq.rawValue].set(Int64(clamping: event.sequence), at: row)
        set(event.kind.rawValue, .kind)
        set(event.detector, .detector)
        set(event.sensor, .sensor)
        columns[Head.time.rawValue].set(event.timeNanoseconds, at: row)
        if event.isSimulated { columns[Head.simulated.rawValue].set(true, at: row) }
        for figure in event.figures { set(figure) }
        endRow()
    }

    /// Adds the row of a recording; `skippedCounts` has the places at which samples were skipped, by cause.
    package func add(
        kind: String, status: Int64, reason: String?, sampleCount: Int64, skippedCounts: [(key: String, value: Int64)],
        eventCount: Int64, seconds: Double, of recording: String?
    ) {
        let row = rowCount
        set(recording, .recording)
        set(kind, .kind)
        set(Figure(.status, .integer(status)))
        if let reason { set(Figure(.reason, .text(reason))) }
        let tail = Self.head.count + places.count
        columns[tail + Tail.samples.rawValue].set(sampleCount, at: row)
        columns[tail + Tail.skipped.rawValue].set(skippedCounts, at: row)
        columns[tail + Tail.events.rawValue].set(eventCount, at: row)
        columns[tail + Tail.seconds.rawValue].set(Self.rounded(seconds, decimals: 3), at: row)
        endRow()
    }

    /// Writes the rows that were added.
    package func flush() {
        guard rowCount > 0 else { return }
        write(message.batch(&columns, rowCount: rowCount))
        (rowCount, textCount) = (0, 0)
    }

    /// Ends the stream.
    package func finish() {
        flush()
        write(ArrowMessageWriter.end)
    }

    private func write(_ bytes: [UInt8]) {
        // The file keeps its first failure and writes nothing after it.
        try? file.write(bytes)
    }

    private func endRow() {
        rowCount += 1
        if rowCount >= Self.mostRows || textCount >= Self.mostTextBytes { flush() }
    }

    private func set(_ text: String?, _ column: Head) {
        guard let text else { return }
        textCount += text.utf8.count
        columns[column.rawValue].set(text, at: rowCount)
    }

    private func set(_ figure: Figure) {
        guard let place = places[figure.name] else { return }
        switch (columns[place].field.type, figure.value) {
        case (.float64, .number(let value, let decimals)):
            columns[place].set(Self.rounded(value, decimals: decimals), at: rowCount)
        case (.float64, .integer(let value)): columns[place].set(Double(value), at: rowCount)
        case (.int64, .integer(let value)): columns[place].set(value, at: rowCount)
        case (_, let value):
            let text = value.description
            textCount += text.utf8.count
            precondition(columns[place].field.type == .text, "\(figure.name) has another type than its row")
            columns[place].set(text, at: rowCount)
        }
    }

    /// Rounds a number to the decimals of its text in JSON, so that both have the same value.
    static func rounded(_ value: Double, decimals: Int) -> Double {
        let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
        let scaled = (value.magnitude * scales[decimals]).rounded(.toNearestOrAwayFromZero)
        // From 2⁵³ on a Double has no decimals.
        guard scaled < 0x1p53 else { return value }
        return value < 0 && scaled > 0 ? -scaled / scales[decimals] : scaled / scales[decimals]
    }
}

extension Figure.Name {
    var columnType: ArrowMessageWriter.FieldType {
        switch row.type {
        case .number: .float64
        case .integer, .stamp: .int64
        case .word, .text: .text
        }
    }
}
