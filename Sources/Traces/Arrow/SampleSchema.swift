import ArrowStream

/// The columns of samples in the schema of an Arrow stream.
struct SampleSchema {
    let all: ArrowSchema
    let sensor: ArrowSchema.Column
    let time: ArrowSchema.Column
    /// x, y and z.
    let axes: [ArrowSchema.Column]
    /// The raw scans, if they are needed.
    let scan: ArrowSchema.Column?

    /// Finds the columns; throws ``ArrowFault`` when one is missing or has another type.
    init(_ schema: ArrowSchema, needsScans: Bool) throws(ArrowFault) {
        all = schema
        func column(
            _ name: String, _ kind: ArrowField.Kind, _ typeName: String, hint: String = ""
        ) throws(ArrowFault) -> ArrowSchema.Column {
            try schema.column(name, kind, typeName, hint: hint, shown: CSVLayout.list)
        }
        sensor = try column(
            "sensor", .uint8, "uint8",
            hint: ": write a table that is no recording by Binnacle as CSV, with pyarrow: csv.write_csv(t, OUT)")
        time = try column("t", .int64, "int64")
        axes = [
            try column("x", .float32, "float32"), try column("y", .float32, "float32"),
            try column("z", .float32, "float32"),
        ]
        guard needsScans else {
            scan = nil
            return
        }
        guard schema.columns.contains(where: { $0.field.name == "scan" }) else {
            throw ArrowFault(
                "has no column 'scan' to decode: it was recorded without --scans; leave out --decode-scans")
        }
        scan = try column("scan", .binary, "binary")
    }
}
