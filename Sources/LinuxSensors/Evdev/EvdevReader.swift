import Binnacle
import CEvdev
import CLinux
import Glibc
import LinuxSystem

/// Reads an accelerometer of the input layer, through libevdev.
///
/// The input layer sends only axes that changed, and nothing while none does. So the axes begin with the kernel's values,
/// silence is no stall, and during silence the last value is repeated, so that a detector sees the device at rest.
final class EvdevReader: SensorReader {
    private let file: Descriptor
    private let node: String
    private let handle: EvdevHandle
    private let conversion: AxisConversion
    private var clock: ClockMap
    private var counter = MicrosecondCounter()
    private var axes = [0.0, 0.0, 0.0]
    private var counterValue: UInt32?
    private var hasFrame = false
    /// Whether the axes are known: before a device's first event they are 0, which would be a free fall.
    private var isKnown = false
    private var hasDelivered = false
    /// When the last sample was handed over.
    private(set) var lastArrivalNanoseconds: Int64

    /// Shorter than what a detector takes for a gap.
    private static let holdNanoseconds: Int64 = 250_000_000

    /// Opens a device, which may block.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - settings: Its sign and its matrix.
    ///   - now: The time, on CLOCK_MONOTONIC.
    ///   - floor: The last stamp that the device gave when it was open before.
    /// - Throws: ``SensorFailure`` when it is no accelerometer with three axes and a resolution.
    init(_ device: SensorDevice, settings: SensorSettings, now: Int64, floor: Int64?) throws(SensorFailure) {
        node = device.node ?? device.path
        file = try EvdevHandle.open(device)
        clock = ClockMap(floor: floor)
        // Where the kernel cannot, the stamps are recognised as the wall clock's and moved.
        _ = clinux_evdev_clock(file.raw, CLOCK_MONOTONIC)
        Self.discardPending(file)
        handle = try EvdevHandle(file, device)
        conversion = try handle.conversion(settings)
        lastArrivalNanoseconds = now - Self.holdNanoseconds
        seed()
    }

    var descriptor: Int32? { file.raw }
    var deadlineNanoseconds: Int64? { isKnown ? lastArrivalNanoseconds + Self.holdNanoseconds : nil }
    var stallNanoseconds: Int64? { nil }
    var intervalNanoseconds: Double? { nil }

    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool {
        let batch = delivery.batches[places[0]]
        var flag = LIBEVDEV_READ_FLAG_NORMAL
        while !batch.isFull {
            var event = input_event()
            let code = libevdev_next_event(handle.raw, flag.rawValue, &event)
            switch code {
            case Int32(LIBEVDEV_READ_STATUS_SUCCESS.rawValue):
                take(event, batch, arrival)
            case Int32(LIBEVDEV_READ_STATUS_SYNC.rawValue):
                // The kernel's queue was full. libevdev re-reads the axes and says what changed until it has no more;
                // what they are then is the next sample.
                // Before the first sample reading had not begun, and nothing is lost.
                if flag == LIBEVDEV_READ_FLAG_NORMAL, hasDelivered { tellDropped(delivery, places[0], arrival) }
                hasFrame = false
                counterValue = nil
                flag = LIBEVDEV_READ_FLAG_SYNC
            case -EAGAIN:
                guard flag == LIBEVDEV_READ_FLAG_NORMAL else {
                    flag = LIBEVDEV_READ_FLAG_NORMAL
                    seed()
                    if isKnown { append(batch, nil, arrival) }
                    continue
                }
                if isKnown, batch.isEmpty, arrival - lastArrivalNanoseconds >= Self.holdNanoseconds {
                    append(batch, nil, arrival)
                }
                return false
            case -EINTR: continue
            default: throw SensorFailure(SystemError(code: -code, call: "libevdev_next_event", path: node))
            }
        }
        return true
    }

    func takeNotice() -> String? { clock.takeNotice() }

    private func take(_ event: input_event, _ batch: SampleBatch, _ arrival: Int64) {
        switch (Int32(event.type), Int32(event.code)) {
        case (EV_ABS, ABS_X), (EV_ABS, ABS_Y), (EV_ABS, ABS_Z):
            axes[Int(event.code)] = Double(event.value)
            hasFrame = true
            isKnown = true
        case (EV_MSC, MSC_TIMESTAMP):
            counterValue = UInt32(bitPattern: event.value)
            hasFrame = true
        case (EV_SYN, SYN_REPORT):
            defer {
                hasFrame = false
                counterValue = nil
            }
            guard hasFrame, isKnown else { return }
            let time = Int64(event.time.tv_sec) &* 1_000_000_000 &+ Int64(event.time.tv_usec) &* 1000
            append(batch, counterValue.map { counter.stamp($0, eventNanoseconds: time) } ?? time, arrival)
        default: break
        }
    }

    private func append(_ batch: SampleBatch, _ stamp: Int64?, _ arrival: Int64) {
        // A repeated value is stamped with the clock itself, on which the device's stamps already are, or soon will be.
        let time = stamp.map { clock.time(of: $0, arrival: arrival).nanoseconds } ?? clock.hold(at: arrival)
        let sample = conversion.apply(x: axes[0], y: axes[1], z: axes[2])
        batch.append(timeNanoseconds: time, x: sample.x, y: sample.y, z: sample.z)
        lastArrivalNanoseconds = arrival
        hasDelivered = true
    }

    /// Empties the kernel's queue, which fills from the opening of the node on.
    ///
    /// libevdev reads the present axes; older changes of them would be samples of the past. And a queue that
    /// was full, or that the kernel has emptied because the clock was changed, begins with SYN_DROPPED, which would be
    /// reported as a loss before reading has begun.
    private static func discardPending(_ file: Descriptor) {
        withUnsafeTemporaryAllocation(of: input_event.self, capacity: 64) { events in
            let byteCount = events.count * MemoryLayout<input_event>.stride
            // Bounded, because a device may send faster than this reads.
            for _ in 0..<64 where Glibc.read(file.raw, events.baseAddress, byteCount) <= 0 { return }
        }
    }

    private func tellDropped(_ delivery: SampleDelivery, _ place: Int, _ arrival: Int64) {
        delivery.append(
            SampleLoss(
                stream: delivery.streams[place], cause: .overrun,
                durationSeconds: Units.seconds(from: lastArrivalNanoseconds, to: arrival),
                detail: "the kernel's queue was full (SYN_DROPPED): the axes were read anew"))
    }

    /// Reads the kernel's values of the axes.
    private func seed() {
        for axis in 0..<3 { axes[axis] = Double(libevdev_get_event_value(handle.raw, UInt32(EV_ABS), UInt32(axis))) }
        if axes.contains(where: { $0 != 0 }) { isKnown = true }
    }
}
