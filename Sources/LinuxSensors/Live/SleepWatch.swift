package import Binnacle
import SensorGeometry

/// The end of a rest, told with the first samples after it.
struct WakeUp {
    /// The stamp of the chip's event on CLOCK_MONOTONIC; `nil` when something else ended the rest.
    let onsetNanoseconds: Int64?
}

/// What is done while nothing moves: the buffer of the device is switched off, and an event of its chip is armed.
///
/// A pure state machine over samples, events and times; ``LiveSource`` performs the returned effects. That an event never comes,
/// or comes at rest, is found here.
package struct SleepWatch {
    /// The phase of the device.
    package enum Phase: Equatable {
        /// The buffer is on.
        case awake
        /// A worker thread switches the buffer off and arms the event.
        case fallingAsleep
        /// The event is armed.
        case asleep
        /// A worker thread switches the buffer on.
        case waking
        /// The buffer stays on, because the chip's event cannot be relied on.
        case givenUp
    }

    package enum Input: Sendable {
        /// A worker thread has armed the event, or could not.
        case slept(SensorFailure?)
        /// A worker thread has switched the buffer on again, or could not.
        case woken(SensorFailure?)
        /// The chip's event, with its stamp on CLOCK_MONOTONIC.
        case event(timeNanoseconds: Int64)
        /// ``SleepWatch/checkNanoseconds`` has passed.
        case timer
        /// Single values that a worker thread has read, in m/s².
        case checked(Result<SIMD3<Float>, SensorFailure>)
    }

    package enum Effect: Equatable {
        /// A worker thread switches the buffer off and arms the event.
        case sleep
        /// The device sleeps from now on.
        case begin
        /// A worker thread switches the buffer on; the rest has ended at a stamp, or without an event.
        case wake(onsetNanoseconds: Int64?)
        /// The buffer is on again.
        case resume
        /// A worker thread reads single values.
        case check
        /// The device cannot be read any more.
        case fail(SensorFailure)
        /// Show the user a notice.
        case note(String)
    }

    package private(set) var phase = Phase.awake
    /// When the next ``Input/timer`` is due on CLOCK_MONOTONIC; `nil` without one.
    package private(set) var checkNanoseconds: Int64?

    private let stillNanoseconds: Int64
    private let movedSquared: Float
    private var stillness: Stillness
    /// Whether a sample since the last wake-up was elsewhere than before it.
    private var hasMoved = false
    /// Whether the chip's event has ever come.
    private var hasSeenEvent = false
    private var sleptNanoseconds: Int64 = 0
    private var falseAlarmCount = 0
    /// An event that came while the buffer was still being switched off.
    private var earlyEvent: Int64?
    private var isChecking = false

    /// The interval of single values until the first event.
    package static let checkIntervalNanoseconds: Int64 = 60_000_000_000
    /// An event this soon after it was armed, three times in a row and without movement, is no movement.
    private static let hastyNanoseconds: Int64 = 1_000_000_000
    private static let mostFalseAlarms = 3

    /// Begins awake.
    package init(_ settings: ChipSettings, thresholdG: Double?) {
        stillNanoseconds = Units.nanoseconds(settings.still)
        stillness = Stillness(limitG: settings.stillG)
        // Twice what should have raised an event, and more than a table that bends.
        let moved = Float(max(2 * (thresholdG ?? settings.thresholdG), 0.1) * Gravity.standard)
        movedSquared = moved * moved
    }

    /// Looks at samples while the buffer is on; returns whether the device is to fall asleep.
    package mutating func follow(_ columns: SampleColumns) -> Bool {
        if stillness.follow(columns) { hasMoved = true }
        guard phase == .awake, stillness.nanoseconds >= stillNanoseconds else { return false }
        phase = .fallingAsleep
        return true
    }

    /// The effects of an input at a time on CLOCK_MONOTONIC; an input that the phase does not expect is ignored.
    package mutating func handle(_ input: Input, at now: Int64) -> [Effect] {
        switch (phase, input) {
        case (.fallingAsleep, .slept(nil)):
            phase = .asleep
            sleptNanoseconds = now
            checkNanoseconds = hasSeenEvent ? nil : now + Self.checkIntervalNanoseconds
            if let early = earlyEvent.take() { return [.begin] + handle(.event(timeNanoseconds: early), at: now) }
            return [.begin]
        case (.fallingAsleep, .slept(let failure?)):
            return giveUp("does not sleep at rest: \(failure.description)")
        case (.fallingAsleep, .event(let time)):
            earlyEvent = earlyEvent ?? time
            return []
        case (.asleep, .event(let time)):
            hasSeenEvent = true
            let isHasty = now - sleptNanoseconds < Self.hastyNanoseconds
            falseAlarmCount = isHasty && !hasMoved ? falseAlarmCount + 1 : 0
            if falseAlarmCount >= Self.mostFalseAlarms {
                return stayAwake("its chip reports movement at rest, perhaps because it sees gravity")
            }
            return wake(time)
        case (.asleep, .timer):
            checkNanoseconds = now + Self.checkIntervalNanoseconds
            guard !isChecking else { return [] }
            isChecking = true
            return [.check]
        case (_, .checked(let values)):
            isChecking = false
            guard phase == .asleep else { return [] }
            switch values {
            case .failure(let failure): return stayAwake(failure.description)
            case .success(let vector):
                guard let distance = stillness.squaredDistance(vector), !(distance <= movedSquared) else { return [] }
                return stayAwake("it was moved, and its chip reported nothing; is its interrupt connected?")
            }
        case (.waking, .woken(nil)):
            phase = .awake
            return [.resume]
        case (.givenUp, .woken(nil)): return [.resume]
        case (.waking, .woken(let failure?)), (.givenUp, .woken(let failure?)): return [.fail(failure)]
        default: return []
        }
    }

    private mutating func wake(_ onset: Int64?) -> [Effect] {
        phase = .waking
        checkNanoseconds = nil
        hasMoved = false
        // Stillness is counted from here; where it was stays, so that a false alarm is recognised.
        stillness.interrupt()
        return [.wake(onsetNanoseconds: onset)]
    }

    private mutating func stayAwake(_ reason: String) -> [Effect] {
        giveUp("does not sleep at rest any more: " + reason)
    }

    private mutating func giveUp(_ reason: String) -> [Effect] {
        let effects = wake(nil)
        phase = .givenUp
        return effects + [.note(reason)]
    }
}
