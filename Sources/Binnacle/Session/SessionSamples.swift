import Synchronization

/// The samples of one stream of a session: pushed as an asynchronous sequence, and pulled as the ``latest``.
///
///     let samples = session.samples(of: .accelerometer, from: "lid")
///     for try await batch in samples { print(batch.samples.count, batch.lostCount) }
///
/// The sequence is for one task. It begins with the first delivery after the first iteration, ends with the session, and throws what
/// ended that, or an error that names the sensors that there are when the source does not have the wanted one. At most a number of
/// deliveries wait. Beyond it a recording waits for the task, see ``SensorSession``; of devices, the oldest are dropped, and
/// ``StreamedSamples/lostCount`` of the next one says how many samples they had.
/// Cancelling the task that iterates ends the sequence alone.
public struct SessionSamples: AsyncSequence, Sendable {
    let session: SensorSession
    let reader: SampleReader

    /// The newest sample that the session has had since this object was made; `nil` before the first.
    ///
    /// On any thread, without waiting. It does not start the session.
    public var latest: Sample? { reader.latest }

    /// Makes an iterator, whose first call starts the session.
    public func makeAsyncIterator() -> Iterator {
        Iterator(session: session, reader: reader, reading: .init(reader.handover))
    }

    /// Iterates over the deliveries; for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let session: SensorSession
        let reader: SampleReader
        let reading: Handover<SampleReader.Placed, SensorSessionError>.Reading

        /// Waits for the next delivery.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: Its samples; `nil` at the end.
        /// - Throws: ``SensorSessionError``, once; afterwards the result is `nil`.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SensorSessionError) -> StreamedSamples? {
            // Before the start: the session may be ahead of this task, and would leave out its first deliveries.
            reader.startQueueing()
            session.start()
            return try await reader.next()
        }
    }
}

/// What a session's thread and a reader of its samples share.
final class SampleReader: SessionReader {
    /// Samples, and the number of samples of the stream before them.
    struct Placed: Sendable {
        let place: UInt64
        let samples: StreamedSamples
    }

    let kind: SampleKind
    let sensor: String?
    let isRaw: Bool
    let handover: Handover<Placed, SensorSessionError>
    private let state = Mutex(State())

    private struct State {
        var latest: Sample?
        /// The number of samples so far.
        var count: UInt64 = 0
        /// The place of the sample that the task gets next when none is dropped; `nil` without a task that iterates, for
        /// which nothing is queued.
        var place: UInt64?
    }

    init(kind: SampleKind, sensor: String?, isRaw: Bool, capacity: Int) {
        self.kind = kind
        self.sensor = sensor
        self.isRaw = isRaw
        handover = Handover(
            capacity: capacity,
            overflow: .dropOldest { _, last in Placed(place: 0, samples: StreamedSamples(last.samples.origin)) })
    }

    var latest: Sample? { state.withLock(\.latest) }

    func attach(to setup: SensorSession.Setup, _ taps: inout SessionTaps, onLeaving: @escaping () -> Void) throws {
        let stream = try setup.requiredStream(of: kind, named: sensor)
        let mayWait = setup.mayWait
        let tap = SampleTap([(stream.id, SampleOrigin(stream).raw(isRaw))]) { [weak self] origin, columns in
            guard let self else { return onLeaving() }
            receive(columns, of: origin, mayWait)
        }
        if isRaw { taps.raw.append(tap) } else { taps.corrected.append(tap) }
    }

    func finish(_ failure: SensorSessionError?) { handover.finish(failure) }

    /// Queues what is delivered from now on.
    func startQueueing() {
        // What is dropped before the task awaits the first delivery counts as well.
        state.withLock { $0.place = $0.place ?? $0.count }
    }

    /// Waits for the next samples, for the task that iterates.
    func next() async throws(SensorSessionError) -> StreamedSamples? {
        while let placed = try await handover.next().get() {
            // A mark of what was dropped, which the next place says as well.
            guard !placed.samples.samples.isEmpty else { continue }
            var samples = placed.samples
            samples.lostCount = state.withLock { state in
                let expected = state.place ?? placed.place
                state.place = max(expected, placed.place + UInt64(samples.samples.count))
                // Of two tasks, the one with the earlier samples may come later.
                return Int(max(expected, placed.place) - expected)
            }
            return samples
        }
        return nil
    }

    /// Takes the samples of a delivery, at least one; on the session's thread.
    private func receive(_ columns: SampleColumns, of origin: SampleOrigin, _ mayWait: () -> Bool) {
        let place = state.withLock { state -> UInt64? in
            defer { state.count += UInt64(columns.count) }
            state.latest = columns.sample(columns.count - 1)
            return state.place == nil ? nil : state.count
        }
        guard let place else { return }
        let samples = (0..<columns.count).map(columns.sample)
        _ = handover.offer(Placed(place: place, samples: StreamedSamples(origin, samples: samples)), while: mayWait)
    }
}
