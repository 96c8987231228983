public import Binnacle

/// Writes each event as one JSON object on one line.
public final class JSONLinesHandler: EventHandler {
    private let writer: LineWriter

    /// Creates a handler; whoever owns the writer flushes it.
    public init(writer: LineWriter) {
        self.writer = writer
    }

    /// Writes the event.
    public func handle(_ event: Event) {
        writer.write(event.json)
    }
}
