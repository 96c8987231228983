import PosixCalls

/// Sensors that no device measures: their samples come from a model of a movement when a clock says that they are due.
///
/// Stamps stand on a grid that begins at the start and does not drift. A sample is never of the future. After a
/// stop of more than ten seconds there is no backlog: the source continues with the present, and there is a gap.
public final class SimulatedSource: ClockedSource {
    /// The streams, in the order of the pipeline.
    public let streams: [SampleStream]

    /// One stream with its next sample.
    private struct Track {
        let stream: SampleStream
        let model: MotionModel
        var grid: SampleGrid
        /// What collects samples, so that one wake-up serves many; `nil` delivers each when it is due.
        let period: PollingPeriod?
        var nextIndex: Int64 = 0
        /// Its place in the delivery.
        var place: Int?
    }
    /// In the order of ``streams``.
    private var tracks: [Track]
    private let clock: (() -> Int64)?

    /// A stream that is further behind skips what it has missed: longer than a busy machine keeps a program waiting, and so
    /// short that the backlog of a program that was stopped is computed at once.
    private static let mostBehindNanoseconds: Int64 = 10_000_000_000

    /// Creates a source; every sensor in it is authorised, because there is no device to open.
    ///
    /// - Parameters:
    ///   - sensors: For each sensor, made with `isSimulated`, what it measures and how it moves.
    ///   - startNanoseconds: The stamp of the first sample of every stream.
    ///   - clock: What time it is now, on the clock of the stamps; without one, samples come as soon as they are asked for.
    /// - Precondition: ``SimulationSettings/problems()`` finds none, and no sensor measures a kind twice.
    package init(
        _ sensors: [(sensor: Sensor, kinds: [SampleKind], settings: SimulationSettings)], startNanoseconds: Int64,
        clock: (() -> Int64)?
    ) {
        self.clock = clock
        streams = SampleStream.ordered(sensors.flatMap { item in item.kinds.map { (item.sensor, $0) } })
        tracks = streams.compactMap { stream in
            let item = sensors.first { $0.sensor === stream.sensor && $0.kinds.contains(stream.kind) }
            return item.map { item in
                Track(
                    stream: stream, model: MotionModel(item.settings),
                    grid: SampleGrid(startNanoseconds: startNanoseconds, rateHz: item.settings.rateHz),
                    period: PollingPeriod(
                        latency: item.settings.latency, rateHz: item.settings.rateHz, isStamped: true))
            }
        }
        for sensor in sensors { sensor.sensor.authorizationStatus = .authorized }
    }

    /// Creates a source of one sensor whose samples come in real time, with stamps of CLOCK_MONOTONIC.
    ///
    /// - Parameters:
    ///   - model: How it moves.
    ///   - sensor: The sensor's name; `nil` is that of the model.
    ///   - kinds: What it measures, each kind once.
    ///   - rateHz: Samples a second, of each stream.
    /// - Precondition: `rateHz` is from 0.1 to 1000000.
    public convenience init(
        _ model: SimulationSettings.Model, sensor: String? = nil, kinds: [SampleKind] = SampleKind.allCases,
        rateHz: Double = 100
    ) {
        var settings = SimulationSettings()
        settings.model = model
        settings.rateHz = rateHz
        self.init(
            [(Sensor(name: sensor ?? model.rawValue, isSimulated: true), kinds, settings)],
            startNanoseconds: SystemClock.monotonic(), clock: SystemClock.monotonic)
    }

    package var isClocked: Bool { clock != nil }

    /// Continues at the position of another source, for the streams that both have.
    package func resume(_ other: SimulatedSource) {
        for index in tracks.indices {
            let stream = tracks[index].stream
            guard let known = other.tracks.first(where: { $0.stream.id == stream.id }) else { continue }
            tracks[index].grid = known.grid
            tracks[index].nextIndex = known.nextIndex
        }
    }

    /// When the next sample is due, with those that follow it in its period; `nil` without streams.
    package var nextDueNanoseconds: Int64? {
        tracks.lazy.map { track in
            let time = track.grid.timeNanoseconds(at: track.nextIndex)
            return track.period?.end(after: time) ?? time
        }.min()
    }

    /// Delivers the samples that are due, as many as fit.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        let now = clock?() ?? .max
        // The order of all samples ends where the first batch is full.
        var end = SamplePosition(timeNanoseconds: now, streamIndex: .max, sampleIndex: .max)
        for index in tracks.indices {
            tracks[index].place = delivery.index(of: tracks[index].stream.id)
            if clock != nil { skipBacklog(&tracks[index], now) }
            let last = tracks[index].nextIndex + Int64(delivery.capacity) - 1
            end = min(end, Self.position(tracks[index], last))
        }
        var isAnyDelivered = false
        for index in tracks.indices {
            guard let place = tracks[index].place else { continue }
            let batch = delivery.batches[place]
            Self.move(&tracks[index], upTo: end, into: batch)
            if !batch.isEmpty { isAnyDelivered = true }
        }
        return isAnyDelivered ? .samples : .pending
    }

    private func skipBacklog(_ track: inout Track, _ now: Int64) {
        let due = track.grid.timeNanoseconds(at: track.nextIndex)
        guard Units.later(due, by: Self.mostBehindNanoseconds) < now else { return }
        track.nextIndex = max(track.nextIndex, track.grid.lastIndex(notAfter: now))
    }

    private static func position(_ track: Track, _ index: Int64) -> SamplePosition {
        SamplePosition(
            timeNanoseconds: track.grid.timeNanoseconds(at: index), streamIndex: track.place ?? .max, sampleIndex: 0)
    }

    private static func move(_ track: inout Track, upTo end: SamplePosition, into batch: SampleBatch) {
        while !batch.isFull {
            let position = position(track, track.nextIndex)
            guard position <= end else { return }
            let vector = track.model.sample(track.stream.kind, at: track.nextIndex)
            batch.append(timeNanoseconds: position.timeNanoseconds, x: vector.x, y: vector.y, z: vector.z)
            track.nextIndex += 1
        }
    }
}
