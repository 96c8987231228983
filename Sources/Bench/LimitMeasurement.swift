import Binnacle
import Kernels
import PlainText

/// How fast the machine reads memory, in the patterns in which the kernels do.
struct LimitMeasurement: Measurement {
    func stepCount(_ levels: [MemoryLevel]) -> Int { levels.count * AccessPattern.allCases.count }

    func run(_ session: Session) throws(BenchError) {
        var table = TextTable(["read, GB/s", "bytes"] + AccessPattern.allCases.map(\.title))
        for level in session.levels {
            var row = [level.name, ByteText.text(level.byteCount)]
            for pattern in AccessPattern.allCases {
                let rate = try measure(pattern, level, session)
                row.append(NumberText.text(rate, decimals: 1))
                session.didStep()
            }
            table.add(row)
        }
        session.say([""] + table.lines)
    }

    /// - Returns: Bytes a nanosecond with the best instruction set.
    private func measure(_ pattern: AccessPattern, _ level: MemoryLevel, _ session: Session) throws(BenchError)
        -> Double
    {
        session.arena.removeAll()
        let data = Reading(pattern, byteCount: level.byteCount, in: session.arena)
        let variants = data.variants(session.machine.instructionSets)
        let times = try session.rounds.measure(variants, isCancelled: session.isCancelled)
        var best = 0.0
        for (variant, time) in zip(variants, times) {
            let rate = Double(data.byteCount) / time.median
            best = max(best, rate)
            var object = JSONObject()
            object.add("type", "limit")
            object.add("pattern", pattern.rawValue)
            object.add("level", level.name)
            object.add("bytes", count: data.byteCount)
            object.add("instruction_set", variant.label)
            object.add("gb_per_s", number: rate)
            object.add("ns", time)
            session.record(object)
        }
        if let quickest = times.min(by: { $0.median < $1.median }) { session.unrest.note(quickest, at: level) }
        return best
    }
}
