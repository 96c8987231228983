import Binnacle

/// One sensor of a live source: its state machine, and what the source holds for it.
final class LiveSensor {
    /// A device that has to be closed, or its buffer switched off.
    enum Held: Sendable {
        case nothing
        case open(OpenedDevice.Access)
        /// The device is closed, and its buffer is still on.
        case leftOn(SysfsDirectory)

        /// Closes it, which may block.
        func close() {
            switch self {
            case .nothing: break
            case .open(let access): access.close()
            case .leftOn(let controls): try? controls.write("0", to: "enable")
            }
        }
    }

    let number: Int
    let request: SensorRequest
    /// Whether it reads the gyroscope that turns with the device of another sensor, and belongs to that one's `Sensor`.
    let isCompanion: Bool
    /// The streams that the device gives, in the order of its reader.
    private(set) var streams: [SampleStream]
    private(set) var streamIDs: [StreamID]
    /// The streams' places in the delivery that is filled.
    var places: [Int] = []
    private(set) var slot: SensorSlot
    /// The state machine's deadline, copied because every turn compares it; `.max` without one.
    private(set) var deadline = Int64.max
    var held = Held.nothing
    /// Reads the device; `nil` while none is open.
    var reader: (any SensorReader)?
    /// Whether the reader may have more at once.
    var isReady = false
    /// Whether the state machine waits for the next sample.
    var awaitsSample = false
    /// The identity of the last device, which is preferred to others that match.
    var lastID: String?
    /// The last stamp that was delivered, below which no stamp of the next opening falls.
    var lastTimeNanoseconds: Int64?
    /// The notices that were given.
    var toldNotices: Set<String> = []

    init(number: Int, request: SensorRequest, isCompanion: Bool, bufferRetryNanoseconds: Int64) {
        self.number = number
        self.request = request
        self.isCompanion = isCompanion
        // What the device gives beside them shows when it is open.
        streams = request.streams.filter { isCompanion || !$0.isOptional }
        streamIDs = streams.map(\.id)
        slot = SensorSlot(bufferRetryNanoseconds: bufferRetryNanoseconds)
    }

    /// Takes what an opened device gives.
    func use(_ kinds: [SampleKind]) {
        streams = kinds.compactMap { kind in request.streams.first { $0.kind == kind } }
        streamIDs = streams.map(\.id)
    }

    /// Whether the open device gives a kind.
    func reads(_ kind: SampleKind) -> Bool { reader != nil && streams.contains { $0.kind == kind } }

    /// Tells the state machine what happened.
    func handle(_ input: SensorSlot.Input, at now: Int64) -> [SensorSlot.Effect] {
        defer { deadline = slot.deadline ?? .max }
        return slot.handle(input, at: now)
    }

    /// When to look at the sensor without being woken, on CLOCK_MONOTONIC; `.max` for never.
    var nextLook: Int64 {
        guard let reader else { return deadline }
        let stall = reader.stallNanoseconds.map { reader.lastArrivalNanoseconds + $0 }
        return min(deadline, reader.deadlineNanoseconds ?? .max, stall ?? .max)
    }
}
