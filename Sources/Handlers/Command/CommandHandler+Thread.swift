package import Binnacle
import LinuxSystem

extension CommandHandler: DeliveringHandler {
    /// What its queue has room for.
    package var deliveryLimit: Int { CommandSupervisor.capacity(settings) }

    /// Has the program run for each of the events.
    package func deliver(_ deliveries: [Delivery]) {
        for delivery in deliveries { run(delivery.event, ticket: delivery.ticket) }
    }

    /// Takes no more events; for half of the time programs go on and are started, then they are asked to end.
    package func end(within duration: Duration) {
        requestStop(within: duration)
    }

    /// Whether a supervisor that was told to stop has done so, or never began.
    package var hasEnded: Bool { queue.map { $0.unrunCount != nil } ?? true }

    /// How many events wait for their program, or for the end of it.
    package var unfinishedCount: Int { queue?.unfinishedCount ?? 0 }

    /// Waits until no program is left, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that no program was run for.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        guard let queue else { return 0 }
        while true {
            if let count = queue.unrunCount { return count }
            let left = SystemClock.milliseconds(until: deadlineNanoseconds, atMost: 1000)
            guard left > 0 else { return 0 }
            queue.waitForChange(timeoutMilliseconds: left)
        }
    }
}
