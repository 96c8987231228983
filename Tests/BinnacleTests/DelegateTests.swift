import Binnacle
import BinnacleHeading
import BinnacleTesting
import Testing

private let push = recording(seconds: 10) { $0 >= 3 && $0 < 5 ? 0.5 : 0 }

@Suite struct DelegateTests {
    @Test func theDelegateIsHeldWeakly() {
        let bench = Bench(push)
        weak var released: MotionDiary?
        do {
            let diary = MotionDiary()
            released = diary
            bench.manager.delegate = diary
            #expect(bench.manager.delegate != nil)
        }
        #expect(released == nil)
        #expect(bench.manager.delegate == nil)
    }

    @Test func aManagerThatOwnsNothingOfItsDelegateIsReleasedToo() {
        final class Owner: MotionManagerDelegate {
            let manager: MotionManager
            init(_ manager: MotionManager) {
                self.manager = manager
                manager.delegate = self
            }
        }
        weak var manager: MotionManager?
        weak var owner: Owner?
        do {
            let sensor = Sensor(name: "chassis")
            let made = MotionManager(accelerometer: SampleStream(sensor: sensor, kind: .accelerometer))
            let making = Owner(made)
            manager = made
            owner = making
        }
        #expect(manager == nil && owner == nil)
    }

    @Test func detectionWorksWithoutADelegate() {
        let bench = Bench(recording(seconds: 4) { $0 >= 3 ? Float(Int($0 * 10) % 2) : 0 })
        bench.run()
        #expect(bench.manager.isMoving)
    }

    @Test func everyMethodHasADefault() {
        final class Silent: MotionManagerDelegate, NorthDetectorDelegate, SensorDelegate, RouterDelegate,
            ProgressIndicatorDelegate
        {}
        let silent = Silent()
        let bench = Bench(push)
        bench.manager.delegate = silent
        #expect(silent.motionManager(bench.manager, shouldReport: sampleEvent))
        bench.run()
        #expect(!bench.manager.isMoving)
    }

    private var sampleEvent: MotionEvent {
        let diary = MotionDiary()
        let bench = Bench(push)
        bench.manager.delegate = diary
        bench.run()
        return diary.events[0]
    }

    @Test func aRefusedBeginTakesItsEndWithIt() {
        let bench = Bench(push)
        let diary = MotionDiary()
        diary.answer = { $0.kind != .began }
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.without("will") == ["should 3020"])
        #expect(!bench.manager.isMoving)
    }

    /// Shocks at their first sample.
    private var atOnce: MotionSettings {
        var settings = MotionSettings()
        settings.shockWindow = .zero
        return settings
    }

    @Test func refusalConcernsThatEventOnly() {
        let bench = Bench(
            recording(seconds: 8) { ($0 >= 3 && $0 < 3.1) || ($0 >= 6 && $0 < 6.1) ? 4 : 0 }, settings: atOnce)
        let diary = MotionDiary()
        diary.answer = { $0.kind != .shock || $0.timeNanoseconds > 5 * second }
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.events.filter { $0.kind == .shock }.map(\.timeNanoseconds) == [6 * second])
    }

    @Test func theSenderComesFirstAndIsTheOneItBelongsTo() {
        let sensors = [Sensor(name: "left"), Sensor(name: "right")]
        let streams = SampleStream.ordered(sensors.map { ($0, .accelerometer) })
        let managers = streams.map { MotionManager(name: $0.sensor.name, accelerometer: $0) }
        let diary = MotionDiary()
        for manager in managers { manager.delegate = diary }
        // Only the second one moves.
        let samples = push.flatMap { [(stream: 0, sample: rest($0.timeNanoseconds)), (stream: 1, sample: $0)] }
        let source = ScriptedSource(streams: streams, samples: samples)
        for manager in managers { manager.startDetection() }
        Pipeline(source: source, detectors: managers).run()
        #expect(
            diary.senders.map(\.name) == ["left", "right"] + Array(repeating: "right", count: diary.senders.count - 2))
        #expect(diary.events.map(\.kind) == [.began, .ended])
    }

    @Test func startAndStopAreToldOnce() {
        let bench = Bench(push)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        bench.manager.startDetection()
        bench.manager.startDetection()
        #expect(bench.manager.isDetecting)
        bench.manager.stopDetection()
        bench.manager.stopDetection()
        #expect(!bench.manager.isDetecting)
        #expect(diary.entries == ["willStart", "didStop"])
    }

    @Test func aManagerThatWasNotStartedFindsNothing() {
        let bench = Bench(push)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        Pipeline(source: bench.source, detectors: [bench.manager]).run()
        #expect(diary.entries.isEmpty)
    }

    @Test(arguments: [1, 4096])
    func aDelegateMayStopTheManagerThatTellsIt(capacity: Int) {
        let bench = Bench(push)
        let diary = MotionDiary()
        diary.onEntry = { if $0.isMoving { $0.stopDetection() } }
        bench.manager.delegate = diary
        bench.run(capacity: capacity)
        #expect(diary.entries == ["willStart", "should 3020", "began 3020", "didStop"])
    }

    /// A start counts from the next delivery; here there is none.
    @Test func whatWasFoundBeforeARestartIsNotToldAfterIt() {
        let bench = Bench(recording(seconds: 4.5) { $0 >= 3 && $0 < 3.2 ? 4 : 0 }, settings: atOnce)
        let diary = MotionDiary()
        diary.onEntry = {
            guard $0.isMoving else { return }
            $0.stopDetection()
            $0.startDetection()
        }
        bench.manager.delegate = diary
        bench.run()
        #expect(
            diary.entries.prefix(6) == [
                "willStart", "should 3000", "shake 3000", "should 3000", "shock 3000", "should 3020",
            ])
        #expect(diary.entries.dropFirst(6) == ["began 3020", "didStop", "willStart"])
    }

    @Test(arguments: [1, 4096])
    func theStateIsThatOfTheSampleBeingTold(capacity: Int) {
        let bench = Bench(push)
        let diary = MotionDiary()
        var states: [Bool] = []
        diary.onEntry = { [unowned diary] in
            if diary.entries.last?.hasPrefix("moving") == false { states.append($0.isMoving) }
        }
        bench.manager.delegate = diary
        bench.run(capacity: capacity)
        #expect(states == [false, true, false])
    }

    @Test func withoutADeviceTheDelegateIsToldSo() {
        let diary = MotionDiary()
        let manager = MotionManager(accelerometer: nil)
        manager.delegate = diary
        manager.startDetection()
        #expect(diary.entries == ["notAvailable"])
        #expect(!manager.isDetecting)
        let bench = Bench([])
        Sensor.deactivate([bench.sensor], because: TestError())
        bench.manager.delegate = diary
        bench.manager.startDetection()
        #expect(diary.entries == ["notAvailable", "notAvailable"])
    }

    @Test func aDelegateMayBeSwappedWhileSamplesFlow() {
        let bench = Bench(push)
        let first = MotionDiary()
        let second = MotionDiary()
        first.onEntry = { [unowned first] manager in
            if first.entries.last?.hasPrefix("began") == true { manager.delegate = second }
        }
        bench.manager.delegate = first
        bench.run(capacity: 1)
        #expect(first.without("moving", "should", "will") == ["began 3020"])
        #expect(second.without("moving", "should").count == 1)
        #expect(second.entries.last?.hasPrefix("ended") == true)
    }
}

/// A decorator that changes nothing.
final class MotionDecorator: MotionManagerDelegate {
    let decoratedMotionDelegate: (any MotionManagerDelegate)?

    init(_ decorated: (any MotionManagerDelegate)?) { decoratedMotionDelegate = decorated }
}

/// A decorator that changes nothing.
final class NorthDecorator: NorthDetectorDelegate {
    let decoratedNorthDelegate: (any NorthDetectorDelegate)?

    init(_ decorated: (any NorthDetectorDelegate)?) { decoratedNorthDelegate = decorated }
}

@Suite struct DelegateDecoratorTests {
    /// Changes one method, and leaves out the rest.
    final class PeakLimit: MotionManagerDelegate {
        var decoratedMotionDelegate: (any MotionManagerDelegate)?
        var refusesAbove: Double = 0

        init(_ decorated: (any MotionManagerDelegate)?) { decoratedMotionDelegate = decorated }

        func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool {
            event.magnitudeG <= refusesAbove
                && decoratedMotionDelegate?.motionManager(manager, shouldReport: event) ?? true
        }
    }

    @Test func whatIsNotOverriddenIsForwarded() {
        let plain = MotionDiary()
        let decorated = MotionDiary()
        let outer = MotionDecorator(MotionDecorator(decorated))
        let samples = recording(seconds: 12) { t in t >= 3 && t < 4 ? (Int(t * 10) % 2 == 0 ? 4 : -4) : 0 }
            .map {
                $0.timeNanoseconds > 8 * second ? Sample(timeNanoseconds: $0.timeNanoseconds, x: 0, y: 0, z: 0) : $0
            }
        for delegate in [plain as any MotionManagerDelegate, outer] {
            let bench = Bench(samples)
            bench.manager.delegate = delegate
            bench.run()
            bench.manager.didLose(bench.manager.streams, because: TestError())
            bench.manager.stopDetection()
            Sensor.deactivate([bench.sensor], because: TestError())
            bench.manager.startDetection()
        }
        #expect(decorated.entries == plain.entries)
        let kinds = Set(plain.entries.map { $0.split(separator: " ")[0] })
        #expect(
            kinds == [
                "willStart", "should", "began", "moving", "ended", "shake", "shock", "freeFall", "fail", "didStop",
                "notAvailable",
            ])
    }

    @Test func aDecoratorChangesWhatItOverrides() {
        let diary = MotionDiary()
        let limit = PeakLimit(diary)
        limit.refusesAbove = 0.1
        let bench = Bench(push)
        bench.manager.delegate = limit
        bench.run()
        #expect(diary.events.isEmpty)
    }

    @Test func decoratorsArePutInAndTakenOutWhileSamplesFlow() {
        let diary = MotionDiary()
        let limit = PeakLimit(nil)
        let samples = recording(seconds: 20) { t in
            [3, 8, 13].contains { t >= $0 && t < $0 + 0.5 } ? 0.5 : 0
        }
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.manager.startDetection()
        let delivery = SampleDelivery(streams: bench.source.streams, capacity: 1)
        let pipeline = Pipeline(source: bench.source, detectors: [bench.manager])
        for sample in samples {
            if sample.timeNanoseconds == 7 * second {
                limit.decoratedMotionDelegate = bench.manager.delegate
                bench.manager.delegate = limit
            }
            if sample.timeNanoseconds == 12 * second { bench.manager.delegate = limit.decoratedMotionDelegate }
            delivery.removeAll()
            delivery.batches[0].append(sample)
            pipeline.offer(delivery)
        }
        #expect(diary.events.filter { $0.kind == .began }.map { $0.timeNanoseconds / second } == [3, 13])
        #expect(diary.events.filter { $0.kind == .ended }.count == 2)
    }

    @Test func aChainIsOwnedFromItsFirstLinkOn() {
        weak var inner: MotionDecorator?
        var outer: MotionDecorator?
        do {
            let made = MotionDecorator(nil)
            inner = made
            outer = MotionDecorator(made)
        }
        #expect(inner != nil)
        outer = nil
        #expect(inner == nil)
        #expect(outer == nil)
    }
}
