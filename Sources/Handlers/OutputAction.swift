package import TableReading

/// `stdout = true`: writes the event to standard output, as JSON on one line.
package struct OutputAction: HandlerAction {
    package init() {}

    package static let row = HandlerRow(
        shown: "lines", kinds: "[\"heading\"]",
        """
        Writes the events to standard output, as JSON on one line each. A replay writes every event there by itself, and \
        leaves such handlers out.
        """,
        key: Key("stdout", .usual("true"), usual: "", "The only value is true."))
    package static let example = "stdout = true"
    /// Lines on standard output cause no events.
    package static let actsOnTheWorld = false

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        guard table.isTrue(entry) else { return nil }
    }

    package func work(for name: String) -> HandlerWork {
        .immediate { context in context.output.map { JSONLinesHandler(writer: $0) } }
    }
}
