import Binnacle
import Glibc
import Handlers
import LinuxSystem
import PlainText

struct EventPrinter {
    private let output: LineWriter
    private let text: TextHandler
    private let writesJSON: Bool

    init(_ output: LineWriter, writesJSON: Bool, isUTC: Bool) {
        self.output = output
        self.writesJSON = writesJSON
        var style = TextHandler.Style()
        style.isLocal = !isUTC
        style.columns = Terminal.columns(of: STDOUT_FILENO)
        text = TextHandler(writer: output, style: style)
    }

    /// Prints an event, whose JSON line is `json`; `false` if the reader of the output is gone.
    func print(_ event: Event, _ json: String, flushes: Bool) -> Bool {
        if writesJSON { output.write(JSONReader.harmless(json)) } else { text.handle(event) }
        if flushes { output.flush() }
        return output.failure == nil
    }
}
