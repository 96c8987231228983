import Binnacle
import BinnacleHeading
import BinnacleTesting
import TestSupport
import Testing

/// A time that a test moves.
private final class TestClock {
    var nanoseconds: Int64
    init(_ nanoseconds: Int64 = 0) { self.nanoseconds = nanoseconds }
}

private func settings(
    _ model: SimulationSettings.Model, rateHz: Double = 100, seed: UInt64 = 1
) -> SimulationSettings {
    var settings = SimulationSettings()
    settings.model = model
    settings.rateHz = rateHz
    settings.seed = seed
    return settings
}

@Suite struct SimulatedEventTests {
    /// An event of a cycle, and the milliseconds of the cycle within which it comes.
    private typealias Expected = (kind: EventKind, milliseconds: ClosedRange<Int64>)

    /// Above 1.5 g, six times a second.
    private static let shakes: [Expected] = (0..<12).map { half in
        (.shake, 2030 + half * 1000 / 6...2066 + half * 1000 / 6)
    }

    /// What a cycle of each model says, with the defaults of the detectors and at 50 Hz or more.
    private static func cycle(_ model: SimulationSettings.Model) -> (seconds: Int64, events: [Expected]) {
        switch model {
        case .still: (10, [])
        // Other detectors are what finds these.
        case .wash, .screen, .tumble: (90, [])
        case .tap: (10, [])
        case .walk: (20, [(.motionBegan, 2020...2060), (.motionEnded, 12_900...13_500)])
        case .shake: (10, [(.motionBegan, 2020...2060)] + shakes + [(.motionEnded, 5900...6200)])
        case .turn: (60, [(.northFaced, 11_600...11_800), (.northLeft, 25_100...25_300)])
        case .drop:
            (
                10,
                [
                    (.motionBegan, 2020...2045), (.freeFall, 2100...2130), (.shake, 2300...2330),
                    (.shock, 2350...2385), (.motionEnded, 3700...4500),
                ]
            )
        }
    }

    private func play(
        _ settings: SimulationSettings, seconds: Int64, capacity: Int = 64, step: Int64 = 50 * millisecond
    ) -> [Event] {
        let clock = TestClock(7 * second)
        let source = SimulatedSource(
            [(Sensor(name: "demo", isSimulated: true), SampleKind.allCases, settings)], startNanoseconds: 7 * second
        ) { clock.nanoseconds }
        let collector = EventCollector()
        let router = Router()
        router.add(collector)
        let accelerometer = source.firstStream(of: .accelerometer)
        let manager = MotionManager(accelerometer: accelerometer)
        let detector = NorthDetector(
            accelerometer: accelerometer, magnetometer: source.firstStream(of: .magnetometer))
        manager.delegate = router
        detector.delegate = router
        manager.startDetection()
        detector.startDetection()
        let pipeline = Pipeline(source: source, detectors: [manager, detector], router: router, capacity: capacity)
        while clock.nanoseconds < (7 + seconds) * second {
            while case .samples = pipeline.turn() {}
            clock.nanoseconds += step
        }
        router.finish()
        return collector.events.filter { $0.kind != .heading }
    }

    @Test(
        arguments: [SimulationSettings.Model.still, .walk, .shake, .tap, .turn, .drop],
        [(100.0, 1, 60), (100, 2, 120), (50, 3, 60), (71.43, 4, 60), (400, 5, 60)] as [(Double, UInt64, Int64)])
    func eachModelSaysWhatItsNamePromisesAndNothingElse(
        model: SimulationSettings.Model, run: (rateHz: Double, seed: UInt64, seconds: Int64)
    ) {
        let cycle = Self.cycle(model)
        let seconds = TestForm.isLong ? run.seconds : max(20, cycle.seconds)
        let events = play(settings(model, rateHz: run.rateHz, seed: run.seed), seconds: seconds)
        let expected = (0..<seconds / cycle.seconds).flatMap { number in
            cycle.events.map { (kind: $0.kind, startSeconds: number * cycle.seconds, range: $0.milliseconds) }
        }
        #expect(events.map(\.kind) == expected.map(\.kind))
        for (event, wanted) in zip(events, expected) {
            let phase = (event.timeNanoseconds - (7 + wanted.startSeconds) * second) / millisecond
            #expect(wanted.range.contains(phase), "\(wanted.kind), \(phase) ms after \(wanted.startSeconds) s")
        }
    }

    @Test(arguments: [SimulationSettings.Model.shake, .turn, .drop])
    func howTheSourceIsAskedChangesNothing(model: SimulationSettings.Model) {
        let whole = play(settings(model), seconds: 30, capacity: 4096, step: 999 * millisecond)
        #expect(!whole.isEmpty)
        #expect(play(settings(model), seconds: 30, capacity: 1, step: 10 * millisecond) == whole)
        #expect(play(settings(model), seconds: 30, capacity: 7, step: 3_333_333) == whole)
    }
}

@Suite struct MotionModelTests {
    @Test func theSameSeedGivesTheSameSamplesInAnyOrder() {
        for kind in SimulationSettings.Model.allCases {
            let model = MotionModel(settings(kind, seed: 5))
            let again = MotionModel(settings(kind, seed: 5))
            let other = MotionModel(settings(kind, seed: 6))
            let indices: [Int64] = [0, 1, 205, 7_919, 1 << 40]
            let forces = indices.map { model.sample(.accelerometer, at: $0) }
            let fields = indices.map { model.sample(.magnetometer, at: $0) }
            #expect(forces.reversed() == indices.reversed().map { again.sample(.accelerometer, at: $0) })
            #expect(fields.reversed() == indices.reversed().map { again.sample(.magnetometer, at: $0) })
            for (index, force) in zip(indices, forces) { #expect(other.sample(.accelerometer, at: index) != force) }
            for (index, field) in zip(indices, fields) { #expect(other.sample(.magnetometer, at: index) != field) }
        }
    }

    /// The mean and the standard deviation of numbers.
    private func statistics(_ values: [Double]) -> (mean: Double, deviation: Double) {
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (mean, (squares / Double(values.count)).squareRoot())
    }

    @Test func restIsFlatWithTheNoiseThatIsPromised() {
        let model = MotionModel(settings(.still))
        let forces = (0..<40_000).map { model.sample(.accelerometer, at: $0) }
        let fields = (0..<40_000).map { model.sample(.magnetometer, at: $0) }
        for axis in 0..<3 {
            let force = statistics(forces.map { Double($0[axis]) })
            #expect(abs(force.mean - (axis == 2 ? 9.80665 : 0)) < 0.0005)
            #expect(abs(force.deviation - 0.02) < 0.0005)
            #expect(abs(statistics(fields.map { Double($0[axis]) }).deviation - 0.3) < 0.01)
            // What one axis, or one sample, does says nothing about the next.
            let steps = zip(forces, forces.dropFirst()).map { Double($0[axis] - $1[axis]) }
            #expect(abs(statistics(steps).deviation - 0.02 * 2.0.squareRoot()) < 0.001)
            let sums = forces.map { Double($0[axis] + $0[(axis + 1) % 3]) }
            #expect(abs(statistics(sums).deviation - 0.02 * 2.0.squareRoot()) < 0.001)
        }
        // No sample is off by more than the limit, which no threshold is below.
        #expect(forces.allSatisfy { max(abs($0.x), abs($0.y), abs($0.z - 9.80665)) < 3.47 * 0.02 })
    }

    private func attitude(_ model: MotionModel, _ index: Int64) throws -> Attitude {
        try #require(
            Attitude(
                acceleration: SIMD3<Double>(model.sample(.accelerometer, at: index)),
                field: SIMD3<Double>(model.sample(.magnetometer, at: index))))
    }

    @Test(arguments: SimulationSettings.Model.allCases.filter { $0 != .turn && $0 != .tumble })
    func theFieldIsThatOfTheEarthFarFromNorth(model: SimulationSettings.Model) throws {
        let attitude = try attitude(MotionModel(settings(model)), 0)
        #expect(abs(attitude.field - 49.1) < 1.5)
        #expect(abs(attitude.dipDegrees - 65.8) < 3)
        #expect(abs(try #require(attitude.headingDegrees(of: .plusY)) - 120) < 4)
    }

    /// The gyroscope's rate takes gravity from each sample to the next, and each side of the device is up.
    @Test(arguments: [SimulationSettings.Model.screen, .tumble])
    func aDeviceThatIsTurnedIsOneBody(model: SimulationSettings.Model) {
        let motion = MotionModel(settings(model, rateHz: 1000))
        let errors = model == .tumble ? SIMD3(0.2, -0.15, 0.3) : .zero
        var up = SIMD3<Double>(motion.sample(.accelerometer, at: 0)) - errors
        var sides: Set<String> = []
        for index in Int64(0)..<20_000 {
            let rate =
                (SIMD3<Double>(motion.sample(.gyroscope, at: index)) + SIMD3(motion.sample(.gyroscope, at: index + 1)))
                / 2
            let turn = SIMD3(
                rate.y * up.z - rate.z * up.y, rate.z * up.x - rate.x * up.z, rate.x * up.y - rate.y * up.x)
            up -= turn / 1000
            let found = SIMD3<Double>(motion.sample(.accelerometer, at: index + 1)) - errors
            #expect((found - up).max() < 0.3 && (up - found).max() < 0.3)
            for axis in 0..<3 where abs(found[axis]) > 9.7 { sides.insert("\(found[axis] > 0)\(axis)") }
            if model == .screen, abs(found.x) > 8.4 || abs(found.y) > 8.4 {
                sides.insert("\(abs(found.x) > abs(found.y))\(found.x + found.y > 0)")
            }
        }
        #expect(sides.count == (model == .tumble ? 6 : 4))
    }

    @Test(arguments: [(0, 270), (500, 306), (1250, 0), (2249, 0), (2250, 0), (3500, 90), (5999, 269.9), (6000, 270)])
    func aTurnGoesClockwiseThroughAllBearings(index: Int64, heading: Double) throws {
        let attitude = try attitude(MotionModel(settings(.turn)), index)
        let found = try #require(attitude.headingDegrees(of: .plusY))
        #expect(abs(Angle.differenceDegrees(from: heading, to: found)) < 4)
    }

    /// The gyroscope's rate, summed up, is the turn that the compass sees.
    @Test func theRateOfATurnIsThatOfItsHeading() throws {
        let model = MotionModel(settings(.turn))
        var turned = 0.0
        for index in Int64(0)..<6000 {
            let rate = SIMD3<Double>(model.sample(.gyroscope, at: index))
            turned -= rate.z * 180 / .pi / 100
            let tilting: Double = max(abs(rate.x), abs(rate.y))
            #expect(tilting * 180 / .pi < 3.47 * 0.05)
            guard index % 1000 == 0 else { continue }
            let heading = try #require(attitude(model, index).headingDegrees(of: .plusY))
            #expect(abs(Angle.differenceDegrees(from: 270 + turned, to: heading)) < 4)
        }
        #expect(abs(turned - 360) < 0.5)
        let rest = MotionModel(settings(.walk))
        let rates = (0..<40_000).map { Double(rest.sample(.gyroscope, at: $0).y) * 180 / .pi }
        #expect(abs(statistics(rates).mean) < 0.001 && abs(statistics(rates).deviation - 0.05) < 0.001)
    }

    @Test func aRateThatCannotBeIsAProblem() {
        #expect(settings(.still, rateHz: 100_000).problems().isEmpty)
        for rate in [0, -1, .nan, .infinity, 2e6] {
            #expect(settings(.still, rateHz: rate).problems().map(\.property) == [\.rateHz])
        }
    }
}

@Suite struct SimulatedSourceTests {
    private let clock = TestClock()

    /// A source of accelerometers at several rates; the first has a magnetometer, too.
    private func source(_ rates: Double..., start: Int64 = 0) -> SimulatedSource {
        let clock = clock
        return SimulatedSource(
            rates.enumerated().map { number, rate in
                (
                    Sensor(name: "s\(number)", isSimulated: true),
                    number == 0 ? [.accelerometer, .magnetometer] : [.accelerometer], settings(.still, rateHz: rate)
                )
            }, startNanoseconds: start
        ) { clock.nanoseconds }
    }

    /// The stamp and stream of each sample that is due, in the order in which they would come one by one.
    private func take(_ source: SimulatedSource, capacity: Int = 64) -> [SamplePosition] {
        let delivery = SampleDelivery(streams: source.streams, capacity: capacity)
        var all: [SamplePosition] = []
        while true {
            delivery.removeAll()
            guard case .samples = source.fill(delivery) else { return all }
            var positions: [SamplePosition] = []
            for (stream, batch) in delivery.batches.enumerated() {
                for index in 0..<batch.count {
                    positions.append(
                        SamplePosition(
                            timeNanoseconds: batch[index].timeNanoseconds, streamIndex: stream, sampleIndex: 0))
                }
            }
            all += positions.sorted()
        }
    }

    /// What the wake-ups are: at the ends of common periods, whatever the rates, with every sample that is due.
    @Test(arguments: [(0.05, 20), (0.2, 5), (0.3, 5), (0.02, 80), (0, 100)])
    func samplesGatherForTheLatency(seconds: Double, expected: Int) {
        let clock = clock
        let kinds: [SampleKind] = [.accelerometer, .magnetometer]
        let source = SimulatedSource(
            [100.0, 50].enumerated().map { number, rate in
                var settings = settings(.still, rateHz: rate)
                settings.latency = .seconds(seconds)
                return (Sensor(name: "s\(number)", isSimulated: true), kinds, settings)
            }, startNanoseconds: 0
        ) { clock.nanoseconds }
        var count = 0
        var stamps: [SamplePosition] = []
        while let due = source.nextDueNanoseconds, due < 10_000 * millisecond {
            clock.nanoseconds = due
            let samples = take(source)
            #expect(!samples.isEmpty)
            #expect(samples.allSatisfy { due - $0.timeNanoseconds <= Int64(seconds * 1e9) })
            stamps += samples
            count += 1
        }
        #expect(abs(count - expected * 10) <= 1)
        // What is delivered does not depend on it.
        clock.nanoseconds = 9_999 * millisecond
        #expect(stamps.count >= 2 * (1000 + 500) - 2 * 30 && stamps == stamps.sorted())
    }

    @Test func nothingComesBeforeItsTime() {
        let source = source(100, start: 5 * millisecond)
        #expect(source.streams.map(\.kind) == [.magnetometer, .accelerometer])
        #expect(source.streams.allSatisfy { $0.sensor.isSimulated && $0.sensor.authorizationStatus == .authorized })
        #expect(take(source).isEmpty)
        #expect(source.nextDueNanoseconds == 5 * millisecond)
        clock.nanoseconds = 5 * millisecond
        #expect(take(source).map(\.timeNanoseconds) == [5 * millisecond, 5 * millisecond])
        #expect(source.nextDueNanoseconds == 15 * millisecond)
        clock.nanoseconds = 15 * millisecond - 1
        #expect(take(source).isEmpty)
        clock.nanoseconds += 1
        #expect(take(source).map(\.streamIndex) == [0, 1])
        // A clock that steps back is waited for.
        clock.nanoseconds = 0
        #expect(take(source).isEmpty)
        #expect(SimulatedSource([], startNanoseconds: 0) { 0 }.nextDueNanoseconds == nil)
        // A session does not let a clock wait for its readers.
        #expect(SimulatedSource(.walk).isRealTime)
        #expect(!SimulatedSource([], startNanoseconds: 0, clock: nil).isRealTime)
    }

    @Test(arguments: [1, 3, 64, 4096])
    func ratesAreMergedInTheOrderOfTheirStamps(capacity: Int) {
        let source = source(100, 7, 333)
        var all: [SamplePosition] = []
        while clock.nanoseconds <= 2 * second {
            all += take(source, capacity: capacity)
            clock.nanoseconds += 7_654_321
        }
        #expect(all == all.sorted())
        #expect(Set(all.map { "\($0.timeNanoseconds) \($0.streamIndex)" }).count == all.count)
        let last = clock.nanoseconds - 7_654_321
        for (stream, rate) in [(0, 100.0), (1, 100), (2, 7), (3, 333)] {
            let stamps = all.filter { $0.streamIndex == stream }.map(\.timeNanoseconds)
            let count = Int(Double(last) * rate / 1e9)
            let expected: [Int64] = (0...count).map { (tick: Int) in Int64((Double(tick) / rate * 1e9).rounded()) }
            #expect(stamps == expected)
        }
    }

    @Test(arguments: [3, 7, 100, 999, 1_000_000] as [Int64])
    func stampsStayOnTheGridForYears(rate: Int64) {
        var generator = SystemRandomNumberGenerator()
        let start: Int64 = 123_456_789
        for years in [0, 1, 10, 100] as [Int64] {
            clock.nanoseconds = start
            let source = source(Double(rate), start: start)
            // From ten seconds on, what was missed is skipped.
            clock.nanoseconds +=
                years * 31_557_600 * second + Int64.random(in: 11 * second...1000 * second, using: &generator)
            let stamps = take(source, capacity: 1).map(\.timeNanoseconds)
            #expect(stamps.count == 2)
            for stamp in stamps {
                #expect(stamp <= clock.nanoseconds)
                #expect(stamp > clock.nanoseconds - second / rate - 1)
                // The nearest nanosecond to a whole number of intervals: stamp · rate is within rate / 2 of whole seconds.
                let rest = Int128(stamp - start) * Int128(rate) % 1_000_000_000
                #expect(min(rest, 1_000_000_000 - rest) <= Int128(rate) / 2)
            }
        }
    }

    @Test func whoWasStoppedGetsThePresentAndAGapShows() {
        let source = source(100)
        let diary = GapDiary()
        for stream in source.streams { stream.sensor.delegate = diary }
        let pipeline = Pipeline(source: source, detectors: [])
        for stream in source.streams { stream.sensor.delegate = diary }
        while case .samples = pipeline.turn() {}
        // A second late is late, and all of it comes.
        clock.nanoseconds += second
        while case .samples = pipeline.turn() {}
        #expect(pipeline.sampleCount == 2 * 101)
        #expect(diary.gaps.isEmpty)
        clock.nanoseconds += 3600 * second + 3
        while case .samples = pipeline.turn() {}
        #expect(pipeline.sampleCount == 2 * 102)
        #expect(diary.gaps.map(\.startNanoseconds) == [second, second])
        #expect(diary.gaps.map(\.endNanoseconds) == [3601 * second, 3601 * second])
        clock.nanoseconds += 10 * millisecond
        while case .samples = pipeline.turn() {}
        #expect(pipeline.sampleCount == 2 * 103)
        #expect(diary.gaps.count == 2)
    }

    @Test func streamsFindTheirPlacesInAnyDelivery() throws {
        let source = source(100, 50)
        let own = source.streams
        clock.nanoseconds = 19 * millisecond
        #expect(take(source).map(\.streamIndex) == [0, 1, 2, 0, 1])
        let guest = SampleStream(sensor: Sensor(name: "guest"), kind: .accelerometer)
        clock.nanoseconds = 20 * millisecond
        let delivery = SampleDelivery(streams: [own[2], guest, own[0], own[1]], capacity: 4)
        _ = source.fill(delivery)
        #expect(delivery.batches.map(\.count) == [1, 0, 1, 1])
        #expect(delivery.batches[2][0].z < 0 && delivery.batches[3][0].z > 9)
        // What has the same stamp comes in the order of the delivery, also where that ends in between.
        clock.nanoseconds = 40 * millisecond
        let narrow = SampleDelivery(streams: [own[2], own[1], own[0]], capacity: 1)
        var order: [[Int]] = []
        for _ in 0..<5 {
            narrow.removeAll()
            _ = source.fill(narrow)
            order.append(narrow.batches.map(\.count))
        }
        #expect(order == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    }

    @Test func theEndsOfTimeAreReachedWithoutOverflow() {
        for rate in [0.1, 100, 1_000_000] {
            clock.nanoseconds = .min
            let source = source(rate, start: .min)
            #expect(take(source).count == 2)
            for time in [-1, .max - 1, .max] as [Int64] {
                clock.nanoseconds = time
                let delivery = SampleDelivery(streams: source.streams, capacity: 2)
                _ = source.fill(delivery)
                #expect(delivery.lastTimeNanoseconds ?? time <= time)
                _ = source.nextDueNanoseconds
            }
        }
    }
}

/// Keeps the gaps that sensors report.
private final class GapDiary: SensorDelegate {
    private(set) var gaps: [SampleGap] = []
    func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition) { gaps.append(gap) }
}
