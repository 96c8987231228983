package import Binnacle
package import LinuxSystem

/// Writes each event as one JSON object on one line.
package final class JSONLinesHandler: EventHandler {
    private let writer: LineWriter

    /// Creates a handler; whoever owns the writer flushes it.
    package init(writer: LineWriter) {
        self.writer = writer
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        writer.write(event.json)
    }
}
