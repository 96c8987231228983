import Binnacle
import BinnacleHeading
import BinnacleTesting
import Testing

private final class StationDiary: RouterDelegate {
    private(set) var entries: [String] = []
    func router(_ router: Router, didFallToOneSensor sensor: Sensor) { entries.append("one left: \(sensor.name)") }
    func routerDidLoseAllSensors(_ router: Router) { entries.append("none left") }
}

@Suite struct PipelineTests {
    private func threeSensors(_ seconds: Double) -> (ScriptedSource, [Sensor], [SampleStream]) {
        let sensors = ["left", "middle", "right"].map { Sensor(name: $0) }
        let streams = SampleStream.ordered(sensors.map { ($0, .accelerometer) })
        let samples = recording(seconds: seconds) { $0 >= 3 && $0 < 4 ? 0.5 : 0 }.flatMap { sample in
            streams.indices.map { (stream: $0, sample: sample) }
        }
        return (ScriptedSource(streams: streams, samples: samples), sensors, streams)
    }

    @Test func aSourceIsAskedUntilItEnds() {
        let bench = Bench(recording(seconds: 1) { _ in 0 })
        bench.run(capacity: 10)
        #expect(bench.source.requestCount == 11)
    }

    @Test func aRunIsEndedByWhoeverAsksForIt() {
        let bench = Bench(recording(seconds: 1) { _ in 0 })
        let pipeline = Pipeline(source: bench.source, detectors: [], capacity: 10)
        var turns = 0
        pipeline.run(while: { turns < 3 }, afterTurn: { _ in turns += 1 })
        #expect(pipeline.sampleCount == 30)
        #expect(pipeline.timeRange == 0...290 * millisecond)
    }

    @Test(arguments: [1, 7, 4096])
    func samplesAreCountedAndTheRateIsTheirs(capacity: Int) throws {
        // 100 Hz, then a gap of three seconds, then 100 Hz again.
        let samples = recording(seconds: 8) { _ in 0 }.filter {
            !(300..<600).contains($0.timeNanoseconds / (10 * millisecond))
        }
        let bench = Bench(samples)
        let pipeline = Pipeline(source: bench.source, detectors: [], capacity: capacity)
        pipeline.run()
        let statistics = try #require(pipeline.statistics.first)
        #expect(statistics.sampleCount == 500)
        #expect(statistics.lastTimeNanoseconds == 7990 * millisecond)
        #expect(statistics.gapCount == 1)
        #expect(abs(try #require(statistics.rateHz) - 100) < 1e-9)
    }

    /// A device that loses a sample twice a second, for ten minutes; the log has it seven times in the first minute, then once in each.
    @Test(arguments: [SampleLoss.Cause.overrun, .readError, .wake])
    func whatRecursIsToldAtOnceAndThenWithItsNumber(cause: SampleLoss.Cause) throws {
        let stream = SampleStream(sensor: Sensor(name: "chassis"), kind: .accelerometer)
        let steps = recording(seconds: 600) { _ in 0 }.flatMap { sample -> [ScriptedSource.Step] in
            guard sample.timeNanoseconds % (second / 2) == 0 else { return [.sample(sample)] }
            let loss = SampleLoss(
                stream: stream.id, cause: cause, count: 3, duration: .milliseconds(40), detail: "a full buffer",
                timeNanoseconds: sample.timeNanoseconds)
            return [.loss(loss), .sample(sample)]
        }
        let collector = EventCollector()
        let pipeline = Pipeline(source: ScriptedSource(streams: [stream], steps: steps), detectors: [])
        pipeline.router.add(collector)
        var toldBeforeEnd = 0
        pipeline.run(afterTurn: { answer in if !answer.isEnd { toldBeforeEnd = collector.events.count } })
        let statistics = try #require(pipeline.statistics.first)
        #expect(statistics.lossCount == 1200 && statistics.lostSampleCount == 3600)
        let events = collector.events.filter { $0.kind == .samplesLost }
        let counts = events.map { event -> Int64 in
            guard case .integer(let count)? = event.figure(.count) else { return 0 }
            return count
        }
        #expect(counts.reduce(0, +) == 3600, "what is told together has the samples of all")
        guard cause != .wake else { return #expect(events.count == 1200) }
        #expect(counts.prefix(4) == [3, 6, 12, 24] && toldBeforeEnd == 7 + 8 && events.count == 7 + 9, "\(counts)")
        #expect(events.first?.figure(.reason) == .text("a full buffer"))
        #expect(events[3].figure(.reason) == .text("8 times since the last report, at last: a full buffer"))
        #expect(events.allSatisfy { $0.figure(.gap)?.description == "0.040" })
    }

    /// What is pending is reported before what else befalls the sensor, and the next one at once.
    @Test func whatRecurredIsToldBeforeWhatEndsIt() {
        let stream = SampleStream(sensor: Sensor(name: "chassis"), kind: .accelerometer)
        func loss(_ cause: SampleLoss.Cause, _ seconds: Int64) -> ScriptedSource.Step {
            let time = cause == .stall ? nil : seconds * second
            return .loss(SampleLoss(stream: stream.id, cause: cause, detail: "at \(seconds)", timeNanoseconds: time))
        }
        let steps: [ScriptedSource.Step] = [
            .sample(rest(0)), loss(.overrun, 0), loss(.overrun, 0), .sample(rest(second / 2)), loss(.stall, 0),
            .sample(rest(61 * second)), loss(.overrun, 62), loss(.overrun, 62), .sample(rest(62 * second)),
            .failure(TestError()),
        ]
        let collector = EventCollector()
        let pipeline = Pipeline(source: ScriptedSource(streams: [stream], steps: steps), detectors: [])
        pipeline.router.add(collector, kinds: [.samplesLost, .sensorInactive])
        pipeline.run()
        let told = collector.events.map { event in
            [event.figure(.cause), event.figure(.reason)].compactMap { $0?.description }.joined(separator: " ")
        }
        let expected = ["overrun at 0", "overrun at 0", "stall at 0", "overrun at 62", "overrun at 62"]
        #expect(told == expected + ["the cable is out"])
    }

    @Test func countingGoesOnBehindANumberThatIsFurther() {
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        router.continue(behind: 41)
        router.continue(behind: 7)
        router.report(Event(kind: .shock, timeNanoseconds: 0))
        router.flush(upTo: nil)
        #expect(collector.events.map(\.sequence) == [42])
    }

    @Test func heldEventsAreNumberedWhenTheLastNumberIsKnown() throws {
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        router.holdEvents(atMost: 3)
        for kind in [EventKind.shock, .shake] {
            router.report(Event(kind: kind, timeNanoseconds: 0))
            router.flush(upTo: nil)
        }
        #expect(collector.events.isEmpty && router.isHolding)
        for _ in 0..<3 { router.report(Event(kind: .freeFall, timeNanoseconds: 0)) }
        router.flush(upTo: 7)
        router.continue(behind: 41)
        #expect(!router.isHolding)
        router.report(Event(kind: .shake, timeNanoseconds: 0))
        router.flush(upTo: nil)
        #expect(collector.events.map(\.sequence) == Array(42...46))
        #expect(collector.events.map(\.kind) == [.shock, .shake, .freeFall, .eventsDropped, .shake])
        let dropped = try #require(collector.events.first { $0.kind == .eventsDropped })
        #expect(dropped.figure(.count) == .integer(2))
    }

    @Test(arguments: [1, 7, 4096])
    func oneRouterServesManyDetectorsAndNumbersInSampleOrder(capacity: Int) {
        let (source, _, streams) = threeSensors(10)
        let managers = streams.reversed().map { MotionManager(name: "on \($0.sensor.name)", accelerometer: $0) }
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        for manager in managers {
            manager.delegate = router
            manager.startDetection()
        }
        Pipeline(source: source, detectors: managers, router: router, capacity: capacity).run()
        #expect(collector.events.map(\.sequence) == Array(1...6))
        #expect(
            collector.events.map(\.kind) == Array(repeating: .motionBegan, count: 3)
                + Array(repeating: .motionEnded, count: 3))
        // At one stamp the order of the streams counts, not that of the detectors.
        #expect(collector.events.prefix(3).map(\.detector) == ["on left", "on middle", "on right"])
        #expect(collector.events.map(\.sensor) == ["left", "middle", "right", "left", "middle", "right"])
        #expect(collector.isFinished)
    }

    @Test func aSensorThatFailsIsDeactivatedAndTheStationToldWhenOneAndNoneIsLeft() {
        let (source, sensors, streams) = threeSensors(10)
        source.fail([streams[0]], atRequest: 2)
        source.fail([streams[2]], atRequest: 4)
        source.fail([streams[1]], atRequest: 6)
        let managers = streams.map { MotionManager(name: $0.sensor.name, accelerometer: $0) }
        let router = Router()
        let collector = EventCollector()
        let station = StationDiary()
        router.add(collector)
        router.delegate = station
        for manager in managers {
            manager.delegate = router
            manager.startDetection()
        }
        Pipeline(source: source, detectors: managers, router: router, capacity: 50).run()
        #expect(sensors.allSatisfy { !$0.isActive })
        #expect(station.entries == ["one left: middle", "none left"])
        let told = collector.events.filter { $0.kind != .motionBegan && $0.kind != .motionEnded }
        #expect(
            told.map { "\($0.kind.rawValue) \($0.sensor ?? $0.detector ?? "-")" } == [
                "sensor.inactive left", "detector.failed left", "sensor.inactive right", "detector.failed right",
                "sensors.one_left middle", "sensor.inactive middle", "detector.failed middle", "sensors.none_left -",
            ])
        #expect(told[0].figure(.reason) == .text("the cable is out"))
        #expect(told[0].figure(.active) == .integer(2))
        #expect(told[0].timeNanoseconds == 490 * millisecond)
    }

    @Test func aStreamThatDeliversAgainMakesItsSensorActive() {
        let (source, sensors, streams) = threeSensors(4)
        source.fail([streams[0]], atRequest: 2, until: 2 * second)
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        Pipeline(source: source, detectors: [], router: router, capacity: 50).run()
        #expect(sensors.allSatisfy { $0.isActive })
        #expect(collector.events.map(\.kind) == [.sensorInactive, .sensorActive, .gap])
    }

    @Test func whatFailsTogetherIsToldTogether() {
        let device = Sensor(name: "device")
        let other = Sensor(name: "other")
        let streams = SampleStream.ordered([(device, .accelerometer), (device, .magnetometer), (other, .accelerometer)])
        let samples = (0..<10).flatMap { i in
            streams.indices.map { (stream: $0, sample: rest(Int64(i) * 10 * millisecond)) }
        }
        let own = streams.filter { $0.sensor === device }
        // One half of a device is not the device.
        let half = ScriptedSource(streams: streams, samples: samples)
        half.fail([own[0]], atRequest: 1)
        let detector = NorthDetector(accelerometer: own[1], magnetometer: own[0])
        func play(_ source: ScriptedSource) -> [String] {
            let router = Router()
            let collector = EventCollector()
            router.add(collector)
            detector.delegate = router
            detector.stopDetection()
            detector.startDetection()
            Pipeline(source: source, detectors: [detector], router: router).run()
            return collector.events.map { "\($0.kind.rawValue) \($0.sensor ?? $0.detector ?? "-")" }
        }
        #expect(play(half) == ["detector.failed north"])
        #expect(device.isActive)
        let whole = ScriptedSource(streams: streams, samples: samples)
        whole.fail(own, atRequest: 1)
        #expect(play(whole) == ["sensor.inactive device", "detector.failed north", "sensors.one_left other"])
    }

    /// At a start without devices the searches fail one after the other; at no time is a sensor left that works.
    @Test func aSensorThatHasNotDeliveredIsNotTheOneThatIsLeft() {
        let (source, _, streams) = threeSensors(2)
        for (request, stream) in streams.enumerated() { source.fail([stream], atRequest: request + 1) }
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        let detector = MotionManager(name: "left", accelerometer: streams[0])
        detector.startDetection()
        let pipeline = Pipeline(source: source, detectors: [detector], router: router, capacity: 50)
        #expect(pipeline.isWorking(detector))
        for _ in streams { _ = pipeline.turn() }
        let kinds: [EventKind] = collector.events.map(\.kind)
        let others = kinds.filter { $0 != EventKind.sensorInactive }
        #expect(others == [EventKind.sensorsNoneLeft])
        // It was started, and has nothing to look at.
        #expect(detector.isDetecting && !pipeline.isWorking(detector))
        #expect(streams[0].sensor.failure == "the cable is out")
    }

    @Test func theRouterIsHeldWeaklyByItsSensors() {
        let sensor = Sensor(name: "chassis")
        do {
            let router = Router()
            router.watch(sensor)
            #expect(sensor.delegate != nil)
        }
        #expect(sensor.delegate == nil)
    }

    @Test(arguments: [1, 3, 4096])
    func aGapIsToldOnceForAllDetectors(capacity: Int) {
        let bench = Bench(
            recording(seconds: 9) { _ in 0 }.filter {
                $0.timeNanoseconds < 2 * second || $0.timeNanoseconds > 5 * second
            })
        let router = Router()
        let collector = EventCollector()
        router.add(collector)
        Pipeline(source: bench.source, detectors: [bench.manager], router: router, capacity: capacity).run()
        #expect(collector.events.map(\.kind) == [.gap])
        #expect(collector.events.first?.timeNanoseconds == 5010 * millisecond)
        #expect(collector.events.first?.figure(.gap) == .number(3.02, decimals: 3))
        #expect(collector.events.first?.detector == nil)
    }

    @Test func repeatedStatesGoOnlyToHandlersThatAskForThem() {
        let router = Router()
        let all = EventCollector()
        let asking = EventCollector()
        router.add(all)
        router.add(asking, kinds: [.motionMoving])
        let bench = Bench(recording(seconds: 8) { $0 >= 3 && $0 < 4 ? 0.5 : 0 })
        bench.manager.delegate = router
        bench.manager.startDetection()
        Pipeline(source: bench.source, detectors: [bench.manager], router: router).run()
        #expect(all.events.map(\.kind) == [.motionBegan, .motionEnded])
        #expect(asking.events.count > 5)
        #expect(asking.events.allSatisfy { $0.kind == .motionMoving })
        #expect(asking.events[0].figure(.z) == .number(Double(Units.standardGravity), decimals: 3))
        #expect(asking.events.allSatisfy { $0.sequence == 1 })
        #expect(all.events.map(\.sequence) == [1, 2])
    }

    /// Two handlers that hold back come due by their own time, whatever the deliveries.
    @Test(arguments: [1, 7, 4096])
    func whatIsHeldBackComesDueInItsOwnOrder(capacity: Int) {
        let router = Router()
        var told: [String] = []
        for (name, kind, window) in [
            ("late", EventKind.motionBegan, 3), ("early", .motionEnded, 1), ("now", .shock, 0),
        ] {
            let chain = HandlerChain(
                handler: ClosureHandler { told.append("\(name) \($0.timeNanoseconds / second)") }, kinds: [kind])
            if window > 0 { chain.append(CoalesceDecorator(window: .seconds(window))) }
            router.add(chain)
        }
        let bench = Bench(recording(seconds: 20) { t in t >= 3 && t < 3.5 ? 0.5 : t >= 12 && t < 12.02 ? 4 : 0 })
        bench.manager.delegate = router
        bench.manager.startDetection()
        Pipeline(source: bench.source, detectors: [bench.manager], router: router, capacity: capacity).run()
        #expect(
            told.prefix(3) == ["late 3", "early 5", "now 12"] || told.prefix(3) == ["early 5", "late 3", "now 12"])
        #expect(told.count == 5)
        #expect(told == Self.expectedOrder)
    }

    private static let expectedOrder = ["late 3", "early 5", "now 12", "early 13", "late 12"]

    @Test func removingAHandlerPassesOnWhatItHoldsBack() {
        let router = Router()
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector)
        chain.append(CoalesceDecorator(window: .seconds(100)))
        router.add(chain)
        chain.decorators[0].handle(Event(kind: .shake, timeNanoseconds: 0))
        #expect(collector.events.isEmpty)
        router.replaceChains(router.chains.filter { $0 !== chain })
        #expect(collector.events.count == 1)
        #expect(!collector.isFinished)
    }

    @Test func handlersMayBeAddedAndRemovedWhileEventsFlow() {
        let router = Router()
        let late = EventCollector()
        let early = EventCollector()
        let earlyChain = router.add(early)
        router.add(
            ClosureHandler { [unowned router] _ in
                router.replaceChains(router.chains.filter { $0 !== earlyChain })
                if router.chains.count < 2 { router.add(late) }
            })
        let bench = Bench(recording(seconds: 8) { $0 >= 3 && $0 < 4 ? 0.5 : 0 })
        bench.manager.delegate = router
        bench.manager.startDetection()
        Pipeline(source: bench.source, detectors: [bench.manager], router: router).run()
        #expect(early.events.map(\.kind) == [.motionBegan])
        #expect(late.events.map(\.kind) == [.motionEnded])
    }

    @Test func closuresAreCalledForEachEvent() {
        var kinds: [EventKind] = []
        let router = Router()
        router.add(ClosureHandler { kinds.append($0.kind) })
        let bench = Bench(recording(seconds: 8) { $0 >= 3 && $0 < 4 ? 0.5 : 0 })
        bench.manager.delegate = router
        bench.manager.startDetection()
        Pipeline(source: bench.source, detectors: [bench.manager], router: router).run()
        #expect(kinds == [.motionBegan, .motionEnded])
    }

    @Test func magnetometersComeFirstAtOneStamp() {
        let device = Sensor(name: "device")
        let streams = SampleStream.ordered([(device, .accelerometer), (device, .magnetometer)])
        #expect(streams.map(\.kind) == [.magnetometer, .accelerometer])
    }
}

@Suite struct ProgressIndicatorTests {
    private final class View: ProgressView {
        var log: [String] = []
        func draw(fraction: Double?) { log.append(fraction.map { "draw \($0)" } ?? "draw ?") }
        func clear() { log.append("clear") }
    }
    private final class Diary: ProgressIndicatorDelegate {
        var log: [String] = []
        func progressIndicatorDidShow(_ indicator: ProgressIndicator) { log.append("show") }
        func progressIndicatorDidHide(_ indicator: ProgressIndicator) { log.append("hide") }
        func progressIndicatorDidCancel(_ indicator: ProgressIndicator) { log.append("cancel") }
    }

    @Test func isShownHiddenAndCancelledOnceEach() {
        let view = View()
        let diary = Diary()
        let indicator = ProgressIndicator(view: view)
        indicator.delegate = diary
        indicator.update(fraction: 0.1)
        indicator.show()
        indicator.show()
        indicator.update(fraction: 0.5)
        indicator.update(fraction: 7)
        indicator.update(fraction: nil)
        indicator.cancel()
        indicator.cancel()
        indicator.hide()
        #expect(diary.log == ["show", "hide", "cancel"])
        #expect(view.log == ["draw 0.1", "draw 0.5", "draw 1.0", "draw ?", "clear"])
        #expect(indicator.isCancelled && !indicator.isShown)
    }

    @Test func itsDelegateIsHeldWeakly() {
        let indicator = ProgressIndicator(view: View())
        do {
            let diary = Diary()
            indicator.delegate = diary
        }
        indicator.show()
        #expect(indicator.delegate == nil)
    }
}

@Suite struct BatchTests {
    @Test func aBatchIsReusedWithoutLosingItsRoom() {
        let batch = SampleBatch(capacity: 2)
        batch.append(rest(1))
        batch.append(rest(2))
        #expect(batch.isFull && batch.count == 2 && batch.lastTimeNanoseconds == 2)
        #expect(batch[0] == rest(1))
        let copy = SampleBatch(capacity: 3)
        copy.append(batch, range: 1..<2)
        batch.removeAll()
        #expect(batch.isEmpty && batch.lastTimeNanoseconds == nil)
        #expect(copy.count == 1 && copy[0] == rest(2))
    }

    @Test func durationsBecomeNanosecondsWithoutOverflow() {
        #expect(Units.nanoseconds(.milliseconds(1500)) == 1_500_000_000)
        #expect(Units.nanoseconds(.seconds(Int64.max)) == .max)
        #expect(Units.nanoseconds(.seconds(-1)) == -1_000_000_000)
        let longest = Duration.seconds(Int64.max) * 3
        #expect(Units.nanoseconds(longest) == .max)
        #expect(Units.nanoseconds(.zero - longest) == .min)
    }
}
