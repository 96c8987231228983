import Binnacle
package import TableReading

/// `stdout = true`: writes the event to standard output, as JSON on one line.
package struct OutputAction: HandlerAction, Equatable {
    /// Creates an action.
    package init() {}

    /// The key that chooses it.
    package static let key = "stdout"
    /// How the key is written.
    package static let example = "stdout = true"
    /// It has no further keys.
    package static let furtherKeys: [String] = []
    /// Lines on standard output cause no events.
    package static let actsOnTheWorld = false

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        guard table.isTrue(entry) else { return nil }
    }

    /// Writes lines, where standard output is not taken.
    package func work(for name: String) -> HandlerWork {
        .immediate { context in context.output.map { JSONLinesHandler(writer: $0) } }
    }
}
