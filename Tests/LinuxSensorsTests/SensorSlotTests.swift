import Binnacle
import LinuxSensors
import TestSupport
import Testing

/// The state machine of one sensor, without threads and devices.
@Suite struct SensorSlotTests {
    typealias State = SensorSlot.State
    typealias Remedy = SensorSlot.Remedy
    typealias Input = SensorSlot.Input
    typealias Effect = SensorSlot.Effect

    static let second: Int64 = 1_000_000_000
    static let now = 1000 * second
    static let retry = 60 * second
    static let buffer = SensorSlot.Method.buffer(canPoll: true)

    /// One row: in a state, after a remedy, an input gives effects and leads to another state and remedy.
    struct Row: CustomTestStringConvertible {
        let name: String
        let state: State
        var remedy = Remedy.none
        let input: Input
        var effects: [Effect] = []
        let next: State
        var nextRemedy: Remedy?
        var testDescription: String { name }
    }

    static func failure(_ category: SensorFailure.Category) -> SensorFailure { SensorFailure(category, "why") }
    static func reading(
        _ method: SensorSlot.Method = buffer, seemsSilent: Bool = false
    ) -> State { .reading(device: "d", method, seemsSilent: seemsSilent) }
    static func waiting(after seconds: Int64) -> State { .waiting(device: "d", retry: now + seconds * second) }
    static func leaving(isOpening: Bool) -> State {
        .leaving(device: "d", due: now + 10 * second, isOpening: isOpening)
    }
    static func stall(_ action: String) -> Effect {
        .lose(.stall, seconds: 1.26, detail: "no sample for 1.3 s" + action)
    }
    static let removal: [Effect] = [
        .close(.removed), .report(SensorFailure(.removed, "d: the device was removed")), .authorize(.notDetermined),
    ]
    static let opening = State.opening(device: "d", due: now + 10 * second)
    static let rearmed = ": the buffer is switched off and on again"
    static let givenUp = ", also after the buffer was switched on again: single values are read instead"

    static let openings = [
        Row(
            name: "a device is found", state: .unassigned(retry: nil), input: .candidate(.device("d")),
            effects: [.open(device: "d", isPolled: false)], next: opening),
        Row(
            name: "no device is found", state: .unassigned(retry: now), input: .candidate(.none(reason: "why")),
            effects: [.report(failure(.missing))], next: .unassigned(retry: nil)),
        Row(
            name: "the device is held", state: .unassigned(retry: nil), input: .candidate(.held(until: 7)),
            next: .unassigned(retry: 7)),
        Row(
            name: "the time to look again", state: .unassigned(retry: now), input: .timer, effects: [.findDevice],
            next: .unassigned(retry: now)),
        Row(
            name: "the time to open again", state: waiting(after: 0), input: .timer, effects: [.findDevice],
            next: waiting(after: 0)),
        Row(
            name: "the own device is opened again", state: waiting(after: 5), input: .candidate(.device("other")),
            effects: [.open(device: "d", isPolled: false)], next: opening),
        Row(
            name: "a silent buffer is passed over", state: waiting(after: 0),
            remedy: .polling(due: 9, pollings: 1), input: .candidate(.device("d")),
            effects: [.open(device: "d", isPolled: true)], next: opening),
        Row(
            name: "a driver answers", state: opening, input: .opened(buffer),
            effects: [.authorize(.authorized), .read], next: reading()),
        Row(
            name: "a buffer is refused", state: opening, input: .opened(.polling, isSubstitute: true),
            effects: [.authorize(.authorized), .read], next: reading(.polling),
            nextRemedy: .polling(due: now + retry, pollings: 1)),
        Row(
            name: "a buffer is refused again", state: opening, remedy: .retrying(at: 0, pollings: 1),
            input: .opened(.polling, isSubstitute: true), effects: [.authorize(.authorized), .read],
            next: reading(.polling), nextRemedy: .polling(due: now + 2 * retry, pollings: 2)),
        Row(
            name: "what is to be delivered changes", state: reading(), input: .changed, effects: [.close(.leaveOn)],
            next: waiting(after: 0)),
        Row(
            name: "another sensor's device serves", state: .unassigned(retry: 0), input: .candidate(.shared),
            effects: [], next: .unassigned(retry: nil)),
        Row(
            name: "a driver answers late", state: .opening(device: "d", due: nil), input: .opened(.evdev),
            effects: [.authorize(.authorized), .read], next: reading(.evdev)),
        Row(
            name: "a driver does not answer", state: opening, input: .timer,
            effects: [.report(SensorFailure(.silent, "d: its driver has not answered for 10 s"))],
            next: .opening(device: "d", due: nil)),
        Row(
            name: "an opening fails", state: opening, input: .openingFailed(failure(.busy)),
            effects: [.report(failure(.busy))], next: waiting(after: 1)),
        Row(
            name: "an opening is refused", state: opening, input: .openingFailed(failure(.permission)),
            effects: [.authorize(.denied(reason: "why")), .report(failure(.permission))], next: waiting(after: 1)),
        Row(
            name: "a device goes while it is opened", state: opening, input: .removed(isReplaceable: true),
            effects: removal, next: .abandoned(device: "d")),
        Row(
            name: "a device that went was opened", state: .abandoned(device: "d"), input: .opened(buffer),
            effects: [.close(.switchOff), .deviceReleased], next: .unassigned(retry: nil)),
        Row(
            name: "a device that went was not opened", state: .abandoned(device: "d"),
            input: .openingFailed(failure(.missing)), effects: [.deviceReleased], next: .unassigned(retry: nil)),
        Row(
            name: "an earlier closing ends meanwhile", state: .abandoned(device: "d"), input: .closed,
            next: .abandoned(device: "d")),
        Row(
            name: "no other device is opened meanwhile", state: .abandoned(device: "d"),
            input: .candidate(.device("other")), next: .abandoned(device: "d")),
        Row(name: "an opening goes on in a suspend", state: opening, input: .suspended(seconds: 9), next: opening),
        Row(
            name: "a suspend shortens a wait", state: waiting(after: 30), input: .suspended(seconds: 9),
            next: waiting(after: 0)),
        Row(
            name: "a waiting device goes", state: waiting(after: 3), remedy: .rearmed(at: 1, pollings: 2),
            input: .removed(isReplaceable: false), effects: removal, next: .unassigned(retry: nil),
            nextRemedy: Remedy.none),
    ]

    static let readings = [
        Row(name: "a sample", state: reading(), input: .delivered, next: reading()),
        Row(
            name: "a single value fails", state: reading(.polling), input: .missed(failure(.inputOutput)),
            effects: [.lose(.readError, seconds: nil, detail: "why")], next: reading(.polling)),
        Row(
            name: "a poller fails and goes on", state: reading(.polling), input: .failed(failure(.inputOutput)),
            effects: [.report(failure(.inputOutput))], next: reading(.polling)),
        Row(
            name: "a polled device goes", state: reading(.polling), input: .failed(failure(.removed)),
            effects: [.close(.switchOff), .report(failure(.removed))], next: waiting(after: 1)),
        Row(
            name: "a buffer fails", state: reading(), input: .failed(failure(.inputOutput)),
            effects: [.close(.switchOff), .report(failure(.inputOutput))], next: waiting(after: 1)),
        Row(
            name: "udev removes a device", state: reading(), remedy: .polling(due: 9, pollings: 1),
            input: .removed(isReplaceable: false), effects: removal, next: .unassigned(retry: nil),
            nextRemedy: Remedy.none),
        Row(
            name: "udev removes a device and another one is there", state: reading(.evdev),
            input: .removed(isReplaceable: true), effects: removal, next: .unassigned(retry: now)),
        Row(
            name: "a suspend", state: reading(seemsSilent: true), remedy: .rearmed(at: now, pollings: 3),
            input: .suspended(seconds: 1.26),
            effects: [
                .lose(
                    .suspend, seconds: 1.26, detail: "the machine was suspended for 1.3 s: the device is opened again"),
                .close(.leaveOn),
            ], next: waiting(after: 0), nextRemedy: Remedy.none),
        Row(name: "a late answer of a closing", state: reading(), input: .closed, next: reading()),
        Row(
            name: "no other device while one is read", state: reading(), input: .candidate(.device("other")),
            next: reading()),
    ]

    static let silences = [
        Row(
            name: "silence is looked at twice", state: reading(), input: .silent(seconds: 1.26),
            effects: [.readAgain], next: reading(seemsSilent: true)),
        Row(name: "it was no silence", state: reading(seemsSilent: true), input: .heard, next: reading()),
        Row(
            name: "a buffer is rearmed", state: reading(seemsSilent: true), input: .silent(seconds: 1.26),
            effects: [stall(rearmed), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .rearmed(at: now, pollings: 0)),
        Row(
            name: "a buffer that cannot be polled is rearmed, too",
            state: reading(.buffer(canPoll: false), seemsSilent: true), input: .silent(seconds: 1.26),
            effects: [stall(rearmed), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .rearmed(at: now, pollings: 0)),
        Row(
            name: "a rearmed buffer is given up for polling", state: reading(seemsSilent: true),
            remedy: .rearmed(at: now - retry, pollings: 0), input: .silent(seconds: 1.26),
            effects: [stall(givenUp), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .polling(due: now + retry, pollings: 1)),
        Row(
            name: "the fourth time for eight times as long", state: reading(seemsSilent: true),
            remedy: .rearmed(at: now, pollings: 3), input: .silent(seconds: 1.26),
            effects: [stall(givenUp), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .polling(due: now + 8 * retry, pollings: 4)),
        Row(
            name: "never for longer than 64 times", state: reading(seemsSilent: true),
            remedy: .rearmed(at: now, pollings: 99), input: .silent(seconds: 1.26),
            effects: [stall(givenUp), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .polling(due: now + 64 * retry, pollings: 100)),
        Row(
            name: "a buffer that worked for a minute is rearmed again", state: reading(seemsSilent: true),
            remedy: .rearmed(at: now - retry - 1, pollings: 3), input: .silent(seconds: 1.26),
            effects: [stall(rearmed), .close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .rearmed(at: now, pollings: 0)),
        Row(
            name: "a rearmed buffer without single values fails",
            state: reading(.buffer(canPoll: false), seemsSilent: true), remedy: .rearmed(at: now, pollings: 0),
            input: .silent(seconds: 1.26),
            effects: [.close(.switchOff), .report(SensorFailure(.silent, "d: no sample for 1.3 s"))],
            next: waiting(after: 1)),
        Row(
            name: "a poller that hangs is reported and left alone", state: reading(.polling, seemsSilent: true),
            remedy: .rearmed(at: now, pollings: 1), input: .silent(seconds: 12),
            effects: [.restartSilence, .report(SensorFailure(.silent, "d: no sample for 12.0 s"))],
            next: reading(.polling)),
        Row(
            name: "the buffer is tried again", state: reading(.polling), remedy: .polling(due: now, pollings: 2),
            input: .timer, effects: [.close(.leaveOn)], next: waiting(after: 0),
            nextRemedy: .retrying(at: now, pollings: 2)),
        Row(
            name: "the buffer that is tried again opens", state: opening, remedy: .retrying(at: 5, pollings: 2),
            input: .opened(buffer), effects: [.authorize(.authorized), .read], next: reading(),
            nextRemedy: .rearmed(at: 5, pollings: 2)),
        Row(
            name: "another program has the buffer that is tried again", state: opening,
            remedy: .retrying(at: 5, pollings: 1), input: .openingFailed(failure(.busy)), next: waiting(after: 0),
            nextRemedy: .polling(due: now + 2 * retry, pollings: 2)),
        Row(
            name: "the buffer that is tried again fails", state: opening, remedy: .retrying(at: 5, pollings: 1),
            input: .openingFailed(failure(.inputOutput)), effects: [.report(failure(.inputOutput))],
            next: waiting(after: 1)),
    ]

    static let departures = [
        Row(name: "without a device", state: .unassigned(retry: 5), input: .leave, next: .gone),
        Row(
            name: "a device that waits", state: waiting(after: 5), input: .leave, effects: [.close(.switchOff)],
            next: leaving(isOpening: false)),
        Row(
            name: "a device that is read", state: reading(), input: .leave, effects: [.close(.switchOff)],
            next: leaving(isOpening: false)),
        Row(name: "a device that is opened", state: opening, input: .leave, next: leaving(isOpening: true)),
        Row(
            name: "a device that went while it was opened", state: .abandoned(device: "d"), input: .leave,
            next: leaving(isOpening: true)),
        Row(
            name: "the worker has opened it", state: leaving(isOpening: true), input: .opened(buffer),
            effects: [.close(.switchOff)], next: leaving(isOpening: false)),
        Row(
            name: "the worker could not open it", state: leaving(isOpening: true),
            input: .openingFailed(failure(.missing)), effects: [.deviceReleased], next: .gone),
        Row(
            name: "an earlier closing ends while it is opened", state: leaving(isOpening: true), input: .closed,
            next: leaving(isOpening: true)),
        Row(
            name: "the worker has closed it", state: leaving(isOpening: false), input: .closed,
            effects: [.deviceReleased], next: .gone),
        Row(
            name: "udev removes it", state: leaving(isOpening: false), input: .removed(isReplaceable: true),
            next: leaving(isOpening: false)),
        Row(name: "nothing comes back", state: .gone, input: .candidate(.device("d")), next: .gone),
    ]

    @Test(arguments: openings + readings + silences + departures)
    func eachInputHasItsEffects(_ row: Row) {
        var slot = SensorSlot(bufferRetryNanoseconds: Self.retry, state: row.state, remedy: row.remedy)
        #expect(slot.handle(row.input, at: Self.now) == row.effects)
        #expect(slot.state == row.next)
        #expect(slot.remedy == row.nextRemedy ?? row.remedy)
    }

    /// A failure is reported once, another reason is a notice, and a sample makes an end of both.
    @Test func aFailureIsReportedOnce() {
        var slot = SensorSlot(bufferRetryNanoseconds: Self.retry, state: Self.opening)
        func open() { _ = slot.handle(.candidate(.device("d")), at: Self.now) }
        var slotEffects: [[Effect]] = []
        for category in [SensorFailure.Category.busy, .busy, .inputOutput] {
            slotEffects.append(slot.handle(.openingFailed(Self.failure(category)), at: Self.now))
            open()
        }
        #expect(slotEffects == [[.report(Self.failure(.busy))], [], [.note("why")]])
        _ = slot.handle(.opened(.polling), at: Self.now)
        #expect(slot.handle(.missed(Self.failure(.inputOutput)), at: Self.now).isEmpty, "inactive sensors lose nothing")
        _ = slot.handle(.delivered, at: Self.now)
        #expect(slot.handle(.failed(Self.failure(.busy)), at: Self.now) == [.report(Self.failure(.busy))])
    }

    /// Pauses double from one second to 32, and begin again at one second after a sample.
    @Test func pausesDouble() {
        var slot = SensorSlot(bufferRetryNanoseconds: Self.retry, state: Self.waiting(after: 0))
        var pauses: [Int64] = []
        for attempt in 0..<9 {
            _ = slot.handle(.candidate(.device("d")), at: Self.now)
            if attempt == 7 {
                _ = slot.handle(.opened(Self.buffer), at: Self.now)
                _ = slot.handle(.delivered, at: Self.now)
                _ = slot.handle(.failed(Self.failure(.inputOutput)), at: Self.now)
            } else {
                _ = slot.handle(.openingFailed(Self.failure(.busy)), at: Self.now)
            }
            pauses.append(((slot.deadline ?? 0) - Self.now) / Self.second)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 32, 1, 2])
    }

    /// Whatever comes in whatever order: one worker thread opens at a time, what was opened is closed once, and only a
    /// device that is open is read.
    @Test func devicesAreOpenedAndClosedInPairs() {
        for seed in 0..<500 {
            var random = SeededGenerator(seed: UInt64(seed))
            var slot = SensorSlot(bufferRetryNanoseconds: Self.retry)
            var now = Self.now
            var (isOpening, isOpen, isClosing, hasLeft) = (false, false, false, false)
            for _ in 0..<300 {
                now += Int64.random(in: 0...20 * Self.second, using: &random)
                var inputs: [Input] = [
                    .candidate(.device("d")), .candidate(.none(reason: "why")), .candidate(.held(until: now + 5)),
                    .timer,
                    .removed(isReplaceable: Bool.random(using: &random)), .suspended(seconds: 3),
                ]
                if isOpening {
                    inputs += [
                        .opened(Self.buffer), .opened(.polling), .openingFailed(Self.failure(.busy)),
                        .openingFailed(Self.failure(.permission)),
                    ]
                }
                if isClosing { inputs.append(.closed) }
                if isOpen {
                    inputs += [
                        .delivered, .silent(seconds: 2), .silent(seconds: 2), .heard,
                        .failed(Self.failure(.inputOutput)),
                        .failed(Self.failure(.removed)), .missed(Self.failure(.inputOutput)),
                    ]
                }
                if Int.random(in: 0..<100, using: &random) == 0, !hasLeft { inputs = [.leave] }
                let input = inputs.randomElement(using: &random) ?? .timer
                switch input {
                case .opened: (isOpening, isOpen) = (false, true)
                case .openingFailed: isOpening = false
                case .closed: isClosing = false
                case .leave: hasLeft = true
                default: break
                }
                var isRead = false
                for effect in slot.handle(input, at: now) {
                    switch effect {
                    case .open:
                        #expect(!isOpening && !isOpen && !hasLeft, "seed \(seed)")
                        isOpening = true
                    case .read: isRead = true
                    case .close(let closing):
                        isOpen = false
                        if closing == .switchOff { isClosing = true }
                    default: break
                    }
                }
                if case .opened = input { #expect(isRead == isOpen, "what was opened is read or closed, seed \(seed)") }
                if case .reading = slot.state { #expect(isOpen, "seed \(seed)") } else { #expect(!isOpen) }
                if slot.state == .gone { #expect(!isOpening && !isOpen && !slot.isWaiting, "seed \(seed)") }
            }
        }
    }
}
