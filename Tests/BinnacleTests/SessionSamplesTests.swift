import Binnacle
import BinnacleTesting
import SensorGeometry
import Synchronization
import Testing

/// Samples of a session: pushed in order with what was dropped, and pulled.
@Suite(.timeLimit(.minutes(5))) struct SessionSamplesTests {
    /// A source of two sensors that delivers in pieces when it is allowed to.
    private final class GatedSource: SampleSource {
        let streams: [SampleStream]
        /// With one, it is that of a device, which waits for no reader.
        let wakeUp: (@Sendable () -> Void)?
        private let gate: Gate
        private var count = 0

        init(_ gate: Gate, isRecording: Bool, calibration: SensorCalibration?) {
            self.gate = gate
            if isRecording { wakeUp = nil } else { wakeUp = {} }
            streams = [
                SampleStream(sensor: Sensor(name: "lid", calibration: calibration), kind: .accelerometer),
                SampleStream(sensor: Sensor(name: "base"), kind: .accelerometer),
            ]
        }

        func fill(_ delivery: SampleDelivery) -> SampleAnswer {
            guard let wanted = gate.next(after: count) else { return .ended }
            guard wanted > count else { return .pending }
            // Three at a time.
            let end = min(count + 3, wanted)
            for number in count..<end {
                for stream in streams {
                    delivery[stream.id]?.append(timeNanoseconds: Int64(number), x: Float(number % 1000), y: 0, z: 9.8)
                }
            }
            count = end
            return .samples
        }
    }

    /// How many samples the source may have delivered.
    private final class Gate: Sendable {
        private let limit = Atomic(0)
        private let given = Atomic(0)
        private let isOpen = Atomic(true)

        func allow(_ count: Int) { limit.store(count, ordering: .sequentiallyConsistent) }
        func allowAll() { allow(.max) }
        func end() { isOpen.store(false, ordering: .sequentiallyConsistent) }

        /// Waits until the session has asked again after so many; the tasks of other tests run meanwhile.
        func waitUntilGiven(_ count: Int) async throws {
            while given.load(ordering: .sequentiallyConsistent) < count { try await Task.sleep(for: .milliseconds(1)) }
        }

        func next(after count: Int) -> Int? {
            given.store(count, ordering: .sequentiallyConsistent)
            let limit = limit.load(ordering: .sequentiallyConsistent)
            return limit == count && !isOpen.load(ordering: .sequentiallyConsistent) ? nil : limit
        }
    }

    private func session(
        _ gate: Gate, isRecording: Bool = false, calibration: SensorCalibration? = nil
    ) -> SensorSession {
        SensorSession {
            GatedSource(gate, isRecording: isRecording, calibration: calibration)
        } configure: {
            try $0.detectMotion()
        }
    }

    @Test func everySampleComesInOrder() async throws {
        let gate = Gate()
        let session = session(gate)
        gate.allow(100)
        gate.end()
        var numbers: [Int] = []
        for try await batch in session.samples(of: .accelerometer, from: "base") {
            #expect(batch.sensor == "base" && batch.lostCount == 0 && batch.unit == "m/s²" && !batch.isRaw)
            numbers += batch.samples.map { Int($0.x) }
        }
        #expect(numbers == Array(0..<100))
    }

    @Test func whatIsDroppedIsCountedInTheNext() async throws {
        let gate = Gate()
        let session = session(gate)
        let samples = session.samples(of: .accelerometer, capacity: 2)
        var iterator = samples.makeAsyncIterator()
        gate.allow(3)
        #expect(try await iterator.next()?.samples.map(\.x) == [0, 1, 2])
        gate.allow(30)
        try await gate.waitUntilGiven(30)
        var next = try #require(try await iterator.next())
        #expect(next.lostCount == 21 && next.samples.map(\.x) == [24, 25, 26])
        next = try #require(try await iterator.next())
        #expect(next.lostCount == 0 && next.samples.map(\.x) == [27, 28, 29])
        gate.end()
        #expect(try await iterator.next() == nil)
    }

    @Test func aRecordingWaitsForItsReader() async throws {
        let gate = Gate()
        gate.allow(3000)
        gate.end()
        var numbers: [Int] = []
        for try await batch in session(gate, isRecording: true).samples(of: .accelerometer, capacity: 1) {
            #expect(batch.lostCount == 0)
            numbers += batch.samples.map { Int($0.timeNanoseconds) }
            await Task.yield()
        }
        #expect(numbers == Array(0..<3000))
    }

    /// An iteration that ends early, and one that is kept when the session stops, keep no session waiting.
    @Test func aRecordingWaitsForNoReaderThatHasGone() async throws {
        let gate = Gate()
        let session = session(gate, isRecording: true)
        let samples = session.samples(of: .accelerometer, capacity: 1)
        gate.allow(300)
        for try await _ in samples { break }
        try await gate.waitUntilGiven(300)
        var iterator = samples.makeAsyncIterator()
        gate.allow(600)
        session.stop()
        try await session.run()
        #expect(try await iterator.next() != nil)
    }

    /// The sequence is for one task, but a program that has two is not ended.
    @Test func twoTasksShareTheSamples() async throws {
        let gate = Gate()
        let session = session(gate)
        let samples = session.samples(of: .accelerometer, capacity: 10_000)
        var iterator = samples.makeAsyncIterator()
        gate.allow(3)
        var count = try #require(try await iterator.next()).samples.count
        gate.allow(30_000)
        try await gate.waitUntilGiven(30_000)
        gate.end()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var part = 0
                    for try await batch in samples { part += batch.samples.count }
                    return part
                }
            }
            for try await part in group { count += part }
        }
        #expect(count == 30_000)
    }

    /// Between the start of the session and the first wait the task changes threads.
    @Test @MainActor func whatIsDroppedBeforeTheFirstDeliveryIsCounted() async throws {
        for _ in 0..<10 {
            let gate = Gate()
            let session = session(gate)
            gate.allow(3000)
            gate.end()
            // The task gets its thread behind these, when the queue has overflowed.
            let priority = Task.currentPriority
            let busy = (0..<64).map { _ in Task.detached(priority: priority) { Pipeline.pause() } }
            var count = 0
            for try await batch in session.samples(of: .accelerometer, capacity: 1) {
                count += batch.lostCount + batch.samples.count
            }
            #expect(count == 3000)
            for task in busy { await task.value }
        }
    }

    @Test func theLatestIsPulledAndNothingIsQueuedForIt() async throws {
        let gate = Gate()
        let session = session(gate)
        let samples = session.samples(of: .accelerometer, from: "lid", capacity: 1)
        #expect(samples.latest == nil)
        let run = Task { try await session.run() }
        gate.allow(10)
        try await gate.waitUntilGiven(10)
        #expect(samples.latest == Sample(timeNanoseconds: 9, x: 9, y: 0, z: 9.8))
        // A reader that begins now, while the source delivers.
        gate.allowAll()
        #expect(try await session.samples(of: .accelerometer, from: "base").first { _ in true } != nil)
        session.stop()
        try await run.value
        #expect(try #require(samples.latest).timeNanoseconds > 9)
        // The one that has pulled so far has nothing to catch up with.
        var pulled = samples.makeAsyncIterator()
        #expect(try await pulled.next() == nil)
    }

    @Test func rawLeavesTheCalibrationOut() async throws {
        let gate = Gate()
        let calibration = SensorCalibration(
            accelerometer: AxisCalibration(offset: Vector3(x: 1, y: 0, z: 0), matrix: .identity))
        let session = session(gate, calibration: calibration)
        gate.allowAll()
        for isRaw in [true, false] {
            let batch = try await session.samples(of: .accelerometer, isRaw: isRaw).first { _ in true }
            let samples = try #require(batch).samples
            #expect(
                batch?.isRaw == isRaw
                    && samples.allSatisfy { $0.x == Float($0.timeNanoseconds % 1000) - (isRaw ? 0 : 1) })
        }
        session.stop()
        try await session.run()
    }

    @Test func aSensorThatTheSourceDoesNotHaveIsAnErrorOfTheReader() async throws {
        let gate = Gate()
        let session = session(gate)
        let wrong: [(SessionSamples, String)] = [
            (
                session.samples(of: .accelerometer, from: "nose"),
                "there is no accelerometer 'nose': the source has 'lid', 'base'"
            ),
            (session.samples(of: .gyroscope), "there is no gyroscope: the source has 'lid', 'base'"),
        ]
        for (samples, message) in wrong {
            var iterator = samples.makeAsyncIterator()
            do {
                _ = try await iterator.next()
                Issue.record("no error")
            } catch {
                #expect(error.description == message)
            }
            #expect(try await iterator.next() == nil)
        }
        // The session goes on.
        gate.allowAll()
        #expect(try await session.samples(of: .accelerometer).first { _ in true } != nil)
        session.stop()
        try await session.run()
        // After the end there is nothing more.
        var late = session.samples(of: .accelerometer).makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    /// A source that ends at once, and calls a closure before.
    private final class EndingSource: SampleSource {
        let streams = [SampleStream(sensor: Sensor(name: "own"), kind: .accelerometer)]
        private let onEnd: () -> Void

        init(onEnd: @escaping () -> Void) { self.onEnd = onEnd }

        func fill(_ delivery: SampleDelivery) -> SampleAnswer {
            onEnd()
            return .ended
        }
    }

    @Test func aReaderThatComesWhileTheSourceEndsGetsItsErrorAsWell() async throws {
        let made = Mutex((session: SensorSession?.none, samples: SessionSamples?.none))
        let session = SensorSession {
            EndingSource { made.withLock { $0.samples = $0.session?.samples(of: .gyroscope) } }
        } configure: { _ in
        }
        made.withLock { $0.session = session }
        try await session.run()
        let found = made.withLock { made -> SessionSamples? in
            made.session = nil
            return made.samples.take()
        }
        let samples = try #require(found)
        let error = await #expect(throws: SensorSessionError.self) { for try await _ in samples {} }
        #expect(error?.description == "there is no gyroscope: the source has 'own'")
    }

    @Test func aSimulatedWalkNeedsNoOtherWords() async throws {
        let session = SensorSession {
            SimulatedSource(.walk, sensor: "pocket", kinds: [.accelerometer, .gyroscope], rateHz: 1000)
        } configure: { _ in
        }
        var last: Int64?
        var count = 0
        for try await batch in session.samples(of: .gyroscope) {
            #expect(batch.isSimulated && batch.sensor == "pocket" && batch.unit == "rad/s")
            for sample in batch.samples {
                // Where the machine is busy for a second, it goes on with the present.
                if let last { #expect((sample.timeNanoseconds - last).isMultiple(of: 1_000_000)) }
                last = sample.timeNanoseconds
            }
            count += batch.samples.count
            if count > 50 { break }
        }
        session.stop()
        try await session.run()
    }
}
