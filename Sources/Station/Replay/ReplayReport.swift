import Binnacle
import PlainText
package import Traces

/// The result of a replay as one line of JSON.
package struct ReplayReport {
    /// The recordings, as they were named.
    package let recordings: [String]
    /// The exit status of a replay of these recordings alone.
    package let status: ExitStatus
    /// Why it failed; `nil` after success.
    package let reason: String?
    /// The summary; `nil` when the replay did not begin.
    package let summary: ReplaySummary?

    /// The report of a replay that ran.
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

    private var kind: String { status == .ok ? "recording.replayed" : "recording.failed" }
    private var skippedCounts: [(key: String, value: Int)] {
        (summary?.skippedCounts ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    private var eventCount: Int { summary?.eventCounts.values.reduce(0, +) ?? 0 }
    private var seconds: Double {
        summary?.timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
    }

    package func add(to table: EventTable, as name: String?) {
        table.add(
            kind: kind, status: Int64(status.rawValue), reason: reason, sampleCount: Int64(summary?.sampleCount ?? 0),
            skippedCounts: skippedCounts.map { ($0.key, Int64($0.value)) }, eventCount: Int64(eventCount),
            seconds: seconds, of: name)
    }

    /// The line: `kind` is `recording.replayed` or `recording.failed`, `seconds` the recorded duration.
    ///
    /// Recordings that were played together make one line, with their names in `recordings`.
    package var json: String {
        var object = JSONObject()
        if recordings.count == 1 {
            object.add("recording", recordings[0])
        } else {
            object.add("recordings", list: recordings.map(JSONObject.quoted))
        }
        object.add("kind", kind)
        object.add("status", raw: String(status.rawValue))
        object.add("reason", reason)
        object.add("samples", raw: String(summary?.sampleCount ?? 0))
        var skipped = JSONObject()
        for (cause, count) in skippedCounts {
            skipped.add(cause, raw: String(count))
        }
        object.add("skipped", raw: skipped.text)
        object.add("events", raw: String(eventCount))
        object.add("seconds", raw: seconds.text(3))
        return object.text
    }
}
