import Binnacle
import Foundation
import Handlers
import LinuxSensors
import Station
import Synchronization
import TestSupport
import Testing

private let second: Int64 = 1_000_000_000

/// A source that answers as a script says; each wait ends at its deadline, or a second later without one.
private final class ScriptedSource: SampleLoopSource {
    enum Step {
        /// A sample that comes so many seconds after the start.
        case sample(Double)
        case nothing
        case failure(any Error)
        case notice(String)
    }

    let streams: [SampleStream]
    var nanoseconds: Int64 = 0
    var isSettled = true
    /// The deadlines of all waits, in seconds.
    var waits: [Double?] = []
    /// Called in each wait.
    var didWait: () -> Void = {}
    private var steps: [Step]
    private var notices: [String] = []

    init(_ steps: [Step]) {
        self.steps = steps
        streams = [SampleStream(sensor: Sensor(name: "box"), kind: .accelerometer)]
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !steps.isEmpty else { return .ended }
        switch steps.removeFirst() {
        case .nothing: return .pending
        case .failure(let reason): return .failed(streams, reason: reason)
        case .sample(let seconds):
            nanoseconds = max(nanoseconds, Int64(seconds * 1e9))
            delivery.batches[0].append(timeNanoseconds: nanoseconds, x: 0, y: 0, z: 9.81)
            return .samples
        case .notice(let text):
            notices.append(text)
            return .pending
        }
    }

    func isDrained(after answer: SampleAnswer) -> Bool { if case .pending = answer { true } else { false } }

    func wait(until deadlineNanoseconds: Int64?) {
        waits.append(deadlineNanoseconds.map { Double($0) / 1e9 })
        nanoseconds = deadlineNanoseconds ?? nanoseconds + second
        didWait()
    }

    func takeNotices() -> [String] {
        defer { notices = [] }
        return notices
    }
}

/// Writes down what a session tells it.
private final class Witness: SampleLoopDelegate {
    var words: [String] = []
    var deadline: Int64?
    /// Whether flushes are written down, too.
    var notesFlushes = false
    /// Called after each turn.
    var didTurn: (SampleLoop, SampleAnswer) -> Void = { _, _ in }

    func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        switch answer {
        case .samples: words.append("samples")
        case .pending: words.append("pending")
        case .failed: words.append("failed")
        case .ended: words.append("ended")
        }
        didTurn(session, answer)
    }

    func sessionDidBegin(_ session: SampleLoop) { words.append("begin") }
    func sessionShouldFlush(_ session: SampleLoop) { if notesFlushes { words.append("flush") } }
    func session(_ session: SampleLoop, didNotice notice: String) { words.append(notice) }
    func sessionWillWait(_ session: SampleLoop) { words.append("wait") }
    func sessionNextDeadline(_ session: SampleLoop) -> Int64? { deadline }
}

private final class WitnessedView: ProgressView {
    var isDrawn = false
    func draw(fraction: Double?) { isDrawn = true }
    func clear() { isDrawn = false }
}

/// The signal that a test sends.
private final class TestSignal: Sendable {
    private let received = Atomic<Int32>(0)

    func send(_ signal: Int32) { received.store(signal, ordering: .relaxed) }
    var interruption: Interruption { Interruption(signal: { self.received.load(ordering: .relaxed) }) }
}

@Suite struct SessionTests {
    private let witness = Witness()

    /// Runs a session over a source.
    private func run(
        _ source: ScriptedSource, indicator: ProgressIndicator? = nil,
        _ change: (inout SampleLoop.Settings) -> Void = { _ in },
        taking take: @escaping (SampleDelivery) -> Void = { _ in }
    ) -> SampleLoop {
        var settings = SampleLoop.Settings()
        settings.clock = { source.nanoseconds }
        change(&settings)
        let session = SampleLoop(source, capacity: 4, settings: settings, indicator: indicator, take: take)
        session.delegate = witness
        session.run()
        witness.words.append("end")
        return session
    }

    @Test func aSourceIsTurnedToItsEndAndWaitedForWhenItHasNothing() {
        let source = ScriptedSource([.sample(1), .nothing, .sample(2)])
        var times: [Int64] = []
        let session = run(
            source,
            taking: { delivery in
                for index in 0..<delivery.batches[0].count { times.append(delivery.batches[0][index].timeNanoseconds) }
            })
        #expect(witness.words == ["samples", "pending", "wait", "samples", "ended", "end"])
        #expect(times == [second, 2 * second])
        #expect(source.waits == [nil])
        #expect(session.failures.isEmpty && !session.isCancelled && !session.isOver)
    }

    @Test func aDurationCountsFromTheFirstTurn() {
        let source = ScriptedSource(Array(repeating: .nothing, count: 9))
        let session = run(source) { $0.duration = .seconds(5) }
        #expect(witness.words == ["pending", "wait", "end"])
        #expect(source.waits == [5])
        #expect(session.isOver && !session.isCancelled)
    }

    @Test func aDurationMayCountFromTheFirstSamples() {
        let source = ScriptedSource([.nothing, .sample(3), .nothing, .nothing])
        let session = run(source) {
            $0.duration = .seconds(5)
            $0.start = .firstSamples
        }
        #expect(witness.words == ["pending", "wait", "samples", "begin", "pending", "wait", "end"])
        #expect(source.waits == [nil, 8])
        #expect(session.beginNanoseconds == 3 * second)
    }

    @Test(arguments: [true, false])
    func aDurationMayCountFromWhenAllSensorsAreOpen(_ isSettled: Bool) {
        let source = ScriptedSource([.nothing, .nothing])
        source.isSettled = isSettled
        source.didWait = { [unowned source] in source.isSettled = true }
        let session = run(source) {
            $0.duration = .seconds(5)
            $0.start = .settled
        }
        let begins = isSettled ? ["pending", "begin"] : ["pending", "wait", "pending", "begin"]
        #expect(witness.words == begins + ["wait", "end"])
        #expect(session.beginNanoseconds == (isSettled ? 0 : second))
    }

    @Test func aDeadlineThatIsSetInBetweenEndsTheSession() {
        let source = ScriptedSource(Array(repeating: .nothing, count: 9))
        witness.didTurn = { session, _ in session.deadlineNanoseconds = session.deadlineNanoseconds ?? 7 * second }
        #expect(run(source).isOver)
        #expect(source.waits == [7])
    }

    @Test func theDelegateMayWantATurnBeforeTheDeadline() {
        let source = ScriptedSource([.nothing, .nothing, .nothing])
        witness.deadline = 2 * second
        witness.didTurn = { [witness] _, _ in if source.nanoseconds >= 2 * second { witness.deadline = nil } }
        _ = run(source) { $0.duration = .seconds(3) }
        #expect(source.waits == [2, 3])
    }

    @Test(arguments: [2, 15] as [Int32])
    func aSignalEndsTheSessionBeforeItWaitsAgain(_ number: Int32) {
        let signal = TestSignal()
        let source = ScriptedSource(Array(repeating: .nothing, count: 9))
        source.didWait = { [unowned source] in if source.waits.count == 2 { signal.send(number) } }
        let session = run(source) { $0.interruption = signal.interruption }
        #expect(witness.words == ["pending", "wait", "pending", "wait", "end"])
        #expect(session.isCancelled && session.failures.isEmpty)
        #expect(signal.interruption.exitStatus.rawValue == 128 + number)
    }

    @Test func aSignalDuringATurnIsSeenBeforeTheWaitThatItWouldHaveEnded() {
        let signal = TestSignal()
        let source = ScriptedSource([.nothing, .nothing])
        witness.didTurn = { _, _ in signal.send(2) }
        _ = run(source) { $0.interruption = signal.interruption }
        #expect(witness.words == ["pending", "end"])
        #expect(source.waits.isEmpty)
    }

    @Test func aPipeThatASignalEndsCountsAsCancelled() {
        let signal = TestSignal()
        witness.didTurn = { _, answer in if answer.isEnd { signal.send(2) } }
        #expect(run(ScriptedSource([])) { $0.interruption = signal.interruption }.isCancelled)
    }

    @Test(arguments: [2, 15] as [Int32])
    func aSignalWhileARecordingIsOpenedIsNoFaultOfTheRecording(_ number: Int32) throws {
        // An MCAP file whose topics are nowhere.
        let file = try TemporaryFile(Data([0x89] + "MCAP0\r\n".utf8 + [0x7F, 0, 0, 0, 0, 0, 0, 0, 0]))
        let signal = TestSignal()
        func refusal() throws -> StationError {
            try #require(throws: StationError.self) {
                try Assembly(playing: TraceSet([file.path]), interruption: signal.interruption)
            }
        }
        #expect(try refusal().status == .data)
        signal.send(number)
        let error = try refusal()
        #expect(error.status.rawValue == 128 + number && error.description.contains("cancelled"))
    }

    @Test func aCancelledIndicatorEndsTheSession() {
        let view = WitnessedView()
        let indicator = ProgressIndicator(view: view)
        var wasDrawn = false
        witness.didTurn = { _, _ in
            wasDrawn = view.isDrawn
            indicator.cancel()
        }
        let session = run(ScriptedSource([.sample(1), .sample(2)]), indicator: indicator)
        #expect(witness.words == ["samples", "end"])
        #expect(session.isCancelled && wasDrawn && !view.isDrawn)
    }

    @Test func refusalsAreThoseBeforeTheFirstSampleEachOnce() {
        let denied = SensorFailure(.permission, "no right to read it")
        let busy = SensorFailure(.busy, "another program has it open")
        let session = run(ScriptedSource([.failure(denied), .failure(denied), .sample(1), .failure(busy)]))
        #expect(session.refusals.all.map(\.sensor) == ["box"])
        #expect(session.refusals.are([.permission]) && !session.refusals.are([.missing]))
        let failure = session.refusals.failure(session.refusals.all)
        #expect(failure.status == .noPermission)
        #expect(failure.description == "box: no right to read it")
        // A failure of a sensor ends nothing by itself.
        #expect(session.failures.isEmpty)
    }

    @Test func anotherRefusalThanAMissingRightIsAMissingDevice() {
        let session = run(ScriptedSource([.failure(SensorFailure(.busy, "another program has it open"))]))
        #expect(session.refusals.denied.isEmpty)
        #expect(session.refusals.failure(session.refusals.all).status == .unavailable)
    }

    @Test func failuresAreKeptOnceAndTheFirstOneCounts() {
        witness.didTurn = { session, answer in
            if case .failed(_, let reason) = answer { session.add(reason) }
        }
        let damage = StationError(.data, "line 7")
        let session = run(
            ScriptedSource([
                .failure(damage), .failure(damage), .failure(SensorFailure(.silent, "silent")), .sample(1),
            ]))
        #expect(session.failures.map(\.description) == ["line 7", "silent"])
        #expect(session.failures.map(\.status) == [.data, .inputOutput])
        #expect(witness.words.last == "end" && witness.words.contains("samples"))
    }

    @Test func aFailureOfTheDelegateEndsTheSessionAfterTheTurn() {
        witness.didTurn = { session, _ in session.end(StationError(.unavailable, "enough")) }
        let session = run(ScriptedSource([.sample(1), .sample(2)]))
        #expect(witness.words == ["samples", "end"])
        #expect(session.failures.map(\.description) == ["enough"])
    }

    @Test func withoutAnIntervalEachTurnIsFlushed() {
        witness.notesFlushes = true
        _ = run(ScriptedSource([.sample(1), .nothing]))
        #expect(witness.words == ["samples", "flush", "pending", "flush", "wait", "ended", "end"])
    }

    @Test func samplesAreFlushedAnIntervalAfterTheFirstOneThatWaits() {
        witness.notesFlushes = true
        let source = ScriptedSource([
            .nothing, .sample(10), .sample(10.5), .nothing, .nothing, .sample(20), .nothing, .nothing,
        ])
        _ = run(source) { $0.flushInterval = .seconds(1) }
        // Nothing waits to be flushed in the first wait and after the first flush.
        #expect(source.waits == [nil, 11, nil, 21, nil])
        #expect(witness.words.filter { $0 == "flush" }.count == 2)
        #expect(
            witness.words == [
                "pending", "wait", "samples", "samples", "pending", "wait", "pending", "flush", "wait", "samples",
                "pending", "wait", "pending", "flush", "wait", "ended", "end",
            ])
    }

    @Test func noticesAreToldBeforeTheFlush() {
        witness.notesFlushes = true
        _ = run(ScriptedSource([.notice("the clock of box is wrong")]))
        #expect(witness.words.prefix(3) == ["pending", "the clock of box is wrong", "flush"])
    }

    @Test func aPipelineIsTurnedAsWell() {
        let source = ScriptedSource([.sample(1), .nothing, .sample(2)])
        let pipeline = Pipeline(source: source, detectors: [])
        let session = SampleLoop(pipeline, source: source, settings: SampleLoop.Settings())
        session.delegate = witness
        session.run()
        #expect(pipeline.sampleCount == 2)
        #expect(witness.words.last == "ended")
    }
}
