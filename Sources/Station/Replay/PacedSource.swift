import Binnacle
import Glibc

/// Hands over another source's samples when their time has come.
final class PacedSource: SampleSource {
    private let source: any SampleSource
    private let speed: Double
    private let isCancelled: () -> Bool
    /// The first stamp, and the clock's time when it was handed over.
    private var start: (sampleNanoseconds: Int64, clockNanoseconds: Int64)?

    init(_ source: any SampleSource, speed: Double, isCancelled: @escaping () -> Bool) {
        self.source = source
        self.speed = speed
        self.isCancelled = isCancelled
    }

    var streams: [SampleStream] { source.streams }

    /// Waits until the delivery's last sample is due; a cancellation ends the wait and hands nothing over.
    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        let answer = source.fill(delivery)
        guard let due = delivery.lastTimeNanoseconds else { return answer }
        guard let start else {
            start = (due, Self.now())
            return answer
        }
        let ahead = Units.seconds(from: start.sampleNanoseconds, to: due) * 1e9 / speed
        // A gap of years would overflow the clock; nobody waits that long.
        let target = Double(start.clockNanoseconds) + ahead
        while Double(Self.now()) < target {
            guard !isCancelled() else {
                delivery.removeAll()
                return .pending
            }
            Self.sleep(nanoseconds: min(target - Double(Self.now()), 1e9))
        }
        return answer
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func sleep(nanoseconds: Double) {
        guard nanoseconds > 0 else { return }
        var time = timespec(tv_sec: Int(nanoseconds / 1e9), tv_nsec: Int(nanoseconds) % 1_000_000_000)
        nanosleep(&time, nil)
    }
}
