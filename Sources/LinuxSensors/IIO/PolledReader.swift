import Binnacle

/// Delivers the readings of a poller.
final class PolledReader: SensorReader {
    let poller: IIOPoller
    private let updateNanoseconds: Int64
    private var waiting: [PolledScan] = []
    private var next = 0
    private var lastTimeNanoseconds: Int64
    /// The number of failed readings in a row of each stream.
    private var missed = InlineArray<3, Int>(repeating: 0)

    private(set) var lastArrivalNanoseconds: Int64

    init(_ poller: IIOPoller, updateInterval: Duration, now: Int64, floor: Int64?) {
        self.poller = poller
        updateNanoseconds = Units.nanoseconds(updateInterval)
        lastArrivalNanoseconds = now
        lastTimeNanoseconds = floor ?? .min
    }

    deinit {
        poller.stop()
    }

    var descriptor: Int32? { nil }
    var deadlineNanoseconds: Int64? { nil }
    var intervalNanoseconds: Double? { Double(updateNanoseconds) }
    /// The poller reports failures; without a report it waits for a driver.
    var stallNanoseconds: Int64? { max(10_000_000_000, 3 * min(updateNanoseconds, 1_000_000_000_000)) }

    /// Takes a reading; returns the streams that could not be read, and whether each counts as failed from now on.
    ///
    /// Nothing is returned of a stream that counts as failed already.
    func accept(
        _ reading: PolledScan, arrival: Int64
    ) -> [(stream: Int, failure: SensorFailure, hasFailed: Bool)] {
        waiting.append(reading)
        lastArrivalNanoseconds = arrival
        for stream in 0..<3 where !reading.misses(stream) { missed[stream] = 0 }
        var news: [(stream: Int, failure: SensorFailure, hasFailed: Bool)] = []
        for (stream, failure) in reading.failures {
            missed[stream] += 1
            guard missed[stream] <= IIOPoller.mostMissed else { continue }
            news.append((stream, failure, missed[stream] == IIOPoller.mostMissed))
        }
        return news
    }

    /// Records a failed reading, which shows that the poller is running.
    func recordMissed(arrival: Int64) {
        lastArrivalNanoseconds = arrival
    }

    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool {
        while next < waiting.count, !places.contains(where: { delivery.batches[$0].isFull }) {
            let reading = waiting[next]
            next += 1
            lastTimeNanoseconds = max(lastTimeNanoseconds, reading.timeNanoseconds)
            for (stream, index) in places.enumerated() where !reading.misses(stream) {
                let axes = reading.axes[stream]
                delivery.batches[index].append(timeNanoseconds: lastTimeNanoseconds, x: axes.x, y: axes.y, z: axes.z)
            }
        }
        guard next == waiting.count else { return true }
        waiting.removeAll(keepingCapacity: true)
        next = 0
        return false
    }

    func takeNotice() -> String? { nil }
}
