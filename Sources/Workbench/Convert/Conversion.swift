package import Binnacle
import LinuxSystem
import PlainText
package import Station
import Traces

/// Converts traces: reads them like a replay, and writes them like a recording.
///
/// A cancelled conversion leaves a valid trace of the samples so far.
package final class Conversion {
    /// Assumptions, for the user before the start.
    package var notices: [String] { assembly.notices }

    private let assembly: Assembly
    private let writer: TraceWriter
    private let source: StationSource
    private let path: String
    private let interruption: Interruption

    /// Maximum number of samples of a stream in a delivery.
    private static let capacity = 4096

    /// Opens the traces, and checks that the file can be created.
    package init(
        _ traces: TraceSet, to path: String, replacing: Bool, interruption: Interruption
    ) throws(StationError) {
        self.interruption = interruption
        assembly = try Assembly(playing: traces, interruption: interruption)
        self.path = path
        try StationError.refuse(writing: path, over: assembly.inputs, option: "-o")
        let streams = assembly.streams
        let writer = try mapError({ StationError($0) }) { () throws(TraceError) in
            // A recording is not overwritten for a trace that turns out to have no sample.
            try TraceWriter(path: path, streams: streams, replacing: replacing, waitsForSamples: true)
        }
        self.writer = writer
        source = try assembly.makeSource(playing: assembly.traces.map { RecordingSource($0, writer: writer) })
    }

    /// Converts until the end, a cancellation, or a write error.
    package func run(_ indicator: ProgressIndicator) -> SampleLoop {
        let settings = SampleLoop.Settings(interruption: interruption)
        let session = SampleLoop(source, capacity: Self.capacity, settings: settings, indicator: indicator)
        session.delegate = self
        session.run()
        // The writer keeps the error.
        try? writer.finish()
        // A closed pipe is a normal end: its reader needs no more.
        if let loss = writer.loss { session.add(loss) }
        return session
    }

    /// The first places with skipped samples.
    package var repairNotices: [String] { assembly.repairs.notices.map(\.description) }

    /// Counts of written samples by stream, and of skipped ones by reason, one line each.
    package func summary(_ session: SampleLoop) -> [String] {
        let count = writer.sampleCounts.reduce(0, +)
        let path = path == "-" ? "standard output" : path.printable
        let repairs = assembly.repairs
        let words =
            writer.isWaiting && writer.loss == nil && !session.isCancelled
            ? "no samples: nothing is written to"
            : writer.loss == nil
                ? "\(session.isCancelled ? "cancelled after" : "converted") \(count) samples to"
                : "not all of \(count) samples are in"
        return ["\(words) \(path)"]
            + zip(assembly.streams, writer.sampleCounts).map {
                "  \($1) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
            + TraceRepairs.Kind.allCases.compactMap { kind in
                repairs.counts[kind].map { "  \($0) × \(kind.rawValue)" }
            }
            + assembly.assumptions.map { "  assumed: " + $0 }
    }
}

extension Conversion: SampleLoopDelegate {
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        if case .failed(_, let reason) = answer { session.add(reason) }
        if writer.failure != nil { session.end() }
        session.showProgress(assembly.fraction)
    }
}
