import Binnacle
import CEvdev
import CLinux
import Glibc
import Kernels
import LinuxSystem

/// Reads an accelerometer of the input layer, and the gyroscope beside it, through libevdev.
///
/// The input layer sends only axes that changed, and nothing while none does. Therefore the axes start with the kernel's values,
/// silence is no stall, and the last value is repeated during silence, so that a detector sees the device at rest.
final class EvdevReader: SensorReader {
    /// The largest rate in rad/s of the gyroscope, if it is read and has a limit.
    let gyroscopeRange: Float?
    private let file: Descriptor
    private let node: String
    private let handle: EvdevHandle
    /// The kinds that are read, the accelerometer first.
    private var streams: [Stream]
    private var clock: ClockMap
    private var counter = MicrosecondCounter()
    private var counterValue: UInt32?
    private var hasFrame = false
    /// Whether the axes are known: before a device's first event they are 0, which would mean free fall.
    private var isKnown = false
    private var hasDelivered = false
    /// The time of the last sample.
    private(set) var lastArrivalNanoseconds: Int64

    /// Shorter than a gap for a detector.
    private static let holdNanoseconds: Int64 = 250_000_000

    /// Three axes with consecutive codes.
    private struct Stream {
        let firstAxis: Int32
        let conversion: ScanConversion
        var axes = SIMD3<Double>.zero
    }

    /// Opens a device, which may block; every kind needs three axes with a resolution, and the accelerometer is the first kind.
    ///
    /// No stamp is below `floor`, the last stamp of the previous opening.
    init(
        _ device: SensorDevice, kinds: [SampleKind], settings: SensorSettings, now: Int64, floor: Int64?
    ) throws(SensorFailure) {
        node = device.node ?? device.path
        file = try EvdevHandle.open(device)
        clock = ClockMap(floor: floor)
        // If the kernel cannot, the stamps are recognised as the wall clock's and translated.
        _ = clinux_evdev_clock(file.raw, CLOCK_MONOTONIC)
        Self.discardPending(file)
        handle = try EvdevHandle(file, device)
        var streams: [Stream] = []
        for kind in kinds {
            streams.append(
                Stream(
                    firstAxis: EvdevHandle.firstAxis(kind), conversion: try handle.conversion(kind, settings)))
        }
        self.streams = streams
        gyroscopeRange = kinds.contains(.gyroscope) ? try handle.range(.gyroscope).map { Float($0) } : nil
        lastArrivalNanoseconds = now - Self.holdNanoseconds
        seed()
    }

    var descriptor: Int32? { file.raw }
    var deadlineNanoseconds: Int64? { isKnown ? lastArrivalNanoseconds + Self.holdNanoseconds : nil }
    var stallNanoseconds: Int64? { nil }
    var intervalNanoseconds: Double? { nil }

    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool {
        var flag = LIBEVDEV_READ_FLAG_NORMAL
        while !delivery.batches[places[0]].isFull {
            var event = input_event()
            let code = libevdev_next_event(handle.raw, flag.rawValue, &event)
            switch code {
            case Int32(LIBEVDEV_READ_STATUS_SUCCESS.rawValue):
                decode(event, delivery, places, arrival)
            case Int32(LIBEVDEV_READ_STATUS_SYNC.rawValue):
                // The kernel's queue overflowed. libevdev re-reads the axes and returns the changes until there are no more; the
                // resulting values are the next sample. Before the first sample, reading had not begun and nothing is lost.
                if flag == LIBEVDEV_READ_FLAG_NORMAL, hasDelivered { recordDropped(delivery, places, arrival) }
                hasFrame = false
                counterValue = nil
                flag = LIBEVDEV_READ_FLAG_SYNC
            case -EAGAIN:
                guard flag == LIBEVDEV_READ_FLAG_NORMAL else {
                    flag = LIBEVDEV_READ_FLAG_NORMAL
                    seed()
                    if isKnown { append(delivery, places, nil, arrival) }
                    continue
                }
                if isKnown, delivery.batches[places[0]].isEmpty,
                    arrival - lastArrivalNanoseconds >= Self.holdNanoseconds
                {
                    append(delivery, places, nil, arrival)
                }
                return false
            case -EINTR: continue
            default: throw SensorFailure(SystemError(code: -code, call: "libevdev_next_event", path: node))
            }
        }
        return true
    }

    func takeNotice() -> String? { clock.takeNotice() }

    private func decode(_ event: input_event, _ delivery: SampleDelivery, _ places: [Int], _ arrival: Int64) {
        switch (Int32(event.type), Int32(event.code)) {
        case (EV_ABS, let code):
            for index in streams.indices {
                let axis = Int(code - streams[index].firstAxis)
                guard (0..<3).contains(axis) else { continue }
                streams[index].axes[axis] = Double(event.value)
                hasFrame = true
                // An unknown acceleration would mean free fall.
                if index == 0 { isKnown = true }
            }
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
            append(
                delivery, places, counterValue.map { counter.stamp($0, eventNanoseconds: time) } ?? time, arrival)
        default: break
        }
    }

    private func append(_ delivery: SampleDelivery, _ places: [Int], _ stamp: Int64?, _ arrival: Int64) {
        // A repeated value gets the time of the clock to which the device's stamps are translated.
        let time = stamp.map { clock.time(of: $0, arrival: arrival).nanoseconds } ?? clock.hold(at: arrival)
        for (index, stream) in streams.enumerated() {
            let sample = stream.conversion.apply(x: stream.axes.x, y: stream.axes.y, z: stream.axes.z)
            delivery.batches[places[index]].append(timeNanoseconds: time, x: sample.x, y: sample.y, z: sample.z)
        }
        lastArrivalNanoseconds = arrival
        hasDelivered = true
    }

    /// Empties the kernel's queue, which fills from the opening of the node on.
    ///
    /// libevdev reads the current axes; older changes would be samples of the past. A queue that overflowed, or that the kernel
    /// emptied because the clock was changed, begins with SYN_DROPPED, which would be reported as a loss before reading has
    /// begun.
    private static func discardPending(_ file: Descriptor) {
        withUnsafeTemporaryAllocation(of: input_event.self, capacity: 64) { events in
            let byteCount = events.count * MemoryLayout<input_event>.stride
            // Bounded, because a device may send faster than this loop reads.
            for _ in 0..<64 where Glibc.read(file.raw, events.baseAddress, byteCount) <= 0 { return }
        }
    }

    private func recordDropped(_ delivery: SampleDelivery, _ places: [Int], _ arrival: Int64) {
        for place in places {
            delivery.append(
                SampleLoss(
                    stream: delivery.streams[place], cause: .overrun,
                    durationSeconds: Units.seconds(from: lastArrivalNanoseconds, to: arrival),
                    detail: "the kernel's queue was full (SYN_DROPPED): the axes were read again"))
        }
    }

    /// Starts with the kernel's values of the axes.
    private func seed() {
        for index in streams.indices {
            for axis in 0..<3 {
                let code = UInt32(streams[index].firstAxis) + UInt32(axis)
                streams[index].axes[axis] = Double(libevdev_get_event_value(handle.raw, UInt32(EV_ABS), code))
            }
        }
        if streams[0].axes != .zero { isKnown = true }
    }
}
