package import Binnacle

/// What a replay came to, for people.
package struct ReplaySummary {
    /// The number of samples that were offered to the detectors.
    package var sampleCount = 0
    /// The first and the last stamp, in nanoseconds.
    package var timeRange: ClosedRange<Int64>?
    /// The number of events, by kind.
    package var eventCounts: [EventKind: Int] = [:]
    /// For each north detector, how many accelerometer samples had a heading, and why the others had none.
    package var headings: [(detector: String, valid: Int, faults: [HeadingFault: Int])] = []
    /// The motion detectors that had not seen the end of a motion.
    package var stillMoving: [String] = []
    /// What was passed over in the traces, one line each.
    package var repairs: [String] = []
    /// The first places where something was passed over.
    package var repairNotices: [String] = []
    /// How long the replay took, in seconds.
    package var elapsedSeconds = 0.0
    /// Whether a person cancelled it.
    package var isCancelled = false

    /// The summary as lines.
    package var lines: [String] {
        var lines = [headline]
        for kind in EventKind.allCases {
            if let count = eventCounts[kind] { lines.append("  \(count) × \(kind.rawValue)") }
        }
        if eventCounts.isEmpty { lines.append("  no event") }
        for name in stillMoving { lines.append("  \(name): still moving when the trace ended") }
        lines += headings.flatMap(Self.headingLines)
        lines += repairs.map { "  " + $0 }
        return lines
    }

    private var headline: String {
        let recorded = timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        var line = "\(isCancelled ? "cancelled after" : "replayed") \(sampleCount) samples, "
        line += "\(Self.number(recorded, 1)) s recorded, in \(Self.number(elapsedSeconds, 3)) s"
        if elapsedSeconds > 0 {
            line += " (\(Self.number(recorded / elapsedSeconds, recorded > 10 * elapsedSeconds ? 0 : 1)) × real time)"
        }
        return line
    }

    private static func headingLines(_ heading: (detector: String, valid: Int, faults: [HeadingFault: Int])) -> [String]
    {
        let all = heading.valid + heading.faults.values.reduce(0, +)
        guard all > 0 else { return ["  \(heading.detector): no sample to find a heading at"] }
        let share = number(100 * Double(heading.valid) / Double(all), 1)
        var lines = ["  \(heading.detector): a heading at \(share) % of the samples"]
        for fault in HeadingFault.allCases {
            if let count = heading.faults[fault] { lines.append("    none at \(count): \(fault.rawValue)") }
        }
        return lines
    }

    private static func number(_ value: Double, _ decimals: Int) -> String {
        Figure.Value.number(value, decimals: decimals).description
    }
}
