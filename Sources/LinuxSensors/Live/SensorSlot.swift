package import Binnacle

/// The state of one sensor of a live source: which device plays it, what is tried when that fails, what was reported.
///
/// A pure state machine. ``LiveSource`` tells it what happened and performs the effects, in their order. Single samples do
/// not pass through it.
package struct SensorSlot: Equatable {
    /// Devices are known by their folders in sysfs; times are on CLOCK_MONOTONIC.
    package enum State: Equatable {
        /// The sensor has no device. One is looked for at `retry`, and whenever devices were found or released.
        case unassigned(retry: Int64?)
        /// The device is opened at `retry`, and whenever devices were found or released.
        case waiting(device: String, retry: Int64)
        /// A worker thread opens the device. When it has not answered at `due`, that is reported once.
        case opening(device: String, due: Int64?)
        /// The device was removed while a worker thread opened it; the worker's answer comes before another opening.
        case abandoned(device: String)
        /// The device is read. When it seems silent, it is read once more before that is believed.
        case reading(device: String, Method, seemsSilent: Bool)
        /// The sensor is no longer requested. A worker thread opens or closes its device; until `due` other sensors wait
        /// for that.
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

    /// What was done about a buffer that gave no samples; `pollings` counts how often in a row it was given up for polling.
    package enum Remedy: Equatable {
        case none
        /// The buffer was switched off and on again.
        case rearmed(at: Int64, pollings: Int)
        /// Single values are read until `due`.
        case polling(due: Int64, pollings: Int)
        /// The buffer is tried again after a time of polling.
        case retrying(at: Int64, pollings: Int)
    }

    /// A device for a sensor that has none.
    package enum Candidate: Equatable {
        case device(String)
        /// The only matching device is being closed for another sensor, at the latest until then.
        case held(until: Int64)
        case none(reason: String)
    }

    /// What happened.
    package enum Input: Equatable {
        /// The answer to ``Effect/findDevice``, or to devices that were found or released.
        case candidate(Candidate)
        /// The ``SensorSlot/deadline`` has come.
        case timer
        /// A worker thread has opened the device.
        case opened(Method)
        case openingFailed(SensorFailure)
        /// A worker thread has closed the device.
        case closed
        /// The first sample since the opening or since the last report of a failure.
        case delivered
        /// One reading of a polled device failed.
        case missed(SensorFailure)
        /// The device cannot be read.
        case failed(SensorFailure)
        /// No sample came for as long as is unusual for the device, and everything was read.
        case silent(seconds: Double)
        /// The device is no longer silent.
        case heard
        /// The device was removed.
        case removed(isReplaceable: Bool)
        /// The machine was suspended.
        case suspended(seconds: Double)
        /// The sensor is no longer requested.
        case leave
    }

    /// What has to be done.
    package enum Effect: Equatable {
        /// Look for a device for this sensor.
        case findDevice
        /// Let all sensors without an open device try again.
        case deviceReleased
        /// Have a worker thread open the device.
        case open(device: String, isPolled: Bool)
        /// Begin to read what the worker thread has opened.
        case read
        /// Read once more without being woken.
        case readAgain
        /// Measure the time of silence from now on.
        case restartSilence
        case close(Closing)
        /// Fail the sensor's streams.
        case report(SensorFailure)
        /// Tell the user, once.
        case note(String)
        /// Report lost samples; without `seconds` it is one.
        case lose(SampleLoss.Cause, seconds: Double?, detail: String)
        case authorize(AuthorizationStatus)
    }

    /// What happens to a device that is closed.
    package enum Closing: Equatable {
        /// A worker thread switches its buffer off and answers with ``Input/closed``.
        case switchOff
        /// The next opening switches its buffer off.
        case leaveOn
        /// Nothing, because it was removed.
        case removed
    }

    package private(set) var state: State
    package private(set) var remedy: Remedy
    /// The failure that was reported; `nil` while the sensor delivers.
    private var reported: SensorFailure.Category?
    /// The failures in a row.
    private var failureCount = 0
    private let bufferRetryNanoseconds: Int64

    /// A driver should open a device within this time.
    static let longestOpening: Int64 = 10_000_000_000
    /// A buffer that was silent this long after it was rearmed is rearmed again.
    private static let rearmingNanoseconds: Int64 = 60_000_000_000

    /// Creates a sensor without a device.
    ///
    /// - Parameters:
    ///   - bufferRetryNanoseconds: How long a silent buffer is given up for polling the first time; each further time in
    ///     a row takes twice as long.
    ///   - state: Where it begins, for tests.
    ///   - remedy: What was tried before, for tests.
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

    /// Whether a device may be opened now.
    package var isWaiting: Bool {
        switch state {
        case .unassigned, .waiting: true
        default: false
        }
    }

    /// Whether ``Input/heard`` is waited for.
    var seemsSilent: Bool {
        if case .reading(_, _, seemsSilent: true) = state { true } else { false }
    }

    /// When ``Input/timer`` is due, on CLOCK_MONOTONIC.
    package var deadline: Int64? {
        switch (state, remedy) {
        case (.unassigned(let retry), _): retry
        case (.waiting(_, let retry), _): retry
        case (.opening(_, let due), _): due
        case (.reading, .polling(let due, _)): due
        default: nil
        }
    }

    /// Takes an input.
    ///
    /// - Parameters:
    ///   - input: What happened; what a state does not expect is ignored.
    ///   - now: When, on CLOCK_MONOTONIC.
    /// - Returns: What has to be done.
    package mutating func handle(_ input: Input, at now: Int64) -> [Effect] {
        switch (state, input) {
        case (.unassigned, .candidate(let candidate)): return take(candidate, now)
        case (.waiting(let device, _), .candidate): return take(.device(device), now)
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
        case (.opening(let device, _), .opened(let method)):
            if case .retrying(let time, let pollings) = remedy { remedy = .rearmed(at: time, pollings: pollings) }
            state = .reading(device: device, method, seemsSilent: false)
            return [.authorize(.authorized), .read]
        case (.opening(let device, _), .openingFailed(let failure)):
            // Another program has the buffer, and single values do not disturb it.
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
        // The poller goes on, and its next reading makes the sensor active again.
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
            // Single values miss what happens between them.
            guard case .polling(_, let pollings) = remedy else { return [] }
            remedy = .retrying(at: now, pollings: pollings)
            return openAgain(device, now)
        case (.reading(let device, _, _), .suspended(let seconds)):
            remedy = .none
            let detail = "the machine was suspended for \(Self.tenths(seconds)) s: the device is opened anew"
            return [.lose(.suspend, seconds: seconds, detail: detail)] + openAgain(device, now)

        case (.leaving(let device, _, isOpening: true), .opened): return leave(device, now)
        case (.leaving(_, _, isOpening: true), .openingFailed), (.leaving(_, _, isOpening: false), .closed):
            state = .gone
            return [.deviceReleased]
        default: return []
        }
    }

    private mutating func take(_ candidate: Candidate, _ now: Int64) -> [Effect] {
        switch candidate {
        case .device(let device):
            state = .opening(device: device, due: now + Self.longestOpening)
            if case .polling = remedy { return [.open(device: device, isPolled: true)] }
            return [.open(device: device, isPolled: false)]
        case .held(let time):
            state = .unassigned(retry: time)
            return []
        case .none(let reason):
            state = .unassigned(retry: nil)
            return report(SensorFailure(.missing, reason))
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

    /// Reports a failure, once, and tells the user when the reason has become another one.
    private mutating func report(_ failure: SensorFailure) -> [Effect] {
        let before = reported
        reported = failure.category
        let denial: [Effect] =
            failure.category == .permission ? [.authorize(.denied(reason: failure.description))] : []
        guard before != failure.category else { return denial }
        return denial + [before == nil ? .report(failure) : .note(failure.description)]
    }

    /// Has the device opened again after a second, then after twice as long each time, at most 32 s.
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

    /// A buffer that gives no samples is rearmed, then given up for polling, then reported.
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
            // The poller waits for a driver, and goes on when that answers; another poller would wait as well.
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
