import Binnacle
import PlainText

/// What was measured of one recording.
struct TraceResult {
    let format: String
    let form: DetectionForm
    let rowCount: Int
    let byteCount: Int
    let eventCount: Int
    /// From the opening of the file to the last event.
    let nanoseconds: Spread
    /// What reading memory reaches, in bytes a nanosecond.
    let limitRate: Double

    private var rate: Double { Double(byteCount) / nanoseconds.median }

    /// A row of the table.
    var row: [String] {
        [
            ".\(format), \(form.label)", String(rowCount), NumberText.text(Double(byteCount) * 1e-6, decimals: 1),
            NumberText.nanoseconds(nanoseconds.median / Double(rowCount)), NumberText.text(rate * 1e3, decimals: 0),
            NumberText.percent(rate / limitRate), String(eventCount),
            "+\(NumberText.percent(nanoseconds.unrest - 1)) %",
        ]
    }

    /// The same for a program.
    var object: JSONObject {
        var object = JSONObject()
        object.add("type", "trace")
        object.add("format", format)
        object.add("form", form.rawValue)
        object.add("rows", count: rowCount)
        object.add("bytes", count: byteCount)
        object.add("events", count: eventCount)
        object.add("ns_per_row", nanoseconds.scaled(by: 1 / Double(rowCount)))
        object.add("mb_per_s", number: rate * 1e3)
        object.add("limit_gb_per_s", number: limitRate)
        object.add("limit_percent", number: rate / limitRate * 100)
        return object
    }
}
