import Binnacle
import PlainText

/// What became of a replay, for programs: one JSON object on one line.
package struct ReplayReport {
    /// The recordings, as they were named.
    package let recordings: [String]
    /// The exit status that a replay of these recordings alone has.
    package let status: ExitStatus
    /// Why it failed, in words; `nil` when it did not.
    package let reason: String?
    /// What was played; `nil` when nothing was.
    package let summary: ReplaySummary?

    /// The report of a replay that took place.
    package init(_ recordings: [String], _ status: ExitStatus, _ failures: [StationError], _ summary: ReplaySummary) {
        self.recordings = recordings
        self.status = status
        reason = failures.isEmpty ? nil : failures.map(\.description).joined(separator: "; ")
        self.summary = summary
    }

    /// The report of a replay that did not begin.
    package init(_ recordings: [String], refusedBecause error: StationError) {
        self.recordings = recordings
        status = error.status
        reason = error.description
        summary = nil
    }

    /// The line: `kind` is `recording.replayed` or `recording.failed`, `seconds` how long was recorded.
    ///
    /// Several recordings that were played together are one, with their names in `recordings`.
    package var json: String {
        var object = JSONObject()
        if recordings.count == 1 {
            object.add("recording", recordings[0])
        } else {
            object.add("recordings", list: recordings.map(JSONObject.quoted))
        }
        object.add("kind", status == .ok ? "recording.replayed" : "recording.failed")
        object.add("status", raw: String(status.rawValue))
        object.add("reason", reason)
        object.add("samples", raw: String(summary?.sampleCount ?? 0))
        var skipped = JSONObject()
        for (cause, count) in (summary?.skippedCounts ?? [:]).sorted(by: { $0.key < $1.key }) {
            skipped.add(cause, raw: String(count))
        }
        object.add("skipped", raw: skipped.text)
        object.add("events", raw: String(summary?.eventCounts.values.reduce(0, +) ?? 0))
        let recorded = summary?.timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        object.add("seconds", raw: Figure.Value.number(recorded, decimals: 3).description)
        return object.text
    }
}
