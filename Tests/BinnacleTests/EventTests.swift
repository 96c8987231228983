import Binnacle
import BinnacleTesting
import PlainText
import Testing

private func event(
    _ kind: EventKind = .motionBegan, at seconds: Double, sensor: String = "chassis", detector: String = "motion",
    sequence: UInt64 = 0
) -> Event {
    Event(
        kind: kind, detector: detector, sensor: sensor, sequence: sequence,
        timeNanoseconds: Int64(seconds * 1000) * millisecond)
}

@Suite struct EventJSONTests {
    @Test func keysStandInAFixedOrderAndFiguresHaveTheirDecimals() {
        var made = event(at: 1.5, sequence: 7)
        made.figures = [
            Figure(.peak, .number(0.25, decimals: 4)), Figure(.onset, .integer(-3)), Figure(.axis, .text("+y")),
        ]
        #expect(
            made.json
                == #"{"seq":7,"kind":"motion.began","detector":"motion","sensor":"chassis","time_ns":1500000000,"#
                + #""peak_g":0.2500,"onset_ns":-3,"axis":"+y"}"#)
    }

    @Test func whatIsAbsentIsNull() {
        let made = Event(kind: .sensorsNoneLeft, sequence: 1, timeNanoseconds: 0)
        #expect(made.json == #"{"seq":1,"kind":"sensors.none_left","detector":null,"sensor":null,"time_ns":0}"#)
    }

    @Test func hostileNamesAreEscaped() {
        var made = event(at: 0)
        made.sensor = "a\"b\\c\n\u{1}\u{7F}é🧭"
        #expect(made.json.contains(#""sensor":"a\"b\\c\u000a\u0001\u007fé🧭""#))
    }

    @Test(
        arguments: [
            (0.0, 2, "0.00"), (-0.001, 2, "0.00"), (-0.005, 2, "-0.01"), (1.005, 1, "1.0"), (359.999, 2, "360.00"),
            (12, 0, "12"), (0.5, 0, "1"), (123_456.789, 3, "123456.789"), (.nan, 2, "null"), (.infinity, 2, "null"),
            (1e18, 9, "null"), (0.000_05, 4, "0.0001"),
        ] as [(Double, Int, String)])
    func numbersAreRoundedHalfAwayFromZero(value: Double, decimals: Int, expected: String) {
        #expect(Figure.Value.number(value, decimals: decimals).description == expected)
    }

    @Test func whatIsNoNumberIsLeftOutForPeople() {
        #expect(Figure(.vibration, .number(.nan, decimals: 4)).text == nil)
        #expect(Figure(.vibration, .number(0.5, decimals: 4)).text == "vibration 0.5000 g")
    }

    @Test func everyKindHasItsOwnName() {
        #expect(Set(EventKind.allCases.map(\.rawValue)).count == EventKind.allCases.count)
    }
}

@Suite struct HandlerDecoratorTests {
    private func chain(_ decorators: EventDecorator...) -> (HandlerChain, EventCollector, Router) {
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector)
        for decorator in decorators { chain.append(decorator) }
        let router = Router()
        router.add(chain)
        return (chain, collector, router)
    }

    private func play(_ events: [Event], _ decorator: EventDecorator) -> EventCollector {
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector)
        chain.append(decorator)
        for event in events { decorator.handle(event) }
        decorator.finish()
        #expect(collector.isFinished)
        return collector
    }

    /// As of a sensor that was unplugged.
    @Test func whatIsHeldBackIsDueWithoutASample() {
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector)
        let router = Router()
        router.add(chain)
        router.report(event(at: 0))
        router.flushReported()
        #expect(router.idleDeadlineNanoseconds == nil && collector.seconds == [0])
        chain.append(CoalesceDecorator(window: .seconds(10)))
        router.report(event(at: 0))
        router.flushReported()
        #expect(router.idleDeadlineNanoseconds == 10_000_000_000 && collector.seconds == [0])
        router.flush(upTo: 10_000_000_001)
        #expect(router.idleDeadlineNanoseconds == nil && collector.seconds.count == 2)
        // Hours later reports have the time of the clock, and those of one window are joined.
        router.idleClock = { 7_200_000_000_000 }
        for _ in 0..<3 { router.report(event(at: 0)) }
        router.flush(upTo: 7_200_000_000_000)
        #expect(router.idleDeadlineNanoseconds == 7_210_000_000_000 && collector.seconds.count == 2)
        router.flush(upTo: 7_210_000_000_001)
        #expect(router.idleDeadlineNanoseconds == nil && collector.seconds.count == 3)
    }

    /// Single readings, such as those of light, are no samples.
    @Test func aReportIsNotOlderThanTheEventBeforeIt() {
        let collector = EventCollector()
        let router = Router()
        router.add(collector)
        router.idleClock = { 16 * second }
        router.report(event(.handlerFailed, at: 0))
        router.flushReported()
        router.idleClock = { 1 * second }
        router.report(event(.detectorFailed, at: 0))
        router.flushReported()
        #expect(collector.seconds == [16, 16])
    }

    @Test func debouncePassesTheFirstOfABurst() {
        let events = [0, 1, 2, 5, 5.5, 20].map { event(at: $0) } + [event(.motionEnded, at: 20.1)]
        #expect(play(events, DebounceDecorator(time: .seconds(2))).seconds == [0, 5, 20, 20.1])
    }

    @Test func rateLimitHoldsInAnyMinute() {
        let limit = RateLimitDecorator(perMinute: 2)
        let collector = play([0, 10, 20, 59, 60, 61, 69, 70, 200].map { event(at: $0) }, limit)
        #expect(collector.seconds == [0, 10, 60, 70, 200])
        #expect(limit.droppedCount == 4)
    }

    @Test(
        arguments: [
            (1320, 420, [false, false, false, true, true, false]), (60, 420, [true, false, false, true, true, true]),
            (5, 5, [true, true, true, true, true, true]),
        ] as [(Int, Int, [Bool])])
    func quietHoursMaySpanMidnight(start: Int, end: Int, passes: [Bool]) {
        for (minute, isPassed) in zip([0, 60, 419, 420, 1319, 1320], passes) {
            let quiet = QuietHoursDecorator(startMinute: start, endMinute: end) { _ in minute }
            #expect(play([event(at: 0)], quiet).events.count == (isPassed ? 1 : 0), "minute \(minute)")
            #expect(quiet.droppedCount == (isPassed ? 0 : 1))
        }
    }

    @Test func quietHoursAreThoseOfTheEventAndNotOfTheMoment() {
        var night = event(at: 1)
        night.wallNanoseconds = LocalTime.nanoseconds("2026-11-21T23:30:00")
        var day = event(at: 2)
        day.wallNanoseconds = LocalTime.nanoseconds("2026-11-21T12:00:00")
        let context = DecoratorSettings.Context(Router())
        let quiet = DecoratorSettings.quietHours(startMinute: 1320, endMinute: 420).makeDecorator(in: context)
        // A replay's event has no wall time, and passes at any hour.
        #expect(play([event(at: 0), night, day], quiet).seconds == [0, 2])
        let always = DecoratorSettings.quietHours(startMinute: 0, endMinute: 1439).makeDecorator(in: context)
        #expect(play([event(at: 0)], always).seconds == [0])
    }

    @Test func aStateThatIsTooShortPassesNeitherItsBeginNorItsEnd() {
        func motion(_ kind: EventKind, at seconds: Double, of detector: String = "moved") -> Event {
            var event = Event(kind: kind, timeNanoseconds: Int64(seconds * 1e9))
            event.detector = detector
            return event
        }
        let events = [
            motion(.motionBegan, at: 0), motion(.motionEnded, at: 5),  // Not longer than 5 s.
            motion(.motionBegan, at: 10), motion(.shake, at: 11), motion(.motionBegan, at: 12, of: "other"),
            motion(.motionEnded, at: 13, of: "other"), motion(.motionEnded, at: 16),
            motion(.motionEnded, at: 20),  // Its begin came before the handler.
            motion(.motionBegan, at: 30), motion(.shake, at: 36), motion(.motionBegan, at: 40, of: "other"),
        ]
        let long = MinimumDurationDecorator(time: .seconds(5))
        let passed = play(events, long)
        #expect(passed.events.map(\.kind) == [.shake, .motionBegan, .motionEnded, .motionEnded, .motionBegan, .shake])
        #expect(passed.seconds == [11, 10, 16, 20, 30, 36])
        // The last one has not lasted when the events end.
        #expect(long.droppedCount == 1)
    }

    @Test func aHandlerOfBeginsAloneIsAskedForNoEnds() {
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector, kinds: [.motionBegan])
        chain.append(MinimumDurationDecorator(time: .seconds(5)))
        for (kind, seconds) in [
            (EventKind.motionBegan, 0.0), (.motionEnded, 3), (.motionBegan, 10), (.motionEnded, 16),
        ] {
            chain.handle(event(kind, at: seconds))
        }
        chain.finish()
        #expect(collector.seconds == [10])
    }

    /// A decorator in front may drop an end, or hold a begin back until it has ended.
    @Test(arguments: [0, 1]) func minimumDurationKnowsEachEndWhateverStandsInFront(which: Int) {
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector, kinds: which == 0 ? [.motionBegan, .motionEnded] : [.motionBegan])
        chain.append(which == 0 ? DebounceDecorator(time: .seconds(2)) : CoalesceDecorator(window: .seconds(2)))
        chain.append(MinimumDurationDecorator(time: .seconds(3)))
        for (kind, seconds) in [
            (EventKind.motionBegan, 1.0), (.motionEnded, 2), (.motionBegan, 3.1), (.motionEnded, 3.4),
            (.motionBegan, 20), (.motionEnded, 29), (.motionBegan, 40), (.motionEnded, 41), (.shake, 60),
        ] {
            chain.handle(event(kind, at: seconds))
        }
        chain.finish()
        #expect(collector.seconds == (which == 0 ? [20, 29] : [20]))
    }

    /// A reload that changes the action alone.
    @Test func whatADecoratorHoldsGoesToAnotherHandler() {
        let (chain, before, _) = chain(MinimumDurationDecorator(time: .seconds(5)))
        chain.handle(event(.motionBegan, at: 1))
        let after = EventCollector()
        chain.replaceDecorators(chain.decorators, endingAt: after)
        chain.handle(event(.motionEnded, at: 9))
        #expect(before.events.isEmpty && after.events.map(\.kind) == [.motionBegan, .motionEnded])
    }

    /// What fails, vanishes or begins again has not lasted.
    @Test(arguments: [EventKind.detectorFailed, .sensorInactive, .motionBegan])
    func aStateWhoseEndIsNotKnownHasNotLasted(kind: EventKind) {
        let (chain, collector, _) = chain(MinimumDurationDecorator(time: .seconds(5)))
        chain.handle(event(.motionBegan, at: 0))
        chain.handle(event(kind, at: 3))
        chain.handle(event(.motionEnded, at: 3.3))
        chain.handle(event(.shake, at: 20))
        #expect(!collector.events.contains { $0.kind == .motionBegan }, "\(collector.events.map(\.kind))")
        #expect(collector.events.last?.kind == .shake)
    }

    /// A reload that removes or exchanges a detector: no end of its motion comes any more.
    @Test func aStateWhoseDetectorHasEndedHasNotLasted() {
        let long = MinimumDurationDecorator(time: .seconds(5))
        let (chain, collector, _) = chain(long)
        chain.handle(event(at: 0, detector: "gone"))
        chain.handle(event(at: 1, detector: "kept"))
        long.detectorsDidEnd(except: ["kept"])
        chain.handle(event(.shake, at: 20))
        #expect(collector.seconds == [1, 20])
    }

    /// A siren that sounds has to learn that it is disarmed.
    @Test func reportsOfArmingPassEveryDecorator() {
        let (chain, collector, _) = chain(
            QuietHoursDecorator(startMinute: 0, endMinute: 1439) { _ in 60 }, CountDecorator(every: 10),
            DebounceDecorator(time: .seconds(60)))
        for kind in [EventKind.handlerArmed, .handlerDisarmed, .handlerArmed, .shake] {
            chain.handle(event(kind, at: 0))
        }
        #expect(collector.events.map(\.kind) == [.handlerArmed, .handlerDisarmed, .handlerArmed])
    }

    /// They have no detector by which they could be told apart.
    @Test func sensorsAndHandlersAreNotMixedUp() {
        func report(_ kind: EventKind, at seconds: Double, sensor: String? = nil, handler: String? = nil) -> Event {
            var made = event(kind, at: seconds)
            (made.detector, made.sensor) = (nil, sensor)
            if let handler { made.figures = [Figure(.handler, .text(handler))] }
            return made
        }
        let events = [
            report(.sensorInactive, at: 0, sensor: "a"), report(.sensorInactive, at: 1, sensor: "b"),
            report(.handlerFailed, at: 2, handler: "x"), report(.handlerFailed, at: 3, handler: "y"),
            report(.sensorInactive, at: 4, sensor: "a"),
        ]
        let cases: [(EventDecorator, [Double])] = [
            (DebounceDecorator(time: .seconds(9)), [0, 1, 2, 3]),
            (PaceDecorator(interval: .seconds(9)), [0, 1, 2, 3, 4]),
            (CoalesceDecorator(window: .seconds(9)), [0, 1, 2, 3]), (CountDecorator(every: 2), [4]),
        ]
        for (decorator, expected) in cases {
            #expect(play(events, decorator).seconds == expected, "\(type(of: decorator))")
        }
    }

    /// Events that were held back for longer come behind younger ones.
    @Test func eventsThatCameLateAreJoinedInTheirOrder() {
        let coalesce = CoalesceDecorator(window: .seconds(20))
        let (chain, collector, _) = chain(coalesce)
        chain.handle(event(.shock, at: 5.9))
        chain.handle(event(.motionBegan, at: 1))
        #expect(coalesce.nextDeadlineNanoseconds == 21 * second)
        chain.handle(event(.shake, at: 22))
        #expect(collector.seconds == [1])
        chain.finish()
        #expect(collector.seconds == [1, 5.9, 22])
    }

    @Test func aBeginThatCameLateAgreesWithNoneOutsideOfItsWindow() {
        let (chain, collector, _) = chain(QuorumDecorator(count: 2, window: .seconds(1)) { ["a", "b", "c"] })
        chain.handle(event(.shock, at: 5.9, sensor: "b"))
        chain.handle(event(.motionBegan, at: 1, sensor: "a"))
        #expect(collector.events.isEmpty)
        chain.handle(event(.motionBegan, at: 6, sensor: "c"))
        #expect(collector.events.map(\.kind) == [.quorumReached])
    }

    @Test func coalesceSaysHowManyItJoined() {
        let collector = play([0, 1, 2, 5.5, 9, 30].map { event(at: $0) }, CoalesceDecorator(window: .seconds(5)))
        #expect(collector.seconds == [0, 5.5, 30])
        #expect(collector.events.map { $0.figure(.count) } == [.integer(3), .integer(2), .integer(1)])
    }

    /// What a detector has counted is a sum, or stays as it is where a sum would be something else.
    @Test(
        arguments: [
            (EventKind.step, [11, 7], [8, 40], 18, 40 as Int64?), (.samplesLost, [3, 4], [], 7, nil),
            (.eventsDropped, [1, 4], [], 5, nil), (.tap, [2, 1], [], 2, nil), (.quorumReached, [2, 3], [], 2, nil),
        ] as [(EventKind, [Int64], [Int64], Int64, Int64?)])
    func coalesceKeepsWhatIsCounted(kind: EventKind, counts: [Int64], totals: [Int64], sum: Int64, total: Int64?) {
        let events = counts.indices.map { index in
            var event = event(kind, at: Double(index))
            event.set(.count, .integer(counts[index]))
            if index < totals.count { event.set(.total, .integer(totals[index])) }
            return event
        }
        let joined = play(events, CoalesceDecorator(window: .seconds(5))).events
        #expect(joined.map { $0.figure(.count) } == [.integer(sum)])
        #expect(joined.map { $0.figure(.joined) } == [.integer(2)])
        #expect(joined.first?.figure(.total) == total.map { .integer($0) })
    }

    @Test func coalesceIsClosedByTimeAlone() {
        let coalesce = CoalesceDecorator(window: .seconds(5))
        let (chain, collector, _) = chain(coalesce)
        coalesce.handle(event(at: 0))
        coalesce.advance(to: 5 * second)
        #expect(collector.events.isEmpty)
        coalesce.advance(to: 5 * second + 1)
        #expect(collector.events.count == 1)
        #expect(chain.decorators.count == 1)
    }

    /// A turn of 20 s with a heading each 0.1 s: a rate limit goes blind in it, a pace does not.
    @Test func paceKeepsTheLatest() {
        let events = (0..<200).map { event(.heading, at: Double($0) / 10, sequence: UInt64($0)) }
        let collector = play(events, PaceDecorator(interval: .milliseconds(500)))
        let halves: [Double] = (0...39).map { Double($0) / 2 }
        #expect(collector.seconds == halves + [19.9])
    }

    @Test func paceNeverLosesTheLast() {
        let pace = PaceDecorator(interval: .seconds(1))
        let (chain, collector, _) = chain(pace)
        for (seconds, sequence) in [(0, 1), (0.2, 2), (0.7, 3)] as [(Double, UInt64)] {
            pace.handle(event(at: seconds, sequence: sequence))
        }
        #expect(collector.events.map(\.sequence) == [1])
        #expect(pace.nextDeadlineNanoseconds == second)
        pace.advance(to: second)
        #expect(collector.events.map(\.sequence) == [1])
        pace.advance(to: second + 1)
        #expect(collector.events.map(\.sequence) == [1, 3])
        #expect(pace.nextDeadlineNanoseconds == nil)
        // What was passed late opened an interval of its own.
        pace.handle(event(at: 1.9, sequence: 4))
        #expect(collector.events.map(\.sequence) == [1, 3])
        pace.handle(event(at: 2, sequence: 5))
        #expect(collector.events.map(\.sequence) == [1, 3, 5], "the one that was kept is older than this one")
        pace.handle(event(at: 2.5, sequence: 6))
        pace.handle(event(.shake, at: 2.6, sequence: 7))
        #expect(collector.events.map(\.sequence) == [1, 3, 5, 7], "another kind has an interval of its own")
        chain.finish()
        #expect(collector.events.map(\.sequence) == [1, 3, 5, 7, 6])
    }

    /// Otherwise a begin would come behind its end, and a heading behind the loss of its sensor.
    @Test func paceForgetsWhatHasEnded() {
        let pace = PaceDecorator(interval: .seconds(5))
        let (chain, collector, _) = chain(pace)
        let series: [(EventKind, Double)] = [
            (.motionBegan, 0), (.motionEnded, 1), (.motionBegan, 4), (.motionEnded, 4.5), (.motionBegan, 5.5),
            (.motionEnded, 5.8),
        ]
        for (index, (kind, seconds)) in series.enumerated() {
            chain.handle(event(kind, at: seconds, sequence: UInt64(index + 1)))
        }
        pace.advance(to: 60 * second)
        #expect(collector.events.last?.sequence == 6)
        chain.handle(event(.heading, at: 70, sequence: 7))
        chain.handle(event(.heading, at: 71, sequence: 8))
        chain.handle(event(.sensorInactive, at: 72, sequence: 9))
        pace.advance(to: 90 * second)
        #expect(collector.events.last?.sequence == 9)
        // An end stays true without the sensor.
        chain.handle(event(.motionEnded, at: 100, sequence: 10))
        chain.handle(event(.motionEnded, at: 101, sequence: 11))
        chain.handle(event(.sensorInactive, at: 102, sequence: 12))
        pace.advance(to: 120 * second)
        #expect(collector.events.last?.sequence == 11)
    }

    @Test func countPassesEveryNth() {
        let events = (0..<7).map { event(at: Double($0)) } + [event(.shake, at: 9)]
        let collector = play(events, CountDecorator(every: 3))
        #expect(collector.seconds == [2, 5])
        #expect(collector.events.last?.figure(.ordinal) == .integer(6))
    }

    @Test func quorumNeedsDistinctActiveSensorsWithinTheWindow() {
        var active: Set<String> = ["a", "b", "c"]
        let quorum = QuorumDecorator(count: 2, window: .seconds(1)) { active }
        let (_, collector, _) = chain(quorum)
        quorum.handle(event(at: 0, sensor: "a"))
        quorum.handle(event(at: 0.5, sensor: "a"))
        #expect(collector.events.isEmpty)
        quorum.handle(event(at: 1.5, sensor: "b", sequence: 9))
        quorum.handle(event(at: 1.5, sensor: "c"))
        #expect(collector.events.map(\.kind) == [.quorumReached])
        #expect(collector.events[0].sequence == 9)
        #expect(collector.events[0].figure(.sensors) == .text("a,b"))
        #expect(collector.events[0].figure(.active) == .integer(3))
        // Fallen apart, then reached again.
        quorum.handle(event(at: 10, sensor: "a"))
        quorum.handle(event(at: 10.1, sensor: "b"))
        #expect(collector.events.count == 2)
        // A sensor that failed has no vote.
        active = ["a", "b"]
        quorum.handle(event(at: 20, sensor: "b"))
        active = ["a"]
        quorum.handle(event(at: 20.1, sensor: "a"))
        #expect(collector.events.count == 2)
        // What is no begin passes.
        quorum.handle(event(.motionEnded, at: 21, sensor: "a"))
        #expect(collector.events.last?.kind == .motionEnded)
    }

    @Test func decoratorsWorkInTheirOrder() {
        let events = (0..<6).map { event(at: Double($0)) }
        for (decorators, expected) in [
            ([CountDecorator(every: 2), RateLimitDecorator(perMinute: 1)] as [EventDecorator], [1.0]),
            ([RateLimitDecorator(perMinute: 1), CountDecorator(every: 2)], []),
        ] {
            let collector = EventCollector()
            let chain = HandlerChain(handler: collector)
            for decorator in decorators { chain.append(decorator) }
            for event in events { decorators[0].handle(event) }
            #expect(collector.seconds == expected)
            #expect(chain.decorators.count == 2)
        }
    }

    @Test func decoratorsArePutInAndTakenOutWhileSamplesFlow() {
        let samples = recording(seconds: 30) { t in
            stride(from: 3.0, to: 28, by: 5).contains { t >= $0 && t < $0 + 0.5 } ? 0.5 : 0
        }
        let bench = Bench(samples)
        let router = Router()
        bench.manager.delegate = router
        let collector = EventCollector()
        let chain = HandlerChain(handler: collector, kinds: [.motionBegan])
        router.add(chain)
        let count = CountDecorator(every: 100)
        let coalesce = CoalesceDecorator(window: .seconds(1000))
        bench.manager.startDetection()
        let pipeline = Pipeline(source: bench.source, detectors: [bench.manager], router: router)
        let delivery = SampleDelivery(streams: bench.source.streams, capacity: 1)
        for sample in samples {
            switch sample.timeNanoseconds {
            case 7 * second: chain.append(count)
            case 12 * second:
                chain.remove(count)
                chain.append(coalesce)
            case 22 * second: chain.remove(coalesce)
            default: break
            }
            delivery.removeAll()
            delivery.batches[0].append(sample)
            pipeline.offer(delivery)
        }
        // 3 s passes; 8 s is counted away; 13 s and 18 s are joined and passed on at the removal; 23 s passes.
        #expect(collector.events.map { $0.timeNanoseconds / second } == [3, 13, 23])
        #expect(collector.events[1].figure(.count) == .integer(2))
    }

    @Test func settingsMakeWhatTheySay() {
        let context = DecoratorSettings.Context(minuteOfDay: { _ in 0 }, activeSensors: { [] })
        let made: [(DecoratorSettings, EventDecorator.Type)] = [
            (.debounce(.seconds(1)), DebounceDecorator.self), (.rateLimit(perMinute: 1), RateLimitDecorator.self),
            (.quietHours(startMinute: 0, endMinute: 1), QuietHoursDecorator.self),
            (.quorum(count: 1, window: .seconds(1)), QuorumDecorator.self),
            (.coalesce(.seconds(1)), CoalesceDecorator.self),
            (.minimumDuration(.seconds(1)), MinimumDurationDecorator.self),
            (.count(every: 1), CountDecorator.self),
        ]
        for (settings, type) in made { #expect(Swift.type(of: settings.makeDecorator(in: context)) == type) }
    }
}

@Suite struct WallTimeTests {
    /// The last sample may be hours old, and before the first one there is none.
    @Test func aReportHasTheTimeAtWhichItIsMadeAndNotThatOfTheLastSample() {
        let collector = EventCollector()
        let router = Router()
        router.wallClock = { time in time.map { $0 + 1000 } ?? 5_000_000 }
        router.add(collector)
        router.report(event(.handlerFailed, at: 0))
        let sensor = Sensor(name: "chassis")
        let stream = SampleStream(sensor: sensor, kind: .accelerometer)
        let loss = SampleLoss(stream: stream.id, cause: .overrun, count: 1, detail: "")
        router.sensor(
            sensor, didLose: loss, of: .accelerometer,
            at: SamplePosition(timeNanoseconds: 1_000_000_000, streamIndex: 0, sampleIndex: 0))
        router.flush(upTo: nil)
        #expect(collector.events.map(\.wallNanoseconds) == [5_000_000, 1_000_001_000])
    }
}
