import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// How restless the machine was while it was measured, and whether its figures can be trusted.
struct Unrest {
    /// How far the median of reading alone lay above its best pass, where that was worst, as a ratio.
    private(set) var worst: Double?
    /// How often something else ran on the processor in our place.
    var switchCount: Int { Self.switches() - switchesAtStart }
    /// How much of the time the machine below this one gave to somebody else; `nil` when it does not say.
    var stolenShare: Double? {
        guard let start = ticksAtStart, let now = Self.ticks(ofProcessor: processor), now.all > start.all else {
            return nil
        }
        return Double(now.stolen - start.stolen) / Double(now.all - start.all)
    }

    /// How much of the time the processor did not work for this process, which never waits.
    var awayShare: Double {
        let wall = Double(SystemClock.monotonic() - startNanoseconds)
        return wall > 0 ? max(0, 1 - (Self.processorSeconds() - processorSecondsAtStart) * 1e9 / wall) : 0
    }

    private let processor: Int?
    private let switchesAtStart = Self.switches()
    private let startNanoseconds = SystemClock.monotonic()
    private let processorSecondsAtStart = Self.processorSeconds()
    private let ticksAtStart: Ticks?

    /// Above this the median is no longer what the machine can do.
    static let mostUnrest = 1.15
    /// Somebody else may have so much of the time without being noticed.
    static let mostAway = 0.1

    init(processor: Int?) {
        self.processor = processor
        ticksAtStart = Self.ticks(ofProcessor: processor)
    }

    /// Takes note of how the passes of reading alone lay.
    ///
    /// The third level is left out: others use it as well, on every machine.
    mutating func note(_ limit: Spread, at level: MemoryLevel) {
        guard !level.isShared else { return }
        worst = max(worst ?? 1, limit.unrest)
    }

    /// Whether figures should be measured again.
    var isTooNoisy: Bool { (worst ?? 1) > Self.mostUnrest || max(awayShare, stolenShare ?? 0) > Self.mostAway }

    /// What to think of the figures.
    var sentence: String {
        var reasons: [String] = []
        if let worst {
            reasons.append("the same reading took up to \(NumberText.percent(worst - 1)) % longer than at its best")
        }
        let shares = [(awayShare, "other programs"), (stolenShare ?? 0, "other machines")]
        for (share, who) in shares {
            reasons.append("\(NumberText.text(share * 100, decimals: 1)) % of the time went to \(who)")
        }
        let text = reasons.joined(separator: ", ")
        return isTooNoisy
            ? "The machine was too noisy to trust these figures: \(text)." : "The machine was quiet enough: \(text)."
    }

    /// The same for a program.
    var object: JSONObject {
        var object = JSONObject()
        object.add("type", "noise")
        object.add("is_too_noisy", raw: isTooNoisy ? "true" : "false")
        object.add("worst_median_to_best", number: worst)
        object.add("away_percent", number: awayShare * 100)
        object.add("stolen_percent", number: stolenShare.map { $0 * 100 })
        object.add("involuntary_switches", count: switchCount)
        object.add("sentence", sentence)
        return object
    }

    private struct Ticks {
        let all: Int
        let stolen: Int
    }

    private static func switches() -> Int { Int(usage().ru_nivcsw) }

    private static func processorSeconds() -> Double {
        let usage = usage()
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func usage() -> rusage {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage
    }

    /// The times of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
    private static func ticks(ofProcessor processor: Int?) -> Ticks? {
        guard let text = SmallFile.text("/proc/stat") else { return nil }
        let name = processor.map { "cpu\($0)" } ?? "cpu"
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.first.map(String.init) == name, words.count > 8 else { continue }
            let times = words[1...8].compactMap { Int($0) }
            guard times.count == 8 else { return nil }
            return Ticks(all: times.reduce(0, +), stolen: times[7])
        }
        return nil
    }
}
