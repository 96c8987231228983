package import Binnacle
import Glibc
import LinuxSystem
import PlainText
package import Station
package import Traces

/// Writes traces anew: reads them as a replay does, and writes them as a recording does.
///
/// A conversion that is cancelled leaves a whole trace of what was converted by then.
package final class Conversion {
    /// What a person should know before it begins: assumptions about the files.
    package var notices: [String] { assembly.notices }

    private let assembly: Assembly
    private let writer: TraceWriter
    private let source: StationSource
    private let outputPath: String
    private let interruption: Interruption

    /// The most samples of one stream that are read at a time.
    private static let capacity = 4096

    /// Opens the traces and makes the file.
    ///
    /// - Parameters:
    ///   - options: What to convert.
    ///   - interruption: Says when a signal has come.
    /// - Throws: ``StationError`` when a trace cannot be read, or the file not be made.
    package init(_ options: ConvertOptions, interruption: Interruption) throws(StationError) {
        self.interruption = interruption
        assembly = try Assembly(playing: TraceSet(options.inputs, map: options.map), interruption: interruption)
        outputPath = options.output
        if let input = options.inputs.first(where: { Self.isSameFile($0, options.output) }) {
            throw StationError(.usage, "\(input.printable): would be written over while it is read: choose another -o")
        }
        do throws(TraceError) {
            writer = try TraceWriter(path: options.output, streams: assembly.streams, replacing: options.replaces)
        } catch {
            throw StationError(error)
        }
        let writer = writer
        source = try assembly.makeSource(playing: assembly.traces.map { RecordingSource($0, writer: writer) })
    }

    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard other != "-", stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Converts to the end, or until it is cancelled, or the file takes no more.
    ///
    /// - Parameter indicator: Shows how far it has come.
    /// - Returns: What was converted.
    package func run(_ indicator: ProgressIndicator) -> ConvertSummary {
        var settings = Session.Settings()
        settings.interruption = interruption
        let session = Session(source, capacity: Self.capacity, settings: settings, indicator: indicator)
        session.delegate = self
        session.run()
        // The writer keeps the error.
        try? writer.finish()
        // The reader of a pipe that closes it has what it wanted.
        if let failure = writer.failure, !writer.isReaderGone { session.add(failure) }
        return summary(session)
    }

    private func summary(_ session: Session) -> ConvertSummary {
        var summary = ConvertSummary()
        let count = writer.sampleCounts.reduce(0, +)
        let path = outputPath == "-" ? "standard output" : outputPath.printable
        let repairs = assembly.repairs
        summary.lines =
            ["\(session.isCancelled ? "cancelled after" : "converted") \(count) samples to \(path)"]
            + zip(assembly.streams, writer.sampleCounts).map {
                "  \($1) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
            + TraceRepairs.Kind.allCases.compactMap { kind in
                repairs.counts[kind].map { "  \($0) × \(kind.rawValue)" }
            }
        summary.repairNotices = repairs.notices.map(\.description)
        summary.failures = session.failures
        summary.isCancelled = session.isCancelled
        return summary
    }
}

extension Conversion: SessionDelegate {
    package func session(_ session: Session, didTurn answer: SampleAnswer) {
        if case .failed(_, let reason) = answer { session.add(reason) }
        if writer.failure != nil { session.end() }
        session.showProgress(assembly.fraction)
    }
}

/// What a person asks of a conversion.
package struct ConvertOptions {
    /// The traces, in the order given.
    package var inputs: [String] = []
    /// The file to write; `-` is standard output.
    package var output = ""
    package var map: ColumnMap?
    /// Whether a file that is there is written over.
    package var replaces = false

    package init() {}
}

/// The result of a conversion, for people.
package struct ConvertSummary {
    /// How many samples were written, of what, and what was passed over; one line each.
    package var lines: [String] = []
    /// The first places where something was passed over.
    package var repairNotices: [String] = []
    /// What went wrong.
    package var failures: [StationError] = []
    /// Whether a person cancelled it.
    package var isCancelled = false
}
