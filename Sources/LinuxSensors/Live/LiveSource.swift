public import Binnacle
import Glibc
package import LinuxSystem

/// The machine's own sensors as a source: finds, opens and reads them, and handles unplugging, plugging in, stalls and suspends.
public final class LiveSource: NoticingSource {
    // Everything runs on the thread that calls `fill` and `wait`, except for calls that may block, which are sysfs and the opening
    // and closing of devices: these run on worker threads, which answer through a mailbox. A `SensorSlot` decides what happens with
    // each sensor. A delivery has the samples of one device, or of all that are read at intervals: these are read at the same
    // wake-up, and merging by their stamps restores the order in which they were taken.

    /// The streams of all sensors.
    public internal(set) var streams: [SampleStream]

    var sensors: [LiveSensor]
    /// Sensors that are no longer requested, until their devices are closed.
    var leaving: [LiveSensor] = []
    /// The number of sensors so far, which numbers the next one in messages and for descriptors.
    var sensorCount: Int
    let finder: DeviceFinder
    let waker: Waker
    let mailbox: Mailbox<LiveMessage>
    let workers = DeviceWorkers()
    let epoll: Epoll
    let monitor: DeviceMonitor?
    var table = DeviceTable()
    var answers: [SampleAnswer] = []
    var losses: [SampleLoss] = []
    /// The beginnings of rests that are still to be delivered.
    var rests: [SampleRest] = []
    var notices: [String] = []
    private var messages: [LiveMessage] = []
    private var hasMail = false
    private var hasChanges = false
    private var hasEvents = false
    /// When the kernel's count of suspends is read again, and its last value.
    var nextSuspendLookNanoseconds = Int64.min
    var suspendCount: String?
    private let readSuspended: () -> Int64
    private var suspendedNanoseconds: Int64
    let bufferRetryNanoseconds: Int64
    var nextSensor = 0
    /// The delivery to which the sensors' places belong.
    var lastDelivery: SampleDelivery?
    /// The number of deliveries since the descriptors were last polled.
    private var deliveriesSinceLook = 0
    /// Whether the last answer was samples without a wait since; everything else was then checked recently.
    private var hasJustDelivered = false
    /// CLOCK_MONOTONIC as it was last read; `nil` when this thread may have slept since.
    private var now: Int64?
    /// When something is due without a report of a device, or earlier; recomputed when that is near.
    var dueNanoseconds = Int64.min
    /// When deadlines and suspends are looked for again.
    private var checkNanoseconds = Int64.min
    private(set) var isStopped = false

    static let mailToken = UInt64.max
    static let monitorToken = UInt64.max - 1
    /// What is added to a sensor's number for the descriptor of its chip's events.
    static let eventToken: UInt64 = 1 << 32
    private static let mostDeliveries = 64
    /// Deadlines and suspends are looked for at most this often: a suspend takes longer, on this clock as well.
    private static let checkIntervalNanoseconds: Int64 = 1_000_000
    /// ``dueNanoseconds`` is recomputed when it is nearer than this, or farther than ``farNanoseconds``: an interval that is
    /// learned brings it nearer only from there.
    private static let nearNanoseconds: Int64 = 50_000_000
    private static let farNanoseconds: Int64 = 2_000_000_000

    /// Starts with a waker that may be shared; each sensor is requested once.
    ///
    /// `suspended` is the machine's total suspend time, and `bufferRetryNanoseconds` the first period of polling a device with a
    /// silent buffer, both in nanoseconds.
    package init(
        _ requests: [SensorRequest], finder: DeviceFinder, waker: Waker,
        suspended: @escaping () -> Int64 = SystemClock.suspended, bufferRetryNanoseconds: Int64 = 60_000_000_000
    ) throws(SystemError) {
        self.finder = finder
        self.bufferRetryNanoseconds = bufferRetryNanoseconds
        readSuspended = suspended
        suspendedNanoseconds = suspended()
        streams = Self.streams(of: requests)
        sensors = []
        sensorCount = 0
        self.waker = waker
        mailbox = Mailbox(waker: waker)
        epoll = try Epoll()
        try epoll.add(waker.descriptor, token: Self.mailToken)
        // Listening begins before the search, so that no change is missed.
        monitor = finder.usesUdev ? try DeviceMonitor() : nil
        if let monitor { try epoll.add(monitor.descriptor, token: Self.monitorToken) }
        sensors = makeSensors(requests)
        try search()
    }

    static func streams(of requests: [SensorRequest]) -> [SampleStream] {
        SampleStream.ordered(requests.flatMap(\.streams))
    }

    /// Makes the sensors of requests, and those for companion gyroscopes; existing sensors stay.
    func makeSensors(_ requests: [SensorRequest]) -> [LiveSensor] {
        let wanted = requests.map { ($0, false) } + requests.compactMap(\.companion).map { ($0, true) }
        return wanted.map { request, isCompanion in
            if let known = sensors.first(where: {
                $0.request.sensor === request.sensor && $0.isCompanion == isCompanion
            }) {
                return known
            }
            return makeSensor(request, isCompanion: isCompanion)
        }
    }

    func makeSensor(_ request: SensorRequest, isCompanion: Bool) -> LiveSensor {
        sensorCount += 1
        return LiveSensor(
            number: sensorCount - 1, request: request, isCompanion: isCompanion,
            bufferRetryNanoseconds: bufferRetryNanoseconds)
    }

    deinit {
        stop()
    }

    /// Whether the machine was searched and every device found is open, or could not be opened.
    package var isSettled: Bool {
        table.isSearched && answers.isEmpty
            && sensors.allSatisfy { if case .opening(_, _?) = $0.slot.state { false } else { true } }
    }

    package var hasScans: Bool { sensors.contains { $0.reader is IIOBufferReader } }

    /// Delivers samples, a failure, or nothing yet.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !isStopped else { return .ended }
        if delivery !== lastDelivery { findPlaces(in: delivery) }
        if hasJustDelivered {
            hasJustDelivered = false
            // Usually this was all, and reading the clocks here would cost as much as some samples.
            if isDrained, !hasMail, !hasChanges, !hasEvents { return .pending }
        }
        // A device that always has samples must not starve udev and the other devices.
        if deliveriesSinceLook >= Self.mostDeliveries { poll(timeoutMilliseconds: 0) }
        let now = SystemClock.monotonic()
        self.now = now
        if hasMail { handleMail(now) }
        if hasChanges { handleChanges(now) }
        if hasEvents { handleEvents(now) }
        if now >= checkNanoseconds { checkDeadlines(now) }
        let begun = takeBegunRests()
        if !losses.isEmpty || !begun.isEmpty {
            for loss in losses { delivery.append(loss) }
            for rest in begun { delivery.append(rest) }
            losses.removeAll(keepingCapacity: true)
            return .samples
        }
        if !answers.isEmpty { return answers.removeFirst() }
        guard readSensors(into: delivery, now) else { return answers.isEmpty ? .pending : answers.removeFirst() }
        deliveriesSinceLook += 1
        hasJustDelivered = true
        return .samples
    }

    /// Reads the next sensor with samples, and with a timed one all others whose period is over; returns whether anything was
    /// delivered.
    private func readSensors(into delivery: SampleDelivery, _ now: Int64) -> Bool {
        let first = nextSensor
        var hasRead = false
        // In turn, so that a fast device does not starve the others.
        for offset in sensors.indices {
            let place = (first + offset) % sensors.count
            let sensor = sensors[place]
            guard sensor.isReady, let reader = sensor.reader, !hasRead || reader.isTimed,
                read(sensor, reader, into: delivery, now), !hasRead
            else { continue }
            hasRead = true
            nextSensor = (place + 1) % sensors.count
            // With scans, a delivery is of a single device.
            if !reader.isTimed || delivery.scans != nil { break }
        }
        return hasRead
    }

    /// Finds the streams' places in a delivery, which is reused many times.
    private func findPlaces(in delivery: SampleDelivery) {
        lastDelivery = delivery
        for sensor in sensors { findPlaces(of: sensor, in: delivery) }
    }

    func findPlaces(of sensor: LiveSensor, in delivery: SampleDelivery) {
        sensor.places = sensor.streamIDs.map { stream in
            guard let place = delivery.index(of: stream) else {
                preconditionFailure("the delivery has no room for '\(sensor.request.sensor.name)'")
            }
            return place
        }
    }

    /// Whether nothing more is available before the next wait.
    package var isDrained: Bool {
        answers.isEmpty && losses.isEmpty && rests.isEmpty && !sensors.contains(where: \.isReady)
    }

    /// Waits until something is available, a signal arrives, or the time is over; −1 waits without limit.
    package func wait(timeoutMilliseconds: Int32) {
        guard isDrained else { return }
        hasJustDelivered = false
        var now = now ?? SystemClock.monotonic()
        if dueNanoseconds < now + Self.nearNanoseconds || dueNanoseconds > now + Self.farNanoseconds {
            now = SystemClock.monotonic()
            dueNanoseconds = sensors.reduce(.max) { min($0, $1.nextLook) }
        }
        var timeout = timeoutMilliseconds
        if dueNanoseconds < .max {
            let milliseconds = SystemClock.milliseconds(until: dueNanoseconds, from: now)
            timeout = timeout < 0 ? milliseconds : min(timeout, milliseconds)
        }
        poll(timeoutMilliseconds: timeout)
    }

    private func poll(timeoutMilliseconds: Int32) {
        deliveriesSinceLook = 0
        now = nil
        var hasReport = false
        epoll.wait(timeoutMilliseconds: timeoutMilliseconds) { token, _ in
            hasReport = true
            switch token {
            case Self.mailToken: hasMail = true
            case Self.monitorToken: hasChanges = true
            case Self.eventToken...:
                sensors.first { $0.number == Int(token - Self.eventToken) }?.hasEvents = true
                hasEvents = true
            default: sensors.first { $0.number == Int(token) }?.isReady = true
            }
        }
        // The wait has ended because something is due.
        if !hasReport { checkNanoseconds = .min }
    }

    /// Returns the notices for the user, each once, such as a device that is read in another way than requested.
    package func takeNotices() -> [String] {
        guard !notices.isEmpty else { return [] }
        defer { notices.removeAll() }
        return notices
    }

    /// Closes every device and disables its buffer; afterwards nothing is delivered.
    package func stop() {
        stop(atMostMilliseconds: 1000)
    }

    /// Closes every device and disables its buffer, as far as drivers answer in time.
    package func stop(atMostMilliseconds time: Int) {
        guard !isStopped else { return }
        isStopped = true
        // From now on worker threads close what they open.
        for message in mailbox.close() {
            if case .opened(_, .success(let device)) = message { onWorker({ device.access.close() }) }
        }
        for sensor in sensors { close(sensor, .switchOff) }
        // A buffer that is just being enabled would stay enabled after the end of the process.
        workers.wait(atMostMilliseconds: time)
    }

    /// Reads one sensor; returns whether anything was delivered.
    private func read(
        _ sensor: LiveSensor, _ reader: any SensorReader, into delivery: SampleDelivery, _ now: Int64
    ) -> Bool {
        let lossCount = delivery.losses.count
        do throws(SensorFailure) {
            sensor.isReady = try reader.read(into: delivery, at: sensor.places, arrival: now)
        } catch {
            advance(sensor, .failed(error), at: now)
        }
        var last: Int64?
        for place in sensor.places {
            if let time = delivery.batches[place].lastTimeNanoseconds { last = max(last ?? time, time) }
        }
        guard let last else { return delivery.losses.count > lossCount }
        sensor.lastTimeNanoseconds = last
        if sensor.wakeUp != nil || sensor.rest != nil { followRest(of: sensor, in: delivery, at: now) }
        if let notice = reader.takeNotice() { addNotice(sensor, notice) }
        if sensor.awaitsSample {
            sensor.awaitsSample = false
            advance(sensor, .delivered, at: now)
        }
        return true
    }

    private func handleMail(_ now: Int64) {
        hasMail = false
        waker.clear()
        mailbox.removeAll(into: &messages)
        for message in messages { handle(message, now) }
        // A message may hold an open device, which cannot be opened again until it is released.
        messages.removeAll(keepingCapacity: true)
    }

    private func handleEvents(_ now: Int64) {
        hasEvents = false
        for sensor in sensors where sensor.hasEvents { readEvents(of: sensor, at: now) }
    }

    private func handleChanges(_ now: Int64) {
        hasChanges = false
        guard let monitor else { return }
        let (changes, hasMissed) = monitor.removeAll()
        for change in changes {
            switch change {
            case .removed(let path): remove(path, now)
            case .present(let path): if let report = table.report(path) { examine(path, report: report) }
            }
        }
        // The kernel's buffer for udev's reports overflowed, so the devices have to be searched.
        if hasMissed { try? search() }
    }

    /// Performs what is due without a report of a device.
    private func checkDeadlines(_ now: Int64) {
        checkNanoseconds = now + Self.checkIntervalNanoseconds
        let suspended = readSuspended()
        if suspended - suspendedNanoseconds > 100_000_000 {
            let seconds = Double(suspended - suspendedNanoseconds) * 1e-9
            tellWhatWokeTheMachine(now, hasSlept: true)
            for sensor in sensors { advance(sensor, .suspended(seconds: seconds), at: now) }
        } else if now >= nextSuspendLookNanoseconds {
            tellWhatWokeTheMachine(now)
        }
        // The two clocks are read one after the other; the time between is no suspend.
        suspendedNanoseconds = max(suspendedNanoseconds, suspended)
        for sensor in sensors {
            if sensor.deadline <= now {
                advance(sensor, .timer, at: now)
            } else if let reader = sensor.reader {
                if let due = sensor.rest?.checkNanoseconds, due <= now { advanceRest(of: sensor, .timer, at: now) }
                checkReader(sensor, reader, now)
            }
        }
    }

    private func checkReader(_ sensor: LiveSensor, _ reader: any SensorReader, _ now: Int64) {
        if let due = reader.deadlineNanoseconds, due <= now { sensor.isReady = true }
        let silence = now - reader.lastArrivalNanoseconds
        if let stall = reader.stallNanoseconds, silence >= stall {
            // Read the available samples first: this thread may have been the one that was delayed.
            guard !sensor.isReady else { return }
            advance(sensor, .silent(seconds: Double(silence) * 1e-9), at: now)
        } else if sensor.slot.seemsSilent {
            advance(sensor, .heard, at: now)
        }
    }
}
