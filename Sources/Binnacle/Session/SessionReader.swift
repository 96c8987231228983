import Synchronization

/// What reads a part of a session, while its owner keeps it.
protocol SessionReader: AnyObject, Sendable {
    /// Takes what it reads, on the session's thread; called again whenever a reader has come or gone.
    ///
    /// - Parameters:
    ///   - setup: The session's source and detectors.
    ///   - taps: Where it adds what the pipeline is to pass on to it.
    ///   - onLeaving: Called when its last owner has gone.
    /// - Throws: That the session does not have what it reads.
    func attach(to setup: SensorSession.Setup, _ taps: inout SessionTaps, onLeaving: @escaping () -> Void) throws
    /// Ends what it reads, on any thread, with the failure that ended it.
    func finish(_ failure: SensorSessionError?)
}

/// What a session's readers have in its pipeline.
struct SessionTaps {
    var corrected: [SampleTap] = []
    var raw: [SampleTap] = []
}

/// What a part of a session, such as a detector, hands over to one task.
final class PartReader<Element: Sendable>: SessionReader {
    typealias Attach = @Sendable (SensorSession.Setup, _ take: @escaping (Element) -> Bool) throws -> Void

    let handover: Handover<Element, SensorSessionError>
    private let attach: Attach
    private let isAttached = Atomic(false)
    private let newest = Mutex<Element?>(nil)

    /// The newest element; `nil` before the first.
    var latest: Element? { newest.withLock { $0 } }

    init(capacity: Int, mark: @escaping @Sendable (_ count: Int, _ last: Element) -> Element, attach: @escaping Attach)
    {
        handover = Handover(capacity: capacity, overflow: .dropOldest(mark: mark))
        self.attach = attach
    }

    func attach(to setup: SensorSession.Setup, _ taps: inout SessionTaps, onLeaving: @escaping () -> Void) throws {
        guard !isAttached.exchange(true, ordering: .relaxed) else { return }
        try attach(setup) { [weak self, mayWait = setup.mayWait] element in
            guard let self else { return false }
            newest.withLock { $0 = element }
            // Behind the end of the sequence the newest one is still pulled.
            _ = handover.offer(element, while: mayWait)
            return true
        }
    }

    func finish(_ failure: SensorSessionError?) { handover.finish(failure) }
}

/// What a session gives, for one task.
package struct SessionSequence<Element: Sendable>: AsyncSequence, Sendable {
    package typealias Failure = SensorSessionError

    let session: SensorSession
    let handover: Handover<Element, SensorSessionError>
    /// What the sequence keeps; `nil` for the events of the session, whose end is that of the session.
    let reader: PartReader<Element>?

    /// The newest element that its reader was given; `nil` before the first.
    package var latest: Element? { reader?.latest }

    package func makeAsyncIterator() -> Iterator { Iterator(sequence: self, reading: .init(handover)) }

    package struct Iterator: AsyncIteratorProtocol {
        let sequence: SessionSequence
        let reading: Handover<Element, SensorSessionError>.Reading

        package mutating func next() async throws(SensorSessionError) -> Element? {
            try await sequence.session.next(of: sequence.handover, endsSession: sequence.reader == nil)
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SensorSessionError) -> Element? {
            try await next()
        }
    }
}
