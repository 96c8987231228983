import Binnacle
import Foundation
import Handlers
import MQTT
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// A handler that publishes to a broker, with what it reports and acknowledges; ended with this object.
final class MQTTRun: HandlerRun {
    let reports = Reports()
    let acknowledged = Tickets()
    /// What the handler's thread had used of a processor when it made its first report, in nanoseconds; 0 before.
    var processorNanoseconds: Int64 { processorTime.nanoseconds }
    private let processorTime = ProcessorTime()
    let handler: ThreadedHandler
    private let gauge = Gauge()
    /// The state of the connection.
    var statistics: MQTTFigures { gauge.figures }

    /// What the publisher has told of its connection.
    private final class Gauge: Sendable {
        private let state = Mutex(MQTTFigures())
        var figures: MQTTFigures { state.withLock { $0 } }
        func note(_ figures: MQTTFigures) { state.withLock { $0 = figures } }
    }

    /// The tickets of what was acknowledged, in that order.
    final class Tickets: Sendable {
        private let list = Mutex<[Int64]>([])
        var all: [Int64] { list.withLock { $0 } }
        func add(_ ticket: Int64) { list.withLock { $0.append(ticket) } }
    }

    /// The time of the thread that asks first.
    private final class ProcessorTime: Sendable {
        private let time = Mutex<Int64>(0)
        var nanoseconds: Int64 { time.withLock { $0 } }
        func note() {
            var now = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
            let nanoseconds = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
            time.withLock { if $0 == 0 { $0 = nanoseconds } }
        }
    }

    /// Starts a handler with short times.
    init(
        _ port: Int, name: String = "fleet", host: String = "127.0.0.1", usesTLS: Bool = false, capacity: Int = 4096,
        history: (any EventHistory)? = nil,
        change: (inout MQTTSettings, inout MQTTTimes) -> Void = { _, _ in }
    ) throws {
        var settings = MQTTSettings(host: host, port: port, usesTLS: usesTLS, clientID: "binnacle-\(name)")
        settings.statusTopic = "status"
        var times = MQTTTimes()
        times.pauses.first = 20_000_000
        times.pauses.longest = 100_000_000
        times.lasting = 200_000_000
        change(&settings, &times)
        let acknowledged = acknowledged
        let reports = reports
        let processorTime = processorTime
        let gauge = gauge
        let topics = MQTTPublisher.Topics(event: { "events/\($0.kind.rawValue)" }, state: { "states/\($0)" })
        handler = try ThreadedHandler(
            name: name, MQTTPublisher.plan(settings, topics, capacity: capacity, times: times, observe: gauge.note),
            history: history,
            report: {
                processorTime.note()
                reports.add($0)
            }, acknowledge: { acknowledged.add($0) })
    }

    deinit {
        end(within: .zero)
    }

    func waitUntilConnected() throws {
        try waitUntil("a connection; told: \(reasons)") { statistics.connectedSinceNanoseconds != nil }
    }
}

/// Events with the numbers of a range, which begin and end a motion in turn.
func motions(_ numbers: ClosedRange<UInt64>) -> [Event] {
    numbers.map { event($0, kind: $0 % 2 == 1 ? .motionBegan : .motionEnded) }
}

func deliveries(_ numbers: ClosedRange<UInt64>) -> [Delivery] {
    motions(numbers).map { Delivery(event: $0, ticket: Int64($0.sequence)) }
}

extension Subscriber {
    /// The numbers of the events that came, in their order, each as often as it came.
    var numbers: [UInt64] {
        messages.filter { $0.topic.hasPrefix("events/") }.compactMap { try? Event(json: $0.payload).sequence }
    }

    func waitForNumber(_ number: UInt64) throws {
        try wait("event \(number)") { $0.contains { $0.payload.hasPrefix("{\"seq\":\(number),") } }
    }
}

extension [UInt64] {
    /// The elements, each where it stands first.
    var firstTimes: [UInt64] {
        var seen: Set<UInt64> = []
        return filter { seen.insert($0).inserted }
    }
}

extension MQTTSettings {
    /// The settings of a broker.
    init(host: String, port: Int, usesTLS: Bool, clientID: String) {
        self.init()
        (self.host, self.port, self.usesTLS, self.clientID) = (host, port, usesTLS, clientID)
    }
}
