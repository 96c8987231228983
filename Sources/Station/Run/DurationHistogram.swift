import Binnacle
import PlainText

/// A histogram of the run times of programs.
struct DurationHistogram {
    static let limits = [0.01, 0.1, 1, 10, 60]

    private var counts = Array(repeating: 0, count: limits.count)
    private var count = 0
    private var sumSeconds = 0.0

    mutating func record(_ seconds: Double) {
        guard seconds.isFinite, seconds >= 0 else { return }
        count += 1
        sumSeconds += seconds
        for (place, limit) in Self.limits.enumerated() where seconds <= limit { counts[place] += 1 }
    }

    /// JSON; `buckets` are pairs of a limit in seconds and a cumulative count.
    var text: String {
        var object = JSONObject()
        object.add("buckets", list: zip(Self.limits, counts).map { "[\($0),\($1)]" })
        object.add("sum_s", raw: Figure.Value.number(sumSeconds, decimals: 3).description)
        object.add("count", raw: String(count))
        return object.text
    }
}
