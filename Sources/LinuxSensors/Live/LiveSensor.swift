import Binnacle

/// One sensor of a live source: which device it has, what state that is in, and what is tried next.
final class LiveSensor {
    enum Phase {
        /// No device, or one that failed; tried again at a time, or when udev says something.
        case waiting(retryNanoseconds: Int64?)
        /// A worker opens the device, and should have done so by then; without a time it has been given up.
        case opening(dueNanoseconds: Int64?)
        /// The device delivers.
        case reading(any SensorReader)
    }

    /// How far the remedies for a silent device have come.
    enum Remedy {
        /// Nothing was tried.
        case none
        /// The buffer was switched off and on again.
        case rearmed
        /// The buffer is passed over.
        case polled
    }

    let number: Int
    let request: SensorRequest
    /// The streams of the request's kinds, in the same order.
    let streams: [SampleStream]
    /// What they are known by.
    let streamIDs: [StreamID]
    /// Their places in the delivery that is filled.
    var places: [Int] = []
    var phase = Phase.waiting(retryNanoseconds: nil)
    /// The device that plays the sensor.
    var device: SensorDevice?
    /// The identity of the device that last played it, which goes before others that match.
    var lastID: String?
    /// Whether a worker is opening a device for the sensor, perhaps one that nobody waits for any more.
    var isWorkerOut = false
    /// Counts the openings, so that a message of an earlier one is known for what it is.
    var generation = 0
    var remedy = Remedy.none
    /// When the last remedy was tried, on CLOCK_MONOTONIC.
    var remedyNanoseconds: Int64 = 0
    /// How often on end the buffer was passed over.
    var polledCount = 0
    /// When a buffer that was passed over is tried again, on CLOCK_MONOTONIC.
    var bufferDueNanoseconds: Int64?
    /// Whether that is what the next opening does.
    var isBufferTrial = false
    /// Whether the device has been silent too long, and is looked at once more before that is believed.
    var isSilenceSuspected = false
    /// The last stamp that was delivered, below which none of the next opening may fall.
    var lastTimeNanoseconds: Int64?
    /// What switches the buffer off.
    var buffer: OpenBuffer?
    /// The controls of a buffer that was left on, because the next opening switches it off first.
    var abandonedControls: SysfsDirectory?
    /// Why the sensor cannot deliver, as it was said; `nil` while it delivers.
    var toldFailure: SensorFailure.Category?
    /// What was said of how the device is read.
    var toldNotices: Set<String> = []
    /// How often opening failed on end.
    var failureCount = 0
    /// Whether the reader may have more at once.
    var isReady = false
    /// Whether a sample has come since the device was opened.
    var hasDelivered = false

    init(number: Int, request: SensorRequest) {
        self.number = number
        self.request = request
        streams = request.streams
        streamIDs = streams.map(\.id)
    }

    /// Forgets what was tried with a device that has gone.
    func forgetRemedies() {
        remedy = .none
        polledCount = 0
        bufferDueNanoseconds = nil
        isBufferTrial = false
    }

    var reader: (any SensorReader)? {
        if case .reading(let reader) = phase { reader } else { nil }
    }

    /// When to look at the sensor without being woken, on CLOCK_MONOTONIC.
    var deadlineNanoseconds: Int64? {
        switch phase {
        case .waiting(let retry): return retry
        case .opening(let due): return due
        case .reading(let reader):
            let stall = reader.stallNanoseconds.map { reader.lastArrivalNanoseconds + $0 }
            // Asked for before each wait, and so without an array.
            let due = min(reader.deadlineNanoseconds ?? .max, stall ?? .max, bufferDueNanoseconds ?? .max)
            return due == .max ? nil : due
        }
    }

    /// The pause before the next attempt: one second, then twice as long each time, at most 32 s.
    var retryDelayNanoseconds: Int64 {
        1_000_000_000 << Int64(min(max(failureCount - 1, 0), 5))
    }
}
