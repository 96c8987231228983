package import Binnacle
package import LinuxSystem
import Synchronization

/// Publishes the events of a replay: nothing is dropped while the broker keeps up, and the end waits for the broker.
///
/// What goes wrong is said in lines for people.
package final class SequentialMQTTHandler: EventHandler {
    private let name: String
    private let handler: MQTTHandler
    private let reasons: Reasons
    private let log: LineWriter
    private let isCancelled: () -> Bool
    private var lostCount = 0

    private final class Reasons: Sendable {
        let list = Mutex<[String]>([])
    }

    /// How long a broker may say nothing before the rest is given up.
    private static let patience: Duration = .seconds(15)

    /// Starts to connect.
    ///
    /// - Parameters:
    ///   - name: What messages call the handler.
    ///   - settings: The broker.
    ///   - topic: The topic of an event.
    ///   - stateTopic: The topic of a sensor's state; `nil` when no states are published.
    ///   - log: Where it is said what went wrong.
    ///   - isCancelled: Asked while the broker is waited for; `true` gives up the rest.
    /// - Throws: ``SystemError`` when there is no thread left.
    package init(
        name: String, settings: MQTTSettings, topic: @escaping @Sendable (Event) -> String,
        stateTopic: (@Sendable (_ sensor: String) -> String)?, log: LineWriter, isCancelled: @escaping () -> Bool
    ) throws(SystemError) {
        let reasons = Reasons()
        self.reasons = reasons
        self.name = name
        self.log = log
        self.isCancelled = isCancelled
        handler = try MQTTHandler(
            name: name, settings: settings, topic: topic, stateTopic: stateTopic,
            report: { event in
                guard case .text(let reason)? = event.figure(.reason) else { return }
                reasons.list.withLock { $0.append(reason) }
            },
            acknowledge: { _ in })
    }

    /// Has the event published; waits when too many wait already.
    package func handle(_ event: Event) {
        if !waits(until: { self.handler.offer(event) }) { lostCount += 1 }
        tell()
    }

    /// Waits until everything is published, as long as there is progress.
    package func finish() {
        _ = waits { self.handler.statistics.isIdle }
        handler.end(within: .seconds(1))
        lostCount += handler.waitForEnd(until: SystemClock.monotonic() + 1_500_000_000)
        tell()
        if lostCount > 0 { log.write("\(name): \(lostCount) events were not published") }
    }

    /// Waits for a condition, as long as the broker acknowledges something now and then.
    private func waits(until isCase: () -> Bool) -> Bool {
        var count = handler.statistics.publishedCount
        var end = ContinuousClock.now + Self.patience
        while !isCase() {
            // Once is enough: who has waited for a broker in vain does not wait for it at each event.
            guard lostCount == 0, !isCancelled(), ContinuousClock.now < end else { return false }
            handler.waitForChange(timeoutMilliseconds: 10)
            if handler.statistics.publishedCount != count {
                count = handler.statistics.publishedCount
                end = ContinuousClock.now + Self.patience
            }
        }
        return true
    }

    private func tell() {
        let told = reasons.list.withLock { list in
            defer { list = [] }
            return list
        }
        for reason in told { log.write("\(name): \(reason)") }
    }
}
