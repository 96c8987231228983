import Binnacle
import LinuxSystem
import PlainText

/// The way of live samples, from a pipe to a delegate, beside a bare read of a pipe.
struct LiveMeasurement: Measurement {
    /// How many scans come at once.
    private static let batches = [1, 16, 128]

    func stepCount(_ levels: [MemoryLevel]) -> Int { Self.batches.count + 1 }

    func run(_ session: Session) throws(BenchError) {
        let bare = try BarePipe()
        let forms = try DetectionForm.allCases.map { form throws(BenchError) in (form, try LiveRun(form.settings)) }
        let clock = ClockCost()
        var table = TextTable(
            ["batch", "read ns", "epoll + read ns"] + DetectionForm.allCases.flatMap { ["\($0.label) ns", "× read"] }
                + ["spread"])
        for batch in Self.batches {
            let variants =
                [
                    bare.variant("read", batch: batch, waits: false, clock: clock),
                    bare.variant("epoll_read", batch: batch, waits: true, clock: clock),
                ] + forms.map { form, run in run.variant(form.rawValue, batch: batch, clock: clock) }
            let times = try session.options.liveRounds.measure(variants, isCancelled: session.isCancelled).map {
                $0.scaled(by: 1 / Double(batch))
            }
            var row = [String(batch)] + times[..<2].map { NumberText.nanoseconds($0.median) }
            for time in times[2...] {
                row += [
                    NumberText.nanoseconds(time.median), NumberText.text(time.median / times[0].median, decimals: 2),
                ]
            }
            row.append("+\(NumberText.percent((times.map(\.unrest).max() ?? 1) - 1)) %")
            table.add(row)
            for (variant, time) in zip(variants, times) {
                session.record(Self.object(variant.label, batch: batch, time, read: times[0]))
            }
            session.didStep()
        }
        session.say(
            ["", "live: from a pipe through epoll, read, decode and detection to the delegate; 16 bytes a sample"]
                + table.lines)
        try count(forms, session)
        session.didStep()
    }

    private static func object(_ form: String, batch: Int, _ time: Spread, read: Spread) -> JSONObject {
        var object = JSONObject()
        object.add("type", "live")
        object.add("form", form)
        object.add("batch", count: batch)
        object.add("ns_per_sample", time)
        object.add("times_bare_read", number: time.median / read.median)
        return object
    }

    /// Counts what happens for each event and each batch.
    private func count(_ forms: [(DetectionForm, LiveRun)], _ session: Session) throws(BenchError) {
        for (form, run) in forms {
            let tally = LiveTally(run, batch: 16)
            session.record(tally.object(form.rawValue))
            session.say(["\(form.label): \(tally.text)"])
        }
    }
}
