package import Binnacle
import Glibc
import Traces

/// Writes traces anew: reads them as a replay does, and writes them as a recording does.
///
/// It is the delegate of its progress indicator, whose cancellation ends it; what was written by then is a whole trace.
package final class Conversion {
    /// What a person should know before it begins: assumptions about the files.
    package let notices: [String]

    private let source: TraceSource
    private let writer: TraceWriter
    private let outputPath: String
    private var isCancelled = false
    private var failures: [StationError] = []

    /// The most samples of one stream that are read at a time.
    private static let capacity = 4096

    /// Opens the traces and makes the file.
    ///
    /// - Throws: ``StationError`` when a trace cannot be read, or the file not be made.
    package init(_ options: ConvertOptions) throws(StationError) {
        var replay = ReplayOptions()
        replay.paths = options.inputs
        replay.map = options.map
        var binding = try TraceBinding(replay)
        notices = binding.notices
        source = try binding.bindEverything()
        outputPath = options.output
        if let input = options.inputs.first(where: { Self.isSameFile($0, options.output) }) {
            throw StationError(.usage, "\(input.printable): would be written over while it is read: choose another -o")
        }
        do throws(TraceError) {
            writer = try TraceWriter(path: options.output, streams: source.streams, replacing: options.replaces)
        } catch {
            throw StationError(error)
        }
    }

    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard other != "-", stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Converts to the end, or until it is cancelled, or the file takes no more.
    ///
    /// - Parameter indicator: Shows how far it has come.
    /// - Returns: What it came to.
    package func run(_ indicator: ProgressIndicator) -> ConvertSummary {
        indicator.delegate = self
        indicator.show()
        let recording = RecordingSource(source, writer: writer)
        let delivery = SampleDelivery(streamCount: source.streams.count, capacity: Self.capacity)
        while goesOn(indicator) {
            delivery.removeAll()
            let answer = recording.fill(delivery)
            if case .failed(_, let reason) = answer { add(reason) }
            if answer.isEnd { break }
            indicator.update(fraction: source.fraction)
        }
        finish()
        // A cancelled wait for a pipe looks like its end.
        if Interruption.isRequested { indicator.cancel() }
        indicator.hide()
        return summary
    }

    private func goesOn(_ indicator: ProgressIndicator) -> Bool {
        if Interruption.isRequested { indicator.cancel() }
        return !isCancelled && writer.failure == nil
    }

    private func add(_ reason: any Error) {
        let failure = (reason as? TraceError).map { StationError($0) } ?? StationError(.inputOutput, "\(reason)")
        // Streams that are read from one file by themselves fail one by one, for the same reason.
        if !failures.contains(where: { $0.description == failure.description }) { failures.append(failure) }
    }

    private func finish() {
        // What it says is kept as the writer's failure.
        try? writer.finish()
        // Whoever read the pipe has had enough: that is an end like any other.
        if let failure = writer.failure, !writer.isReaderGone { add(failure) }
    }

    private var summary: ConvertSummary {
        var summary = ConvertSummary()
        let count = writer.sampleCounts.reduce(0, +)
        let path = outputPath == "-" ? "standard output" : outputPath.printable
        let repairs = source.repairs
        summary.lines =
            ["\(isCancelled ? "cancelled after" : "converted") \(count) samples to \(path)"]
            + source.streams.map {
                "  \(writer.sampleCounts[$0.index]) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
            + TraceRepairs.Kind.allCases.compactMap { kind in
                repairs.counts[kind].map { "  \($0) × \(kind.rawValue)" }
            }
        summary.repairNotices = repairs.notices.map(\.description)
        summary.failures = failures
        summary.isCancelled = isCancelled
        return summary
    }
}

extension Conversion: ProgressIndicatorDelegate {
    /// Ends the conversion; what was written so far stays.
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {
        isCancelled = true
    }
}
