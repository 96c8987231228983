import Glibc
import Kernels

/// The way of the samples: asks a source, offers what it delivers to the detectors, and flushes the router.
///
/// Everything happens on the thread that calls ``turn()`` or ``run(while:)``, in one direction.
package final class Pipeline {
    /// Where the samples come from.
    package let source: any SampleSource
    /// What looks at the samples, in the order in which it speaks about one sample.
    package var detectors: [any DrivenDetector] { working }
    private var working: [any DrivenDetector]
    /// What is given the samples before calibrations correct them; none while no reader wants them.
    package var beforeCorrection: [SampleTap] {
        get { taps }
        set { taps = newValue }
    }
    private var taps: [SampleTap] = []
    /// What turns the detectors' words into events.
    package let router: Router
    /// The number of samples offered so far.
    package var sampleCount: Int { offeredCount }
    private var offeredCount = 0
    /// What has become of each stream's samples, in the order of the streams.
    package var statistics: [StreamStatistics] { monitors.map(\.statistics) }
    /// The first and the last stamp offered so far, in nanoseconds.
    package var timeRange: ClosedRange<Int64>? {
        firstTimeNanoseconds <= lastTimeNanoseconds ? firstTimeNanoseconds...lastTimeNanoseconds : nil
    }
    private var firstTimeNanoseconds = Int64.max
    private var lastTimeNanoseconds = Int64.min

    private let capacity: Int
    /// What is asked for samples: the source, or the only one that a group of sources has.
    private var asked: any SampleSource
    private var delivery: SampleDelivery
    /// Whether ``delivery`` is empty, so that it need not be emptied before the next turn.
    private var isClear = false
    private var monitors: [StreamMonitor]
    /// The streams that failed and have not delivered since.
    private var failed: Set<StreamID> = []

    /// The caller sets the detectors' delegates; `capacity` never changes what is found.
    package init(
        source: any SampleSource, detectors: [any DrivenDetector], router: Router = Router(), capacity: Int = 4096
    ) {
        self.source = source
        asked = source
        working = detectors
        self.router = router
        self.capacity = capacity
        delivery = SampleDelivery(streams: [], capacity: capacity)
        monitors = []
        updateStreams()
    }

    /// Adopts the streams that the source has now, and other detectors; streams and detectors that stay keep their state.
    ///
    /// Called between two turns, after the source was changed. The caller starts the new detectors and stops those that
    /// are gone.
    package func change(detectors: [any DrivenDetector]) {
        router.flush(upTo: nil)
        working = detectors
        updateStreams()
    }

    private func updateStreams() {
        let streams = source.streams
        asked = (source as? any SourceGroup)?.onlySource ?? source
        failed.formIntersection(streams.map(\.id))
        monitors = streams.map { stream in
            monitors.first { $0.stream.id == stream.id } ?? StreamMonitor(stream: stream, limit: .seconds(1))
        }
        delivery = SampleDelivery(streams: streams, capacity: capacity)
        router.watch(only: streams.map(\.sensor))
    }

    /// Whether a detector looks at samples: it was started, and nothing that it needs has failed.
    package func isWorking(_ detector: any DrivenDetector) -> Bool {
        detector.isDetecting && !detector.lacksReadings && detector.streams.allSatisfy { !failed.contains($0.id) }
    }

    /// Begins the statistics of some sensors' streams again after a pause that was meant: it is no gap.
    package func resume(_ sensors: [Sensor]) {
        for index in monitors.indices where sensors.contains(where: { $0 === monitors[index].stream.sensor }) {
            monitors[index].resume()
        }
    }

    /// Asks the source once and offers what it delivered.
    ///
    /// A failure deactivates its sensors and is told to them and to the detectors that need them.
    package func turn() -> SampleAnswer {
        // A constant, because each access of a variable counts references.
        let delivery = delivery
        if !isClear { delivery.removeAll() }
        isClear = false
        var answer = asked.fill(delivery)
        switch answer {
        case .pending where delivery.isEmpty && delivery.losses.isEmpty && delivery.rests.isEmpty:
            // A source answers so once for each delivery of a device.
            isClear = true
            return answer
        case .samples, .pending, .ended: if let failure = stampFailure() { answer = failure }
        case .failed: break
        }
        offer(delivery)
        switch answer {
        case .failed(let streams, let reason): lose(streams, because: reason)
        case .ended:
            for detector in detectors { detector.sourceDidEnd() }
            router.flush(upTo: nil)
        default: break
        }
        return answer
    }

    /// The failure of the streams whose stamps fell; `nil` when none did.
    private func stampFailure() -> SampleAnswer? {
        guard delivery.batches.contains(where: { $0.stampError != nil }) else { return nil }
        var streams: [SampleStream] = []
        var reason: StampOrderError?
        for (index, batch) in delivery.batches.enumerated() {
            guard let error = batch.stampError else { continue }
            streams.append(monitors[index].stream)
            reason = reason ?? error
        }
        return reason.map { .failed(streams, reason: $0) }
    }

    /// Deactivates the sensors that have no stream left, and reports it.
    private func lose(_ streams: [SampleStream], because reason: any Error) {
        let ids = Set(streams.map(\.id))
        failed.formUnion(ids)
        var lost: [Sensor] = []
        for sensor in monitors.map(\.stream).filter({ ids.contains($0.id) }).map(\.sensor)
        where !lost.contains(where: { $0 === sensor }) {
            let own = source.streams.filter { $0.sensor === sensor && !$0.isOptional }
            if own.allSatisfy({ failed.contains($0.id) }) { lost.append(sensor) }
        }
        let absent = lost.filter { $0.isAbsence(reason) }
        if !absent.isEmpty { leaveOut(absent) }
        let failures = streams.filter { !$0.sensor.isAbsent }
        Sensor.deactivate(lost.filter { !$0.isAbsent }, because: reason)
        if !failures.isEmpty { for detector in detectors { detector.didLose(failures, because: reason) } }
        router.flush(upTo: nil)
    }

    /// Stops the detectors of sensors that may be missing and that the machine does not have, without an event.
    private func leaveOut(_ absent: [Sensor]) {
        for sensor in absent { sensor.becomeAbsent() }
        router.lastActiveCount = router.activeSensors.count
        for detector in detectors
        where detector.streams.contains(where: { $0.sensor.isAbsent && !$0.isOptional }) {
            detector.stopDetection()
        }
    }

    /// Asks until the source has ended, then tells the handlers that nothing more will come.
    ///
    /// - Parameters:
    ///   - goesOn: Asked before each turn; `false` ends the run early, with everything found so far told.
    ///   - afterTurn: Told the source's answer after each turn.
    package func run(
        while goesOn: () -> Bool = { true }, afterTurn: (SampleAnswer) -> Void = { _ in }
    ) {
        while goesOn() {
            let answer = turn()
            afterTurn(answer)
            if answer.isEnd { break }
            if case .pending = answer { source.wait() }
        }
        router.finish()
    }

    /// Processes the samples of a delivery; those of a calibrated sensor are corrected in place.
    package func offer(_ delivery: SampleDelivery) {
        if !delivery.rests.isEmpty { takeRests(of: delivery) }
        guard let last = delivery.lastTimeNanoseconds else {
            if !delivery.losses.isEmpty {
                reportLosses(of: delivery)
                router.flush(upTo: nil)
            }
            if !delivery.rests.isEmpty {
                for detector in working { detector.process(delivery) }
                router.flush(upTo: nil)
            }
            return
        }
        if !failed.isEmpty { welcomeBack(delivery) }
        if !delivery.losses.isEmpty { reportLosses(of: delivery) }
        for tap in taps { tap.process(delivery) }
        for index in delivery.batches.indices {
            let batch = delivery.batches[index]
            guard !batch.isEmpty else { continue }
            let monitor = monitors[index]
            if monitor.sensor.isCalibrated, let axes = monitor.sensor.calibration?.axes(of: monitor.kind) {
                batch.calibrate(axes)
            }
            offeredCount += batch.count
            firstTimeNanoseconds = min(firstTimeNanoseconds, batch.columns.times[0])
            monitor.process(batch.columns, at: index)
        }
        lastTimeNanoseconds = max(lastTimeNanoseconds, last)
        for detector in working { detector.process(delivery) }
        // Behind the detectors, which may ask a sensor for its last sample before these.
        for index in delivery.batches.indices {
            if let end = delivery.batches[index].lastTimeNanoseconds { monitors[index].sensor.didDeliver(upTo: end) }
        }
        router.flush(upTo: last)
    }

    /// A stream that delivers after it failed makes its sensor active again.
    private func welcomeBack(_ delivery: SampleDelivery) {
        for (monitor, batch) in zip(monitors, delivery.batches) where !batch.isEmpty {
            if failed.remove(monitor.stream.id) != nil, !monitor.stream.isOptional { monitor.stream.sensor.activate() }
        }
    }

    /// A rest is no gap: the first sample after it is taken for the first one.
    private func takeRests(of delivery: SampleDelivery) {
        for rest in delivery.rests {
            guard let index = delivery.index(of: rest.stream) else { continue }
            switch rest.phase {
            case .reported: continue
            case .began, .ended: monitors[index].resume()
            }
            monitors[index].sensor.rest(rest.phase)
        }
    }

    private func reportLosses(of delivery: SampleDelivery) {
        for loss in delivery.losses {
            guard let index = delivery.index(of: loss.stream) else { continue }
            monitors[index].count(loss)
            let stream = monitors[index].stream
            let position = loss.timeNanoseconds.map {
                SamplePosition(timeNanoseconds: $0, streamIndex: index, sampleIndex: -1)
            }
            stream.sensor.delegate?.sensor(stream.sensor, didLose: loss, of: stream.kind, at: position)
        }
    }

    /// Waits a millisecond.
    package static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
        nanosleep(&time, nil)
    }
}

/// Watches one stream: counts its samples, and reports interruptions to its sensor's delegate.
///
/// The detectors restart after a gap by themselves; this reports each gap once.
final class StreamMonitor {
    private(set) var statistics: StreamStatistics
    let sensor: Sensor
    let kind: SampleKind
    private let limitNanoseconds: Int64
    private var lastTimeNanoseconds: Int64?
    /// The samples that the rate is taken from: the stamp before the first, and how many there are.
    private var window: (startNanoseconds: Int64, count: Int)?

    /// How long samples are counted for a rate.
    private static let windowNanoseconds: Int64 = 1_000_000_000

    init(stream: SampleStream, limit: Duration) {
        statistics = StreamStatistics(stream: stream)
        sensor = stream.sensor
        kind = stream.kind
        limitNanoseconds = Units.nanoseconds(limit)
    }

    var stream: SampleStream { statistics.stream }

    /// Takes the next sample for the first one.
    func resume() {
        lastTimeNanoseconds = nil
        window = nil
    }

    /// Counts samples that the source knows to be lost.
    func count(_ loss: SampleLoss) {
        statistics.lossCount += 1
        statistics.lostSampleCount += loss.count ?? 0
    }

    /// Looks at the stream's samples, at least one, which stand at a place in the delivery.
    func process(_ columns: SampleColumns, at place: Int) {
        var counted = 0
        if let last = lastTimeNanoseconds, isGap(from: last, to: columns.times[0], limit: limitNanoseconds) {
            report(from: last, to: columns, 0, place)
            counted = 1
        }
        var start = 1
        while start < columns.count {
            let index = firstGap(in: columns.times, range: start..<columns.count, longerThan: limitNanoseconds)
            if index < columns.count {
                report(from: columns.times[index - 1], to: columns, index, place)
                counted = index + 1
            }
            start = index + 1
        }
        measure(columns, from: counted)
    }

    /// Counts the samples, and takes the rate from those from an index on.
    private func measure(_ columns: SampleColumns, from index: Int) {
        let last = columns.times[columns.count - 1]
        lastTimeNanoseconds = last
        statistics.lastTimeNanoseconds = last
        statistics.sampleCount += columns.count
        let (start, count) = window ?? (columns.times[0], -1)
        window = (start, count + columns.count - index)
        let length = last - start
        guard length >= Self.windowNanoseconds else { return }
        statistics.rateHz = Double(count + columns.count - index) / (Double(length) * 1e-9)
        window = (last, 0)
    }

    private func report(from start: Int64, to columns: SampleColumns, _ index: Int, _ place: Int) {
        let end = columns.times[index]
        statistics.gapCount += 1
        // What comes after an interruption has a rate of its own.
        window = (end, 0)
        sensor.delegate?.sensor(
            sensor, didResumeAfter: SampleGap(kind: kind, startNanoseconds: start, endNanoseconds: end),
            at: SamplePosition(timeNanoseconds: end, streamIndex: place, sampleIndex: index))
    }
}
