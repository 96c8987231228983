import Binnacle
import Glibc
import TestSupport
import Testing

@Suite struct MotionManagerTests {
    /// A constant push of 0.5 g from 3 s to 5 s: above the threshold from the first sample, and decaying in the
    /// gravity filter with τ = 0.5 s, so below 0.025 g after 0.5 · ln(20) ≈ 1.5 s.
    private let push = recording(seconds: 10) { $0 >= 3 && $0 < 5 ? 0.5 : 0 }

    @Test func motionBeginsAfterTheMinimumDurationAndEndsAfterQuiet() throws {
        let bench = Bench(push)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.without("should", "moving", "will") == ["began 3020", "ended \(endOfPush)"])
        let began = try #require(diary.events.first)
        #expect(began.onsetNanoseconds == 3 * second)
        #expect(abs(began.magnitudeG - 0.49) < 0.001)
        let ended = try #require(diary.events.last)
        #expect(ended.onsetNanoseconds == 3 * second)
        #expect(abs(ended.duration / .seconds(1) - (Double(endOfPush) / 1000 - 1 - 3)) < 1e-9)
    }

    /// The push's end at 5 s swings back by almost 0.5 g, which decays below 0.025 g; then comes 1 s of quiet.
    private var endOfPush: Int {
        var gravity = 0.0
        var last = 0
        for i in 1..<1000 {
            let t = Double(i) / 100
            let value = t >= 3 && t < 5 ? 0.5 : 0
            gravity += (value - gravity) * (0.01 / 0.51)
            if abs(value - gravity) >= 0.025 { last = i }
        }
        return (last + 1) * 10 + 1000
    }

    @Test func aPushShorterThanTheMinimumDurationIsNothing() {
        var settings = MotionSettings()
        settings.minimumDuration = .milliseconds(200)
        let bench = Bench(recording(seconds: 6) { $0 >= 3 && $0 < 3.05 ? 0.06 : 0 }, settings: settings)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.without("will").isEmpty)
    }

    @Test func nothingIsFoundWhileTheFilterWarmsUp() {
        let diary = MotionDiary()
        var random = SeededGenerator(seed: 1)
        let early = Bench(recording(seconds: 1.4) { $0 >= 0.5 ? Float.random(in: -1...1, using: &random) : 0 })
        early.manager.delegate = diary
        early.run()
        #expect(diary.without("will").isEmpty)
    }

    @Test func movingIsRepeatedAtMostOncePerInterval() {
        var settings = MotionSettings()
        settings.updateInterval = .milliseconds(250)
        let bench = Bench(push, settings: settings)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        bench.run()
        let times = diary.entries.filter { $0.hasPrefix("moving") }.compactMap { Int($0.dropFirst(7)) }
        #expect(times.first == 3020)
        #expect(times.count > 5)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 250 })
        #expect(times.allSatisfy { $0 < endOfPush })
    }

    @Test func shakeFreeFallAndShockAreTold() throws {
        let samples = recording(seconds: 12) { t in
            if t >= 8, t < 8.02 { return 3 }
            return t >= 3 && t < 4 ? [2, 0, -2, 0][Int((t * 100).rounded()) / 5 % 4] : 0
        }.map { sample -> Sample in
            let t = Double(sample.timeNanoseconds) * 1e-9
            guard t >= 6, t < 6.3 else { return sample }
            return Sample(timeNanoseconds: sample.timeNanoseconds, x: 0.1, y: 0, z: 1)
        }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        let kinds = diary.events.map(\.kind)
        #expect(kinds.filter { $0 == .freeFall }.count == 1)
        // 2 g beside gravity are 2.24 g, which is a shake and no shock; 3 g are both.
        #expect(kinds.filter { $0 == .shock }.count == 1)
        #expect(kinds.filter { $0 == .shake }.count >= 5)
        let fall = try #require(diary.events.first { $0.kind == .freeFall })
        #expect(fall.timeNanoseconds == 6100 * millisecond)
        #expect(fall.onsetNanoseconds == 6000 * millisecond)
        #expect(abs(fall.magnitudeG - 0.1025) < 0.001)
        let shock = try #require(diary.events.first { $0.kind == .shock })
        #expect(shock.onsetNanoseconds == 8000 * millisecond)
        #expect(shock.timeNanoseconds == 8050 * millisecond)
        #expect(abs(shock.magnitudeG - 10.squareRoot()) < 0.001)
    }

    @Test(arguments: [1, 7, 4096])
    func aShockTellsItsPeak(capacity: Int) throws {
        // Above 2.5 g from 2.00 to 2.03 s, with the peak at 2.02 s, and once more within the window.
        let pushes: [Int: Float] = [200: 2.4, 201: 5, 202: 13, 203: 1, 204: 3]
        let samples = recording(seconds: 4) { t in pushes[Int((t * 100).rounded())] ?? 0 }
        for (window, time, peak, seconds) in [(50, 2050, Float(13), 0.04), (0, 2000, 2.4, 0), (30, 2030, 13, 0.03)] {
            var settings = MotionSettings()
            settings.shockWindow = .milliseconds(window)
            let diary = MotionDiary()
            let bench = Bench(samples, settings: settings)
            bench.manager.delegate = diary
            bench.run(capacity: capacity)
            let shocks = diary.events.filter { $0.kind == .shock }
            try #require(shocks.count == 1)
            #expect(shocks[0].onsetNanoseconds == 2000 * millisecond)
            #expect(shocks[0].timeNanoseconds == Int64(time) * millisecond)
            #expect(abs(shocks[0].magnitudeG - Double(peak * peak + 1).squareRoot()) < 0.001)
            #expect(abs(shocks[0].onsetMagnitudeG - 2.6) < 0.001)
            #expect(abs(shocks[0].duration / .seconds(1) - seconds) < 1e-9)
        }
    }

    @Test func aShockBeforeTheEndIsToldAtTheEnd() throws {
        let samples = recording(seconds: 2.01) { t in Int((t * 100).rounded()) == 199 ? 4 : 0 }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        let shocks = diary.events.filter { $0.kind == .shock }
        #expect(shocks.map(\.timeNanoseconds) == [samples[samples.count - 1].timeNanoseconds])
        #expect(shocks.map(\.onsetNanoseconds) == [1990 * millisecond])
        #expect(shocks.allSatisfy { abs($0.magnitudeG - 17.squareRoot()) < 0.001 })
    }

    @Test func aShockBeforeAGapIsToldAfterIt() throws {
        let samples = recording(seconds: 6) { t in Int((t * 100).rounded()) == 200 ? 4 : 0 }
            .filter { !(2001 * millisecond..<4000 * millisecond).contains($0.timeNanoseconds) }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        let shock = try #require(diary.events.first { $0.kind == .shock })
        #expect(shock.timeNanoseconds == 4000 * millisecond)
        #expect(shock.duration == .zero)
    }

    @Test func refractoryTimeThinsShocks() {
        let samples = recording(seconds: 5) { t in Int((t * 100).rounded()) % 10 == 0 && t > 1 ? 4 : 0 }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        let times = diary.events.filter { $0.kind == .shock }.map(\.timeNanoseconds)
        #expect(times.count == 8)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 500 * millisecond })
    }

    /// Where the body rotates, some samples of a fall are above the limit.
    @Test(arguments: [(Int64(50), 1), (90, 1), (150, 4)]) func aFreeFallIsOneEvent(pause: Int64, count: Int) {
        let samples = recording(seconds: 5) { _ in 0 }.map { sample -> Sample in
            let time = sample.timeNanoseconds / millisecond
            guard time >= 2000, time < 2000 + 4 * (200 + pause) else { return sample }
            let isAbove = (time - 2000) % (200 + pause) >= 200
            return Sample(
                timeNanoseconds: sample.timeNanoseconds, x: 0, y: 0, z: (isAbove ? 0.4 : 0.1) * Units.standardGravity)
        }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.events.count { $0.kind == .freeFall } == count)
    }

    @Test func aDipOfAJoggerIsNoFreeFall() {
        let samples = recording(seconds: 4) { _ in 0 }.map { sample -> Sample in
            let phase = (sample.timeNanoseconds / millisecond) % 500
            return phase < 80 ? Sample(timeNanoseconds: sample.timeNanoseconds, x: 0, y: 0, z: 2) : sample
        }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        #expect(!diary.events.contains { $0.kind == .freeFall })
    }

    @Test func aGapStartsTheFilterAnewAndKeepsAMotionGoing() {
        // Moving steadily from 3 s on; 2.5 s are missing; quiet comes later.
        let samples = recording(seconds: 20) { t in t >= 3 && t < 12 ? (Int(t * 10) % 2 == 0 ? 0.3 : -0.3) : 0 }
            .filter { $0.timeNanoseconds < 6 * second || $0.timeNanoseconds >= 8500 * millisecond }
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.without("moving", "should", "will").map { $0.split(separator: " ")[0] } == ["began", "ended"])
        let repeats = diary.entries.filter { $0.hasPrefix("moving") }.compactMap { Int($0.dropFirst(7)) }
        // Warm-up: 1.5 s after the gap nothing is said.
        #expect(!repeats.contains { $0 >= 6000 && $0 < 10_000 })
        #expect(repeats.contains { $0 >= 10_000 })
    }

    @Test func aGapForgetsAnUnconfirmedOnset() {
        var settings = MotionSettings()
        settings.minimumDuration = .milliseconds(500)
        // The push starts 0.3 s before the gap and is over after it.
        let samples = recording(seconds: 10) { $0 >= 3 && $0 < 5 ? 0.5 : 0 }
            .filter { $0.timeNanoseconds < 3300 * millisecond || $0.timeNanoseconds >= 6 * second }
        let diary = MotionDiary()
        let bench = Bench(samples, settings: settings)
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.without("will").isEmpty)
    }

    /// Of 1.2 s without samples, and 1.5 s in which the filter starts: less than half of 10 s, and more than half of 4 s.
    @Test(arguments: [(10, true), (4, false)])
    func aGapThatIsShortBesideQuietBelongsToIt(quiet: Int, belongs: Bool) {
        var settings = MotionSettings()
        settings.quiet = .seconds(quiet)
        let samples = recording(seconds: 25) { t in t >= 3 && t < 4 ? (Int(t * 10) % 2 == 0 ? 0.3 : -0.3) : 0 }
        func events(_ samples: [Sample], capacity: Int) -> [MotionEvent] {
            let diary = MotionDiary()
            let bench = Bench(samples, settings: settings)
            bench.manager.delegate = diary
            bench.run(capacity: capacity)
            return diary.events
        }
        let whole = events(samples, capacity: 4096)
        #expect(whole.map(\.kind) == [.began, .ended])
        let gapped = samples.filter { !(7 * second..<8200 * millisecond).contains($0.timeNanoseconds) }
        for capacity in [1, 7, 4096] { #expect((events(gapped, capacity: capacity) == whole) == belongs) }
        #expect(events(gapped, capacity: 4096).map(\.kind) == [.began, .ended])
    }

    /// The size of a vibration falls to zero twice a period, for some samples at these rates.
    @Test(arguments: [400, 800, 1600], [1, 7, 4096])
    func aVibrationBeginsAtAnyRate(rate: Int, capacity: Int) throws {
        let samples = (0..<4 * rate).map { index -> Sample in
            let time = Int64(index) * second / Int64(rate)
            var sample = rest(time)
            let seconds = Double(max(index - 2 * rate, 0)) / Double(rate)
            let size = sin(2 * Double.pi * 23.3 * seconds)
            sample.x = 0.1 * Float(size) * Units.standardGravity
            return sample
        }
        for features: Set<MotionSettings.Feature> in [[.motion], MotionSettings.Feature.usual] {
            var settings = MotionSettings()
            settings.features = features
            let diary = MotionDiary()
            let bench = Bench(samples, settings: settings)
            bench.manager.delegate = diary
            bench.run(capacity: capacity)
            let began = try #require(diary.events.first)
            #expect(began.kind == .began && began.onsetNanoseconds < 2010 * millisecond)
            #expect(began.timeNanoseconds < 2040 * millisecond && began.magnitudeG > 0.09)
        }
    }

    /// Jolts of one sample at 100 Hz: those 10 ms apart are one movement, those 20 ms apart are not.
    @Test(arguments: [(2, true), (3, false)])
    func aDipEndsNoMovementUnlessItLasts(period: Int, begins: Bool) {
        let diary = MotionDiary()
        let samples = recording(seconds: 5) { t in
            let index = Int((t * 100).rounded())
            return (300..<320).contains(index) && index.isMultiple(of: period) ? 0.1 : 0
        }
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run()
        #expect(diary.events.contains { $0.kind == .began } == begins)
    }

    @Test func aStampAtTheEndOfTimeDoesNotTrap() {
        var samples = recording(seconds: 3) { $0 > 2 ? 1 : 0 }
        samples.append(rest(.max - 1))
        samples.append(rest(.max))
        let bench = Bench([rest(.min)] + samples)
        bench.run()
        #expect(bench.manager.isDetecting)
    }

    @Test func magnitudeMeasureIgnoresAPureTurn() {
        // Gravity turns from z to y within a second: a large user acceleration, a constant length.
        let turn = (0..<800).map { i -> Sample in
            let t = Float(i) / 100
            let angle = min(max(t - 3, 0), 1)
            return Sample(
                timeNanoseconds: Int64(i) * 10 * millisecond, x: 0, y: angle * 9.80665,
                z: (1 - angle * angle).squareRoot() * 9.80665)
        }
        var settings = MotionSettings()
        settings.measure = .magnitude
        for (measure, expected) in [(MotionSettings.Measure.magnitude, 0), (.userAcceleration, 1)] {
            settings.measure = measure
            let bench = Bench(turn, settings: settings)
            let diary = MotionDiary()
            bench.manager.delegate = diary
            bench.run()
            #expect(diary.events.filter { $0.kind == .began }.count == expected)
        }
    }

    /// Rest with movements, falls, blows, gaps and faults in it, some of them right behind a block of rest.
    private func eventfulRecording(_ seed: UInt64) -> [Sample] {
        var random = SeededGenerator(seed: seed)
        var samples: [Sample] = []
        var time: Int64 = 0
        while samples.count < 6000 {
            let strength = Float([0, 0, 0.03, 0.4, 3].randomElement(using: &random) ?? 0)
            let gravity: Float = Int.random(in: 0..<8, using: &random) == 0 ? 0.1 : 1
            for _ in 0..<Int.random(in: 1...700, using: &random) {
                var sample = rest(time)
                sample.z *= gravity * (1 + strength * Float.random(in: -1...1, using: &random))
                if Int.random(in: 0..<500, using: &random) == 0 {
                    sample.x = [.nan, .infinity, 1e30].randomElement(using: &random) ?? 0
                }
                samples.append(sample)
                time += 10 * millisecond
            }
            if Int.random(in: 0..<10, using: &random) == 0 { time += 3 * second }
        }
        return samples
    }

    /// Looking for shakes as well needs gravity, and then every sample is looked at; without, blocks are passed over.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func whatIsPassedOverHasNoEvents(seed: UInt64) {
        let samples = eventfulRecording(seed)
        var diaries: [[String]] = []
        for features: Set<MotionSettings.Feature> in [
            [.motion, .freeFall, .shock], MotionSettings.Feature.usual,
        ] {
            var settings = MotionSettings()
            settings.features = features
            settings.measure = .magnitude
            for capacity in [4096, 100] {
                let bench = Bench(samples, settings: settings)
                let diary = MotionDiary()
                bench.manager.delegate = diary
                bench.run(capacity: capacity)
                // Not the samples themselves: one that is not a number is not even equal to itself.
                let events = diary.events.filter { $0.kind != .shake }
                diaries.append(
                    events.map {
                        "\($0.kind) \($0.timeNanoseconds) \($0.onsetNanoseconds) \($0.duration) \($0.magnitudeG)"
                    })
            }
        }
        #expect(diaries[0].count > 4)
        for diary in diaries { #expect(diary == diaries[0]) }
    }

    /// The same by the definition: how far the length is from 1 g.
    @Test(arguments: 0..<5 as Range<UInt64>)
    func magnitudeIsTheDistanceFromOneG(seed: UInt64) {
        let samples = eventfulRecording(seed)
        var settings = MotionSettings()
        settings.features = [.motion]
        settings.measure = .magnitude
        settings.minimumDuration = .zero
        settings.quiet = .zero
        settings.gapLimit = .seconds(100)
        let bench = Bench(samples, settings: settings)
        let diary = MotionDiary()
        bench.manager.delegate = diary
        bench.run()
        var isMoving = false
        var peak = 0.0
        var expected: [(time: Int64, peak: Double)] = []
        for sample in samples {
            let (x, y, z) = (Double(sample.x), Double(sample.y), Double(sample.z))
            let length = (x * x + y * y + z * z).squareRoot() / Double(Units.standardGravity)
            guard length < 1e15 else { continue }
            let distance = abs(length - 1)
            if !isMoving, distance > 0.05 {
                isMoving = true
                peak = distance
                expected.append((sample.timeNanoseconds, peak))
            } else if isMoving, distance < 0.025 {
                isMoving = false
                expected.append((sample.timeNanoseconds, peak))
            }
            if isMoving { peak = max(peak, distance) }
        }
        #expect(diary.events.map(\.timeNanoseconds) == expected.map(\.time))
        for (event, expected) in zip(diary.events, expected) {
            #expect(abs(event.magnitudeG - expected.peak) < 1e-5)
        }
        #expect(expected.count > 10)
    }

    @Test(arguments: [1, 7, 100])
    func deliveriesOfAnySizeGiveTheSameCalls(capacity: Int) {
        let samples = recording(seconds: 20) { t in
            t > 4 && t < 9 ? Float(Int(t * 37) % 5 - 2) : t > 14 && t < 14.5 ? -1 : 0
        }
        let expected = MotionDiary()
        let whole = Bench(samples)
        whole.manager.delegate = expected
        whole.run()
        let diary = MotionDiary()
        let bench = Bench(samples)
        bench.manager.delegate = diary
        bench.run(capacity: capacity)
        #expect(diary.entries == expected.entries)
        #expect(diary.events == expected.events)
        #expect(diary.events.count > 4)
    }

    @Test func nothingThatIsSwitchedOffIsTold() {
        let samples = recording(seconds: 6) { $0 > 3 && $0 < 4 ? 4 : 0 }
        for feature in MotionSettings.Feature.allCases {
            var settings = MotionSettings()
            settings.features = [feature]
            let bench = Bench(samples, settings: settings)
            let diary = MotionDiary()
            bench.manager.delegate = diary
            bench.run()
            let allowed: [MotionEvent.Kind] =
                switch feature {
                case .motion: [.began, .ended]
                case .shake: [.shake]
                case .freeFall: [.freeFall]
                case .shock: [.shock]
                // Without a gyroscope there is none.
                case .rotation: []
                }
            #expect(diary.events.allSatisfy { allowed.contains($0.kind) })
            #expect(diary.events.isEmpty == (feature == .freeFall || feature == .rotation))
        }
    }

    @Test func impossibleSettingsAreNamed() {
        var settings = MotionSettings()
        #expect(settings.problems().isEmpty)
        settings.thresholdG = -1
        settings.quiet = .seconds(-1)
        settings.freeFallG = 1.5
        settings.shockG = .nan
        settings.features = []
        #expect(
            Set(settings.problems().map(\.property))
                == [\.thresholdG, \.releaseG, \.quiet, \.freeFallG, \.shockG, \.features])
        // The sentences name properties, those of others, too.
        settings = MotionSettings()
        settings.releaseG = 0.5
        #expect(settings.problems().map(\.description) == ["releaseG (0.5) is above thresholdG (0.05)"])
    }
}
