import Binnacle
import PlainText

/// Counts events by detector or sensor and by kind, for `binnacle status`.
final class EventCounters: EventHandler {
    private struct Source: Hashable {
        let detector: String?
        let sensor: String?
        let kind: EventKind
    }

    private var counts: [Source: Int] = [:]

    /// Bounds memory: each reload may bring new names.
    private static let most = 1000

    /// Counts an event by its detector, or by its sensor if it has no detector.
    func handle(_ event: Event) {
        let source = Source(
            detector: event.detector, sensor: event.detector == nil ? event.sensor : nil, kind: event.kind)
        if counts[source] == nil, counts.count >= Self.most { return }
        counts[source, default: 0] += 1
    }

    /// The counts as JSON objects, sorted by name and kind.
    var objects: [String] {
        let rows = counts.sorted { left, right in
            func key(_ source: Source) -> (String, String, String) {
                (source.detector ?? "", source.sensor ?? "", source.kind.rawValue)
            }
            return key(left.key) < key(right.key)
        }
        return rows.map { source, count in
            var object = JSONObject()
            object.add("detector", source.detector)
            object.add("sensor", source.sensor)
            object.add("kind", source.kind.rawValue)
            object.add("count", raw: String(count))
            return object.text
        }
    }
}
