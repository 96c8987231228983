import Binnacle

/// One sensor of a live source: its state machine and its resources.
final class LiveSensor {
    /// A device that has to be closed, or whose buffer has to be disabled.
    enum Held: Sendable {
        case nothing
        case open(OpenedDevice.Access)
        /// The device is closed; its buffer is still enabled.
        case leftOn(BufferChanges)

        func close() {
            switch self {
            case .nothing: break
            case .open(let access): access.close()
            case .leftOn(let changes): changes.undo()
            }
        }
    }

    let number: Int
    let request: SensorRequest
    /// Whether it reads the gyroscope that turns with another sensor's device and delivers it as that sensor's.
    let isCompanion: Bool
    /// The sensor without a device whose samples this one's device delivers as well; `nil` for none.
    private(set) var guest: LiveSensor?
    /// Whether the device turned out not to deliver a guest's samples when it was last opened.
    var refusesGuest = false
    /// The device's streams, in the order of its reader.
    private(set) var streams: [SampleStream]
    private(set) var streamIDs: [StreamID]
    /// The streams' places in the delivery that is filled.
    var places: [Int] = []
    private(set) var slot: SensorSlot
    /// The state machine's deadline, cached because every turn compares it; `.max` without one.
    private(set) var deadline = Int64.max
    var held = Held.nothing
    /// Reads the device; `nil` while none is open.
    var reader: (any SensorReader)?
    /// Whether the reader may have more samples now.
    var isReady = false
    /// Whether the state machine waits for the next sample.
    var awaitsSample = false
    /// What is done while nothing moves; `nil` while the open device has no event for it.
    var rest: SleepWatch?
    /// Whether the chip may have reported events.
    var hasEvents = false
    /// The stamp of a free fall that the chip has reported during a rest, on CLOCK_MONOTONIC.
    var freeFallNanoseconds: Int64?
    /// The number of steps that the chip had counted when it was last read.
    var stepCount = 0
    /// The stamp of the chip's last report of steps, and whether a worker thread reads their number.
    var steps: (reportedNanoseconds: Int64, isReading: Bool) = (.min, false)
    /// Translates the stamps of the chip's events.
    var eventClock = ClockMap()
    /// The end of a rest, which is delivered with the first samples after it.
    var wakeUp: WakeUp?
    /// The identity of the last device, which is preferred among those that match.
    var lastID: String?
    /// How its device was built in when it was last opened (``SensorDevice/mounting``).
    var mounting: [String?] = []
    /// How the axes of the open device are turned to the device's, as text, of each kind but the accelerometer.
    var axes: [SampleKind: String] = [:]
    /// The last stamp delivered, or of what ended a rest: a lower limit for the next samples.
    var lastTimeNanoseconds: Int64?
    /// The notices already shown.
    var toldNotices: Set<String> = []

    init(number: Int, request: SensorRequest, isCompanion: Bool, bufferRetryNanoseconds: Int64) {
        self.number = number
        self.request = request
        self.isCompanion = isCompanion
        // Optional streams become known when the device is open.
        streams = request.streams.filter { isCompanion || !$0.isOptional }
        streamIDs = streams.map(\.id)
        slot = SensorSlot(bufferRetryNanoseconds: bufferRetryNanoseconds)
    }

    /// Sets the guest, whose streams are this sensor's from now on and fail with it.
    func setGuest(_ sensor: LiveSensor?) {
        guard sensor !== guest else { return }
        if let guest {
            guest.lastTimeNanoseconds = [lastTimeNanoseconds, guest.lastTimeNanoseconds].compactMap { $0 }.max()
            streams.removeAll { $0.sensor === guest.request.sensor }
        }
        guest = sensor
        if let sensor {
            streams += sensor.request.streams
            lastTimeNanoseconds = [lastTimeNanoseconds, sensor.lastTimeNanoseconds].compactMap { $0 }.max()
        }
        streamIDs = streams.map(\.id)
    }

    /// Reports the next failure, also when its streams have failed before.
    func reportAgain() { slot.reportAgain() }

    /// Sets the streams to those of the opened device; returns whether it delivers nothing else.
    func use(_ kinds: [SampleKind]) -> Bool {
        if let guest, !guest.request.kinds.allSatisfy(kinds.contains) {
            refusesGuest = true
            setGuest(nil)
        }
        let requested = request.streams + (guest?.request.streams ?? [])
        streams = kinds.compactMap { kind in requested.first { $0.kind == kind } }
        streamIDs = streams.map(\.id)
        return streams.count == kinds.count
    }

    /// How the device is read.
    var settings: SensorSettings { guest.map { request.settings.shared(with: $0.request) } ?? request.settings }

    /// Whether the open device delivers a kind.
    func reads(_ kind: SampleKind) -> Bool { reader != nil && streams.contains { $0.kind == kind } }

    /// Passes an input to the state machine and returns its effects.
    func handle(_ input: SensorSlot.Input, at now: Int64) -> [SensorSlot.Effect] {
        defer { deadline = slot.deadline ?? .max }
        return slot.handle(input, at: now)
    }

    var nextLook: Int64 {
        guard let reader else { return deadline }
        let stall = reader.stallNanoseconds.map { reader.lastArrivalNanoseconds + $0 }
        return min(deadline, reader.deadlineNanoseconds ?? .max, stall ?? .max, rest?.checkNanoseconds ?? .max)
    }
}
