import Binnacle

/// The length of a counter or a clock that times were written from, which begins again at its end.
struct CounterLap {
    let nanoseconds: Int64
    let words: String

    private var isHour: Bool { nanoseconds == 3_600_000_000_000 }

    /// Arduino's `micros` and `millis` have 32 bits, MicroPython's `ticks_us` and `ticks_ms` 30, and timers of small chips 16.
    private static let all = [
        CounterLap(nanoseconds: 1_000 << 32, words: "counters of microseconds in 32 bits"),
        CounterLap(nanoseconds: 1_000_000 << 32, words: "counters of milliseconds in 32 bits"),
        CounterLap(nanoseconds: 1_000 << 30, words: "counters of microseconds in 30 bits"),
        CounterLap(nanoseconds: 1_000_000 << 30, words: "counters of milliseconds in 30 bits"),
        CounterLap(nanoseconds: 1_000_000 << 16, words: "counters of milliseconds in 16 bits"),
        CounterLap(
            nanoseconds: 3_600_000_000_000, words: "minutes without hours, and clocks at the end of summer time,"),
        CounterLap(nanoseconds: 86_400_000_000_000, words: "seconds of a day"),
        CounterLap(nanoseconds: 604_800_000_000_000, words: "seconds of a week"),
    ]

    /// The counter that ended between two times; `nil` where a recording began again.
    ///
    /// With a date, the time may be that of the day before until its date follows; so such a clock only loses an hour.
    /// A thousandth of the length is a long step for a sensor, and the end of a counter is a rare place to begin again.
    static func ended(between last: Int64, and next: Int64, ofClock isClock: Bool) -> CounterLap? {
        let (fall, isBeyond) = last.subtractingReportingOverflow(next)
        guard next < last, !isBeyond else { return nil }
        return all.first { lap in
            fall < lap.nanoseconds && fall > lap.nanoseconds - lap.nanoseconds / 1_000 && (lap.isHour || !isClock)
        }
    }
}
