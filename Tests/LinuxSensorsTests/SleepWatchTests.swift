import Binnacle
import LinuxSensors
import TestSupport
import Testing

/// When a device falls asleep, what wakes it, and when its chip is not believed any more.
@Suite struct SleepWatchTests {
    private static let second: Int64 = 1_000_000_000
    private static let g: Float = 9.80665

    /// A state machine with its inputs and effects, and samples a hundredth of a second apart.
    private final class Bench {
        var watch: SleepWatch
        let stream: SampleStream
        let sensor = Sensor(name: "chassis")
        var time: Int64 = 0

        init() throws {
            watch = SleepWatch(try #require(ChipSettings(watch: .chip, still: .seconds(1))), thresholdG: 0.05)
            stream = SampleStream(sensor: sensor, kind: .accelerometer)
        }

        /// Shows samples of a time in which the device lies somewhere; whether it is to fall asleep.
        func lie(_ seconds: Double, x: Float = 0, capacity: Int = 64) -> Bool {
            var isSleepy = false
            for _ in stride(from: 0, to: seconds, by: Double(capacity) / 100) {
                let delivery = SampleDelivery(streams: [stream], capacity: capacity)
                for _ in 0..<capacity {
                    time += SleepWatchTests.second / 100
                    delivery.batches[0].append(timeNanoseconds: time, x: x, y: 0, z: SleepWatchTests.g)
                }
                isSleepy = watch.follow(delivery.batches[0].columns) || isSleepy
            }
            return isSleepy
        }

        func handle(_ input: SleepWatch.Input) -> [SleepWatch.Effect] { watch.handle(input, at: time) }

        /// Falls asleep and lies there for a time.
        func sleep(for seconds: Int64 = 10) {
            #expect(lie(2))
            #expect(handle(.slept(nil)) == [.begin])
            time += seconds * SleepWatchTests.second
        }
    }

    @Test(arguments: [1, 7, 64])
    func aDeviceSleepsWhenNothingHasMovedForLong(capacity: Int) throws {
        let bench = try Bench()
        // A delivery of 64 samples is longer than the rest.
        let isEarly = bench.lie(0.9, capacity: capacity)
        #expect(isEarly == (capacity == 64))
        #expect(isEarly || bench.lie(1, capacity: capacity))
        #expect(bench.watch.phase == .fallingAsleep)
    }

    @Test func movementBeginsTheTimeAnew() throws {
        let bench = try Bench()
        for number in 0..<10 { #expect(!bench.lie(0.64, x: number % 2 == 0 ? 0 : 0.03 * Self.g)) }
        #expect(bench.lie(2))
    }

    @Test func samplesThatAreNoNumbersAreMovement() throws {
        let bench = try Bench()
        #expect(!bench.lie(5, x: .nan))
    }

    @Test func theEventWakesWithItsStamp() throws {
        let bench = try Bench()
        bench.sleep()
        #expect(bench.handle(.event(timeNanoseconds: 5)) == [.wake(onsetNanoseconds: 5)])
        // A second one changes nothing.
        #expect(bench.handle(.event(timeNanoseconds: 6)).isEmpty)
        #expect(bench.handle(.woken(nil)) == [.resume])
        #expect(bench.watch.phase == .awake)
        bench.sleep()
        // It has come, so no more samples are taken.
        #expect(bench.watch.checkNanoseconds == nil)
    }

    @Test func anEventWhileTheBufferIsSwitchedOffIsKept() throws {
        let bench = try Bench()
        #expect(bench.lie(2))
        #expect(bench.handle(.event(timeNanoseconds: 5)).isEmpty)
        #expect(bench.handle(.event(timeNanoseconds: 6)).isEmpty)
        #expect(bench.handle(.slept(nil)) == [.begin, .wake(onsetNanoseconds: 5)])
    }

    @Test func aChipThatCannotBeArmedIsLeftAlone() throws {
        let bench = try Bench()
        #expect(bench.lie(2))
        let effects = bench.handle(.slept(SensorFailure(.permission, "no")))
        #expect(effects == [.wake(onsetNanoseconds: nil), .note("does not sleep at rest: no")])
        #expect(bench.handle(.woken(nil)) == [.resume])
        #expect(!bench.lie(5))
    }

    /// A sample a minute until the first event: who was moved without one has no interrupt.
    @Test func aChipThatSaysNothingIsFound() throws {
        let bench = try Bench()
        bench.sleep()
        #expect(bench.watch.checkNanoseconds == bench.time - 10 * Self.second + SleepWatch.checkIntervalNanoseconds)
        #expect(bench.handle(.timer) == [.check])
        // While the worker still reads, it is not asked again.
        #expect(bench.handle(.timer).isEmpty)
        #expect(bench.handle(.checked(.success([0.05 * Self.g, 0, Self.g]))).isEmpty)
        #expect(bench.handle(.timer) == [.check])
        let effects = bench.handle(.checked(.success([0.5 * Self.g, 0, 0.87 * Self.g])))
        #expect(effects.first == .wake(onsetNanoseconds: nil))
        guard case .note(let text)? = effects.last else { return #expect(Bool(false)) }
        #expect(text.contains("its chip reported nothing"))
        #expect(bench.watch.phase == .givenUp)
        #expect(bench.watch.checkNanoseconds == nil)
    }

    @Test func valuesThatCannotBeReadEndTheRest() throws {
        let bench = try Bench()
        bench.sleep()
        #expect(bench.handle(.timer) == [.check])
        #expect(bench.handle(.checked(.failure(SensorFailure(.inputOutput, "no")))).count == 2)
        // The answer of a worker that comes late changes nothing.
        #expect(bench.handle(.checked(.success([9, 9, 9]))).isEmpty)
    }

    /// An absolute threshold below gravity fires as soon as it is armed.
    @Test func aChipThatSeesGravityIsFound() throws {
        let bench = try Bench()
        for _ in 0..<2 {
            bench.sleep(for: 0)
            #expect(bench.handle(.event(timeNanoseconds: 5)) == [.wake(onsetNanoseconds: 5)])
            #expect(bench.handle(.woken(nil)) == [.resume])
        }
        bench.sleep(for: 0)
        let effects = bench.handle(.event(timeNanoseconds: 5))
        #expect(effects.count == 2 && effects.first == .wake(onsetNanoseconds: nil))
        #expect(bench.watch.phase == .givenUp)
    }

    /// Who is moved again and again just after he has fallen asleep has a chip that is right.
    @Test func hastyMovementIsNoFalseAlarm() throws {
        let bench = try Bench()
        for _ in 0..<6 {
            bench.sleep(for: 0)
            #expect(bench.handle(.event(timeNanoseconds: 5)) == [.wake(onsetNanoseconds: 5)])
            #expect(bench.handle(.woken(nil)) == [.resume])
            #expect(!bench.lie(0.64, x: 0.3 * Self.g))
        }
        #expect(bench.watch.phase == .awake)
    }

    /// Where it lies after the event is elsewhere, too, when no sample of the way there was taken.
    @Test func whatLiesElsewhereWasMoved() throws {
        let bench = try Bench()
        for number in 0..<6 {
            #expect(bench.lie(2, x: Float(number % 2) * 0.1 * Self.g))
            #expect(bench.handle(.slept(nil)) == [.begin])
            #expect(bench.handle(.event(timeNanoseconds: 5)) == [.wake(onsetNanoseconds: 5)])
            #expect(bench.handle(.woken(nil)) == [.resume])
        }
        #expect(bench.watch.phase == .awake)
    }

    @Test func aBufferThatStaysOffIsAFailure() throws {
        let bench = try Bench()
        bench.sleep()
        _ = bench.handle(.event(timeNanoseconds: 5))
        let failure = SensorFailure(.inputOutput, "no")
        #expect(bench.handle(.woken(failure)) == [.fail(failure)])
    }

    @Test func twoDetectorsGetWhatKeepsBothPromises() throws {
        let one = try #require(
            ChipSettings(watch: .chip, reports: [.taps], still: .seconds(1), thresholdG: 0.05, stillG: 0.02))
        let other = try #require(
            ChipSettings(
                watch: .automatic, reports: [.steps], still: .seconds(3), thresholdG: 0.2, stillG: 0.01, freeFallG: 0.3,
                wakesMachine: true))
        let both = ChipSettings(
            watch: .automatic, reports: [.taps, .steps], still: .seconds(3), thresholdG: 0.05, stillG: 0.01,
            freeFallG: 0.3, wakesMachine: true)
        #expect(one.joined(with: other) == both)
        #expect(other.joined(with: one) == both)
        #expect(ChipSettings(watch: .samples) == nil)
    }
}
