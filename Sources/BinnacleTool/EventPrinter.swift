import Binnacle
import Handlers
import LinuxSystem

/// Prints events on standard output.
struct EventPrinter {
    private let output: LineWriter
    private let text: TextHandler
    private let writesJSON: Bool

    init(_ output: LineWriter, writesJSON: Bool) {
        self.output = output
        self.writesJSON = writesJSON
        text = TextHandler(writer: output)
    }

    /// Prints an event, whose line is `json`; `false` when the reader of the output is gone.
    func print(_ event: Event, _ json: String, flushes: Bool) -> Bool {
        if writesJSON { output.write(json) } else { text.handle(event) }
        if flushes { output.flush() }
        return output.failure == nil
    }
}
