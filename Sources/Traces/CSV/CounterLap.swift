import Binnacle

/// The length of a counter or a clock that times were written from, which begins again at its end.
struct CounterLap {
    let nanoseconds: Int64
    let words: String

    /// What a clock loses that is set back at the end of summer time; with a date, a longer step back may only wait for its date.
    static let hour = CounterLap(
        nanoseconds: 3_600_000_000_000, words: "minutes without hours, and clocks at the end of summer time,")

    /// Arduino's `micros` and `millis` have 32 bits, MicroPython's `ticks_us` and `ticks_ms` 30, and timers of small chips 16.
    static let all = [
        CounterLap(nanoseconds: 1_000 << 32, words: "counters of microseconds in 32 bits"),
        CounterLap(nanoseconds: 1_000_000 << 32, words: "counters of milliseconds in 32 bits"),
        CounterLap(nanoseconds: 1_000 << 30, words: "counters of microseconds in 30 bits"),
        CounterLap(nanoseconds: 1_000_000 << 30, words: "counters of milliseconds in 30 bits"),
        CounterLap(nanoseconds: 1_000_000 << 16, words: "counters of milliseconds in 16 bits"),
        hour,
        CounterLap(nanoseconds: 86_400_000_000_000, words: "seconds of a day"),
        CounterLap(nanoseconds: 604_800_000_000_000, words: "seconds of a week"),
    ]

    /// Whether a time may be the first one behind the counter's end.
    ///
    /// A thousandth of the length is a long step for a sensor, and the end of a counter is a rare place to begin again.
    func mayEnd(between last: Int64, and next: Int64) -> Bool {
        let (fall, isBeyond) = last.subtractingReportingOverflow(next)
        return !isBeyond && fall < nanoseconds && fall > nanoseconds - nanoseconds / 1_000
    }
}
