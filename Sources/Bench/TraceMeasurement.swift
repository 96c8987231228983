import Binnacle
import Kernels

/// Recordings read, from the opening of the file to the last event, beside reading as much memory.
struct TraceMeasurement: Measurement {
    func stepCount(_ levels: [MemoryLevel]) -> Int { Self.formats.count * DetectionForm.allCases.count + 1 }

    private static let formats = ["csv", "arrows"]

    func run(_ session: Session) throws(BenchError) {
        let traces = try TraceFiles(
            rowCount: session.options.traceRows, formats: Self.formats, isCancelled: session.isCancelled)
        session.didStep()
        var table = TextTable(["trace", "rows", "MB", "ns a row", "MB/s", "% of read", "events", "spread"])
        for file in traces.files {
            for form in DetectionForm.allCases {
                let result = try measure(file, form, traces.rowCount, session)
                table.add(result.row)
                session.record(result.object)
                session.didStep()
            }
        }
        session.say(["", "traces: from the opening of the file, which is in memory, to the last event"] + table.lines)
    }

    private func measure(
        _ file: (format: String, path: String, byteCount: Int), _ form: DetectionForm, _ rowCount: Int,
        _ session: Session
    ) throws(BenchError) -> TraceResult {
        session.arena.removeAll()
        let pattern = file.format == "csv" ? AccessPattern.stream : .samples
        let reading = Reading(pattern, byteCount: min(file.byteCount, session.arena.byteCount / 2), in: session.arena)
        let run = TraceRun(path: file.path, settings: form.settings)
        let outcome = try run.play()
        guard outcome.sampleCount == rowCount else {
            throw .wrongResult("\(file.format), \(outcome.sampleCount) of \(rowCount) rows")
        }
        let limits = reading.variants(session.machine.instructionSets)
        let play = Variant("play") { times in
            for _ in 0..<times { Sink.take(UInt64((try? run.play())?.eventCount ?? 0)) }
        }
        let times = try session.rounds.measure(limits + [play], isCancelled: session.isCancelled)
        let limit = times.dropLast().min { $0.median < $1.median } ?? Spread([0])
        session.unrest.note(limit, at: MemoryLevel(name: "DRAM", byteCount: reading.byteCount))
        return TraceResult(
            format: file.format, form: form, rowCount: rowCount, byteCount: file.byteCount,
            eventCount: outcome.eventCount, nanoseconds: times[times.count - 1],
            limitRate: Double(reading.byteCount) / limit.median)
    }
}
