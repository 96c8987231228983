import BenchSupport
import EventSocket
import Synchronization

/// What live readings cost the daemon: nothing without a subscriber, and what one subscriber at 10 Hz adds.
///
/// Short stretches without and with the subscriber alternate in one process, so that what else the machine does meets both.
struct ReadingsMeasurement {
    let binary: String
    let seconds: Int

    private static let stretchSeconds = 2

    private struct Cost {
        var shares: [Int64] = []
        var wakeUps: [Int64] = []

        /// The median share of a core, in percent, and of the wake-ups a second.
        var text: String {
            "\(decimal(Double(percentile(shares, 0.5)) / 1e5, 2)) % of one core, "
                + "\(decimal(Double(percentile(wakeUps, 0.5)) / 1e3, 1)) wake-ups a second"
        }
    }

    func run() {
        let daemon = Daemon(binary) { tree in
            Daemon.sensors + """
                [socket]
                path = "\(tree.root)/socket"

                """
        }
        let path = daemon.tree.root + "/socket"
        daemon.feed(hertz: 100, seconds: 3)
        var (before, without, with) = (Cost(), Cost(), Cost())
        let rounds = max(3, seconds / (2 * Self.stretchSeconds))
        // Before there has ever been a subscriber.
        for _ in 0..<rounds { measure(daemon, into: &before) }
        var lineCount = 0
        for _ in 0..<rounds {
            let subscriber = Subscriber(path, seconds: Self.stretchSeconds + 1)
            subscriber.waitForReadings()
            measure(daemon, into: &with)
            // Until the daemon knows that the subscriber is gone.
            daemon.feed(hertz: 100, seconds: 2)
            lineCount += subscriber.end()
            measure(daemon, into: &without)
        }
        daemon.end()
        say(
            "live readings, two sensors at 100 Hz, medians of \(rounds) stretches of \(Self.stretchSeconds) s: before the first "
                + "subscriber \(before.text); with one at 10 Hz \(with.text); after it \(without.text); \(lineCount) lines read"
        )
    }

    private func measure(_ daemon: Daemon, into cost: inout Cost) {
        let (share, rate) = daemon.cost { daemon.feed(hertz: 100, seconds: Self.stretchSeconds) }
        cost.shares.append(Int64(share * 1e5))
        cost.wakeUps.append(Int64(rate * 1e3))
    }
}

/// A subscriber of readings on a thread of its own.
private final class Subscriber {
    private final class Count: Sendable {
        let lines = Atomic(0)
    }

    private let count = Count()
    private let thread: Feeder

    init(_ path: String, seconds: Int) {
        let count = count
        thread = Feeder {
            let end = monotonic() + Int64(seconds) * 1_000_000_000
            do throws(EventSubscriptionError) {
                let connection = try SocketConnection(path: path)
                try connection.send(#"{"subscribe":{"readings":{"interval_s":0.1}}}"#)
                while monotonic() < end, try connection.readLine(deadline: end) != nil {
                    count.lines.add(1, ordering: .relaxed)
                }
            } catch {
                // Nothing more in time, which is how it ends.
            }
        }
    }

    func waitForReadings() {
        while count.lines.load(ordering: .relaxed) < 3 { sleepUntil(monotonic() + 1_000_000) }
    }

    /// Waits for its end; returns how many lines it has read.
    func end() -> Int {
        thread.wait()
        return count.lines.load(ordering: .relaxed)
    }
}
