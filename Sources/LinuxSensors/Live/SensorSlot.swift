package import Binnacle

/// The state of one sensor of a live source: its device, the remedy for a silent one, the reported failure.
///
/// A pure state machine: ``LiveSource`` passes each input to ``handle(_:at:)`` and performs the returned effects in order. Of the
/// samples, only the first after an opening or a reported failure is an input.
package struct SensorSlot: Equatable {
    /// The phase of the sensor; a device is identified by its folder in sysfs, and times are on CLOCK_MONOTONIC.
    package enum State: Equatable {
        /// The sensor has no device. The slot looks for one at `retry`, and when devices are found or released.
        case unassigned(retry: Int64?)
        /// The sensor has a closed device, which is opened at `retry`, or earlier when devices are found or released.
        case waiting(device: String, retry: Int64)
        /// A worker thread opens the device. If it has not answered by `due`, the slot reports that once.
        case opening(device: String, due: Int64?)
        /// The device was removed while a worker thread opened it. No other device is opened before the thread answers.
        case abandoned(device: String)
        /// The device is open and read. If it `seemsSilent`, it is read once more before the silence is treated.
        case reading(device: String, Method, seemsSilent: Bool)
        /// The sensor is no longer requested, but a worker thread still opens or closes its device; until `due` other sensors
        /// that could use the device wait for it.
        case leaving(device: String, due: Int64, isOpening: Bool)
        /// The sensor is no longer requested and has no device.
        case gone
    }

    /// How a device is read.
    package enum Method: Equatable {
        case buffer(canPoll: Bool)
        case polling
        case evdev
    }

    /// What was done about a buffer that is silent or was refused; `pollings` is the number of consecutive periods of polling.
    package enum Remedy: Equatable {
        case none
        /// The buffer was switched off and on again.
        case rearmed(at: Int64, pollings: Int)
        /// The device is polled until `due`.
        case polling(due: Int64, pollings: Int)
        /// The buffer is opened again after a period of polling.
        case retrying(at: Int64, pollings: Int)

        fileprivate var pollings: Int {
            switch self {
            case .none: 0
            case .rearmed(_, let count), .polling(_, let count), .retrying(_, let count): count
            }
        }
    }

    /// The result of a search for a device.
    package enum Candidate: Equatable {
        case device(String)
        /// No matching device is free; sensors that are no longer requested release theirs, the last one by this time.
        case held(until: Int64)
        /// There is no matching device, or it is not known whether there is one.
        case none(reason: String, SensorFailure.Category = .missing)
        /// The device of another sensor delivers the samples of this one.
        case shared
    }

    package enum Input: Equatable {
        /// The result of ``Effect/findDevice``; ``LiveSource`` also sends it when devices were found or released.
        case candidate(Candidate)
        /// The ``SensorSlot/deadline`` has passed.
        case timer
        /// A worker thread has opened the device; to read single values in place of a buffer that was refused if `isSubstitute`.
        case opened(Method, isSubstitute: Bool = false)
        case openingFailed(SensorFailure)
        /// A worker thread has closed the device.
        case closed
        /// The first sample since the opening or since the last report of a failure.
        case delivered
        /// One reading of a polled device failed; polling continues.
        case missed(SensorFailure)
        case failed(SensorFailure)
        /// No sample came within the device's stall time, and nothing is left to read.
        case silent(seconds: Double)
        /// The device is no longer silent.
        case heard
        /// The device was removed; `isReplaceable` if another matching device is free.
        case removed(isReplaceable: Bool)
        /// The device has to be opened with other kinds of samples.
        case changed
        case suspended(seconds: Double)
        /// The sensor is no longer requested.
        case leave
    }

    package enum Effect: Equatable {
        /// Look for a device for this sensor.
        case findDevice
        /// All sensors without an open device try again.
        case deviceReleased
        /// A worker thread opens the device.
        case open(device: String, isPolled: Bool)
        /// Begin to read the device that the worker thread has opened.
        case read
        /// Read the device once more, although it has not reported data.
        case readAgain
        /// Measure the silence from now on.
        case restartSilence
        case close(Closing)
        /// Fail the sensor's streams.
        case report(SensorFailure)
        /// Show the user a notice; the same text only once.
        case note(String)
        /// Report lost samples: one if `seconds` is `nil`, otherwise as many as the rate suggests.
        case lose(SampleLoss.Cause, seconds: Double?, detail: String)
        case authorize(AuthorizationStatus)
    }

    /// The treatment of a device that is closed.
    package enum Closing: Equatable {
        /// A worker thread disables the buffer, closes the device, and answers with ``Input/closed``.
        case switchOff
        /// The device is closed with its buffer enabled; the next opening disables the buffer.
        case leaveOn
        /// Nothing is disabled, because the device was removed.
        case removed
    }

    package private(set) var state: State
    package private(set) var remedy: Remedy
    /// The failure that was reported; `nil` while the sensor delivers.
    private var reported: SensorFailure.Category?
    /// The number of failures and removals since the last sample.
    private var failureCount = 0
    private let bufferRetryNanoseconds: Int64

    /// The time within which a driver should open or close a device.
    static let longestOpening: Int64 = 10_000_000_000
    /// After this time without silence, a rearmed buffer that falls silent is rearmed again instead of polled.
    private static let rearmingNanoseconds: Int64 = 60_000_000_000

    /// Creates a sensor without a device.
    ///
    /// A device with a silent buffer is polled for `bufferRetryNanoseconds` the first time; each consecutive time is twice as
    /// long, up to 64 times the first. Tests give an initial state and remedy.
    package init(
        bufferRetryNanoseconds: Int64, state: State = .unassigned(retry: nil), remedy: Remedy = .none
    ) {
        self.bufferRetryNanoseconds = bufferRetryNanoseconds
        self.state = state
        self.remedy = remedy
    }

    /// The device that no other sensor may open.
    package var device: String? {
        switch state {
        case .unassigned, .gone: nil
        case .waiting(let device, _), .opening(let device, _), .abandoned(let device), .reading(let device, _, _),
            .leaving(let device, _, _):
            device
        }
    }

    /// Whether no device is open and one may be opened now.
    package var isWaiting: Bool {
        switch state {
        case .unassigned, .waiting: true
        default: false
        }
    }

    /// Whether there is no device, and a search may find one.
    var isUnassigned: Bool { isWaiting && device == nil }

    /// Whether the device is read, or is expected to be soon.
    var isInUse: Bool {
        switch state {
        case .opening(_, _?), .reading: true
        default: false
        }
    }

    /// Whether the device is read once more because it seems silent; ``Input/heard`` ends that.
    var seemsSilent: Bool {
        if case .reading(_, _, seemsSilent: true) = state { true } else { false }
    }

    /// The time of the next ``Input/timer`` on CLOCK_MONOTONIC.
    package var deadline: Int64? {
        switch (state, remedy) {
        case (.unassigned(let retry), _): retry
        case (.waiting(_, let retry), _): retry
        case (.opening(_, let due), _): due
        case (.reading, .polling(let due, _)): due
        default: nil
        }
    }

    /// Forgets that a failure was reported, because there are streams now that do not know of it.
    mutating func reportAgain() { reported = nil }

    /// The effects of an input at a time on CLOCK_MONOTONIC; an input that the state does not expect is ignored.
    package mutating func handle(_ input: Input, at now: Int64) -> [Effect] {
        switch (state, input) {
        case (.unassigned, .candidate(let candidate)): return adopt(candidate, now)
        case (.waiting(let device, _), .candidate): return adopt(.device(device), now)
        case (.unassigned, .timer), (.waiting, .timer): return [.findDevice]
        case (.unassigned, .leave):
            state = .gone
            return []

        case (.waiting(let device, _), .suspended):
            state = .waiting(device: device, retry: now)
            return []
        case (.waiting(let device, _), .leave), (.reading(let device, _, _), .leave): return leave(device, now)
        case (.waiting(let device, _), .removed(let isReplaceable)),
            (.reading(let device, _, _), .removed(let isReplaceable)):
            state = .unassigned(retry: isReplaceable ? now : nil)
            return removed(device)

        case (.opening(let device, _), .timer):
            state = .opening(device: device, due: nil)
            return report(SensorFailure(.silent, "\(device): its driver has not answered for 10 s"))
        case (.opening(let device, _), .opened(let method, let isSubstitute)):
            if isSubstitute {
                // A permission or a trigger may come later, as when the machine starts.
                poll(after: remedy.pollings, now)
            } else if case .retrying(let time, let pollings) = remedy {
                remedy = .rearmed(at: time, pollings: pollings)
            }
            state = .reading(device: device, method, seemsSilent: false)
            return [.authorize(.authorized), .read]
        case (.opening(let device, _), .openingFailed(let failure)):
            // Another program uses the buffer, and polling does not disturb it.
            if case .retrying(_, let pollings) = remedy, failure.category == .busy {
                poll(after: pollings, now)
                state = .waiting(device: device, retry: now)
                return []
            }
            return fail(device, failure, now)
        case (.opening(let device, _), .removed):
            state = .abandoned(device: device)
            return removed(device)
        case (.opening(let device, _), .leave), (.abandoned(let device), .leave):
            state = .leaving(device: device, due: now + Self.longestOpening, isOpening: true)
            return []
        case (.abandoned, .opened):
            state = .unassigned(retry: nil)
            return [.close(.switchOff), .deviceReleased]
        case (.abandoned, .openingFailed):
            state = .unassigned(retry: nil)
            return [.deviceReleased]

        case (.reading, .delivered):
            reported = nil
            failureCount = 0
            return []
        case (.reading, .missed(let failure)):
            return reported == nil ? [.lose(.readError, seconds: nil, detail: failure.description)] : []
        // The poller continues, and its next reading makes the sensor active again.
        case (.reading(_, .polling, _), .failed(let failure)) where failure.category != .removed:
            return report(failure)
        case (.reading(let device, _, _), .failed(let failure)):
            return [.close(.switchOff)] + fail(device, failure, now)
        case (.reading(let device, let method, seemsSilent: false), .silent):
            state = .reading(device: device, method, seemsSilent: true)
            return [.readAgain]
        case (.reading(let device, let method, seemsSilent: true), .silent(let seconds)):
            state = .reading(device: device, method, seemsSilent: false)
            return treatSilence(device, method, seconds, now)
        case (.reading(let device, let method, seemsSilent: true), .heard):
            state = .reading(device: device, method, seemsSilent: false)
            return []
        case (.reading(let device, _, _), .timer):
            // Polling misses movements between two readings, so the buffer is tried again.
            guard case .polling(_, let pollings) = remedy else { return [] }
            remedy = .retrying(at: now, pollings: pollings)
            return openAgain(device, now)
        case (.reading(let device, _, _), .changed): return openAgain(device, now)
        case (.reading(let device, _, _), .suspended(let seconds)):
            remedy = .none
            let detail = "the machine was suspended for \(Self.tenths(seconds)) s: the device is opened again"
            return [.lose(.suspend, seconds: seconds, detail: detail)] + openAgain(device, now)

        case (.leaving(let device, _, isOpening: true), .opened): return leave(device, now)
        case (.leaving(_, _, isOpening: true), .openingFailed), (.leaving(_, _, isOpening: false), .closed):
            state = .gone
            return [.deviceReleased]
        default: return []
        }
    }

    private mutating func adopt(_ candidate: Candidate, _ now: Int64) -> [Effect] {
        switch candidate {
        case .device(let device):
            state = .opening(device: device, due: now + Self.longestOpening)
            if case .polling = remedy { return [.open(device: device, isPolled: true)] }
            return [.open(device: device, isPolled: false)]
        case .held(let time):
            state = .unassigned(retry: time)
            return []
        case .none(let reason, let category):
            state = .unassigned(retry: nil)
            return report(SensorFailure(category, reason))
        case .shared:
            state = .unassigned(retry: nil)
            reported = nil
            return []
        }
    }

    private mutating func leave(_ device: String, _ now: Int64) -> [Effect] {
        state = .leaving(device: device, due: now + Self.longestOpening, isOpening: false)
        return [.close(.switchOff)]
    }

    private mutating func openAgain(_ device: String, _ now: Int64) -> [Effect] {
        state = .waiting(device: device, retry: now)
        return [.close(.leaveOn)]
    }

    // MARK: - Failures

    /// Fails the streams at the first failure, and shows the user a notice when a later one has another category.
    private mutating func report(_ failure: SensorFailure) -> [Effect] {
        let before = reported
        reported = failure.category
        let denial: [Effect] =
            failure.category == .permission ? [.authorize(.denied(reason: failure.description))] : []
        guard before != failure.category else { return denial }
        return denial + [before == nil ? .report(failure) : .note(failure.description)]
    }

    /// Reports a failure and opens the device again after 1 s, doubled at each consecutive failure up to 32 s.
    private mutating func fail(_ device: String, _ failure: SensorFailure, _ now: Int64) -> [Effect] {
        let delay: Int64 = 1_000_000_000 << min(Int64(failureCount), 5)
        failureCount += 1
        state = .waiting(device: device, retry: now + delay)
        return report(failure)
    }

    private mutating func removed(_ device: String) -> [Effect] {
        remedy = .none
        failureCount += 1
        return [.close(.removed)] + report(SensorFailure(.removed, "\(device): the device was removed"))
            + [.authorize(.notDetermined)]
    }

    // MARK: - Silence

    /// Rearms a silent buffer, then polls the device; reports the silence if neither is possible or polling fails, too.
    private mutating func treatSilence(
        _ device: String, _ method: Method, _ seconds: Double, _ now: Int64
    ) -> [Effect] {
        if case .rearmed(let time, _) = remedy, now - time > Self.rearmingNanoseconds { remedy = .none }
        let silence = "no sample for \(Self.tenths(seconds)) s"
        let action: String
        switch (method, remedy) {
        case (.buffer, .none):
            remedy = .rearmed(at: now, pollings: 0)
            action = ": the buffer is switched off and on again"
        case (.buffer(canPoll: true), .rearmed(_, let pollings)):
            poll(after: pollings, now)
            action = ", also after the buffer was switched on again: single values are read instead"
        case (.polling, _):
            // The poller continues when the driver answers; a new poller would also have to wait.
            return [.restartSilence] + report(SensorFailure(.silent, "\(device): \(silence)"))
        default: return [.close(.switchOff)] + fail(device, SensorFailure(.silent, "\(device): \(silence)"), now)
        }
        return [.lose(.stall, seconds: seconds, detail: silence + action)] + openAgain(device, now)
    }

    private mutating func poll(after pollings: Int, _ now: Int64) {
        let due = Units.later(now, by: bufferRetryNanoseconds << Int64(min(pollings, 6)))
        remedy = .polling(due: due, pollings: pollings + 1)
    }

    private static func tenths(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }
}
