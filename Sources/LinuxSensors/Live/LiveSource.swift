public import Binnacle
import Glibc
public import LinuxSystem

/// The machine's own sensors as a source: finds them, opens them, reads them, and follows them through unplug, re-plug,
/// stall and suspend.
///
/// Everything runs on the thread that calls ``fill(_:)`` and ``wait(timeoutMilliseconds:)``. Only what may block, which
/// is sysfs, has threads of its own, and they talk through a mailbox. A delivery has the samples of one device.
public final class LiveSource: SampleSource {
    /// The streams of all sensors.
    public internal(set) var streams: [SampleStream]

    var sensors: [LiveSensor]
    /// How many sensors there have been: each has a number of its own, which messages and descriptors carry.
    var sensorCount: Int
    /// The devices of sensors that have gone, until they are closed, by the sensor's number.
    var leaving: [Int: LeavingDevice] = [:]
    let finder: DeviceFinder
    let waker: Waker
    let mailbox: Mailbox<LiveMessage>
    let openings = OpeningCount()
    let epoll: Epoll
    let monitor: DeviceMonitor?
    /// The sensors that are there, in a stable order; `nil` until the machine has been searched.
    var devices: [SensorDevice]?
    /// The devices that came while the machine was searched.
    var early: [SensorDevice] = []
    /// The folders of those that went meanwhile.
    var removedEarly: Set<String> = []
    /// The number of udev's last word about each folder that is there: an answer to an earlier one is out of date.
    var changes: [String: Int] = [:]
    /// How often udev has told of something.
    private var changeCount = 0
    var answers: [SampleAnswer] = []
    var losses: [SampleLoss] = []
    private var notices: [String] = []
    private var messages: [LiveMessage] = []
    private var hasMail = false
    private var hasChanges = false
    private let readSuspended: () -> Int64
    private var suspendedNanoseconds: Int64
    let bufferRetryNanoseconds: Int64
    var nextSensor = 0
    /// The delivery that the sensors' places are of.
    var lastDelivery: SampleDelivery?
    /// How many deliveries were made since the last look at the descriptors.
    private var deliveriesSinceLook = 0
    /// Whether the last answer was samples: then everything was looked after a moment ago.
    private var hasJustDelivered = false
    private(set) var isStopped = false

    static let mailToken = UInt64.max
    static let monitorToken = UInt64.max - 1
    private static let mostDeliveries = 64

    /// Starts to look for the sensors; the first of them may deliver after a few milliseconds.
    ///
    /// - Parameters:
    ///   - requests: What is wanted, each sensor once.
    ///   - finder: Where to look.
    /// - Throws: ``SystemError`` when the system refuses what the source needs itself.
    public convenience init(
        _ requests: [SensorRequest], finder: DeviceFinder = DeviceFinder()
    ) throws(SystemError) {
        try self.init(requests, finder: finder, waker: try Waker())
    }

    /// Starts with a waker that others use as well.
    ///
    /// - Parameters:
    ///   - requests: What is wanted, each sensor once.
    ///   - finder: Where to look.
    ///   - waker: Ends a wait.
    ///   - suspended: How long the machine has been suspended, in nanoseconds; tests have another idea of it.
    ///   - bufferRetryNanoseconds: After how long the buffer of a device that was silent is tried again for the first time;
    ///     tests have less patience.
    /// - Throws: ``SystemError`` when the system refuses what the source needs itself.
    package init(
        _ requests: [SensorRequest], finder: DeviceFinder, waker: Waker,
        suspended: @escaping () -> Int64 = SystemClock.suspended, bufferRetryNanoseconds: Int64 = 60_000_000_000
    ) throws(SystemError) {
        self.finder = finder
        self.bufferRetryNanoseconds = bufferRetryNanoseconds
        readSuspended = suspended
        suspendedNanoseconds = suspended()
        streams = Self.streams(of: requests)
        sensors = requests.enumerated().map { LiveSensor(number: $0, request: $1) }
        sensorCount = requests.count
        self.waker = waker
        mailbox = Mailbox(waker: waker)
        epoll = try Epoll()
        try epoll.add(waker.descriptor, token: Self.mailToken)
        // Listening begins before the search, so that nothing falls in between.
        monitor = finder.usesUdev ? try DeviceMonitor() : nil
        if let monitor { try epoll.add(monitor.descriptor, token: Self.monitorToken) }
        try search()
    }

    /// The streams of requests, in their order.
    static func streams(of requests: [SensorRequest]) -> [SampleStream] {
        SampleStream.ordered(requests.flatMap { request in request.kinds.map { (request.sensor, $0) } })
    }

    /// Looks for all devices, on a thread of its own.
    private func search() throws(SystemError) {
        let (finder, mailbox) = (finder, mailbox)
        try WorkerThread.start {
            do throws(SystemError) {
                mailbox.post(.enumerated(try finder.devices()))
            } catch {
                mailbox.post(.enumerationFailed(error.description))
            }
        }
    }

    deinit {
        stop()
    }

    /// Writing eight bytes that are not 0 to this descriptor ends a wait; a signal handler may do it.
    public var wakeDescriptor: Int32 { waker.descriptor }

    /// Whether the machine has been searched and every device that was found is open, or could not be opened.
    public var isSettled: Bool {
        devices != nil && answers.isEmpty
            && sensors.allSatisfy { if case .opening(_?) = $0.phase { false } else { true } }
    }

    /// Whether a sensor is read from scans at present.
    package var hasScans: Bool { sensors.contains { $0.buffer != nil } }

    /// Hands over what has come: the samples of one device, a failure, or nothing yet.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !isStopped else { return .ended }
        if delivery !== lastDelivery { findPlaces(in: delivery) }
        if hasJustDelivered {
            hasJustDelivered = false
            // Mostly that was all, and asking the clocks for it would cost as much as some samples.
            if isDrained, !hasMail, !hasChanges { return .pending }
        }
        // A device that always has something must not keep udev and the others from being heard.
        if deliveriesSinceLook >= Self.mostDeliveries { look(timeoutMilliseconds: 0) }
        let now = SystemClock.monotonic()
        if hasMail { takeMail(now) }
        if hasChanges { takeChanges() }
        lookAfter(now)
        if !losses.isEmpty {
            for loss in losses { delivery.append(loss) }
            losses.removeAll(keepingCapacity: true)
            return .samples
        }
        if !answers.isEmpty { return answers.removeFirst() }
        // Each in its turn, so that a fast device does not keep the others from speaking.
        for offset in sensors.indices {
            let sensor = sensors[(nextSensor + offset) % sensors.count]
            guard sensor.isReady, let reader = sensor.reader else { continue }
            read(sensor, reader, into: delivery, now)
            if !delivery.isEmpty || !delivery.losses.isEmpty {
                nextSensor = (nextSensor + offset + 1) % sensors.count
                deliveriesSinceLook += 1
                hasJustDelivered = true
                return .samples
            }
        }
        return answers.isEmpty ? .pending : answers.removeFirst()
    }

    /// Looks the streams up once for a delivery, which is used again and again.
    private func findPlaces(in delivery: SampleDelivery) {
        lastDelivery = delivery
        for sensor in sensors {
            sensor.places = sensor.streamIDs.map { stream in
                guard let place = delivery.index(of: stream) else {
                    preconditionFailure("the delivery has no room for '\(sensor.request.sensor.name)'")
                }
                return place
            }
        }
    }

    /// Whether asking before the next wait would bring nothing.
    package var isDrained: Bool {
        answers.isEmpty && losses.isEmpty && !sensors.contains(where: \.isReady)
    }

    /// Waits until there is something to ask for, a signal comes, or the time is over.
    ///
    /// - Parameter timeoutMilliseconds: The longest wait; −1 has no end.
    public func wait(timeoutMilliseconds: Int32 = -1) {
        guard isDrained else { return }
        var timeout = timeoutMilliseconds
        if let due = sensors.lazy.compactMap(\.deadlineNanoseconds).min() {
            let milliseconds = SystemClock.milliseconds(until: due)
            timeout = timeout < 0 ? milliseconds : min(timeout, milliseconds)
        }
        look(timeoutMilliseconds: timeout)
    }

    private func look(timeoutMilliseconds: Int32) {
        deliveriesSinceLook = 0
        _ = epoll.wait(timeoutMilliseconds: timeoutMilliseconds) { token in
            switch token {
            case Self.mailToken: hasMail = true
            case Self.monitorToken: hasChanges = true
            default: sensor(numbered: Int(token))?.isReady = true
            }
        }
    }

    /// Takes what a person should know, each thing once: how a device is read when that is not as asked for.
    public func takeNotices() -> [String] {
        guard !notices.isEmpty else { return [] }
        defer { notices.removeAll() }
        return notices
    }

    /// Closes every device and switches its buffer off; afterwards nothing is delivered.
    public func stop() {
        stop(atMostMilliseconds: 1000)
    }

    /// Closes every device and switches its buffer off, as far as drivers answer in time.
    package func stop(atMostMilliseconds time: Int) {
        guard !isStopped else { return }
        isStopped = true
        // What a worker has opened and nobody has taken is closed here; what one opens from now on, by itself.
        for message in mailbox.close() {
            if case .opened(_, _, .success(let open)) = message { open.opened.discard() }
        }
        for sensor in sensors {
            let buffer = sensor.buffer
            let controls = buffer?.controls ?? sensor.abandonedControls
            close(sensor)
            if let controls { switchOff(controls, of: buffer) }
        }
        // A buffer that is being switched on now would stay on when the process ends; a driver that hangs is not waited for.
        openings.wait(atMostMilliseconds: time)
    }

    /// Switches a buffer off on a thread of its own, where a driver that hangs keeps nobody.
    ///
    /// Until that is done nobody else can open it.
    private func switchOff(_ controls: SysfsDirectory, of buffer: OpenBuffer?) {
        let openings = openings
        openings.begin()
        do throws(SystemError) {
            try WorkerThread.start {
                defer { openings.end() }
                withExtendedLifetime(buffer) { try? controls.write("0", to: "enable") }
            }
        } catch {
            try? controls.write("0", to: "enable")
            openings.end()
        }
    }

    /// Tells a person something about a sensor, once.
    func note(_ sensor: LiveSensor, _ text: String) {
        guard sensor.toldNotices.insert(text).inserted else { return }
        notices.append("\(sensor.request.sensor.name): \(text)")
    }

    // MARK: - On the event thread

    /// A sensor by its number; one that has gone is not found.
    func sensor(numbered number: Int) -> LiveSensor? {
        sensors.first { $0.number == number }
    }

    private func read(_ sensor: LiveSensor, _ reader: any SensorReader, into delivery: SampleDelivery, _ now: Int64) {
        do throws(SensorFailure) {
            sensor.isReady = try reader.read(into: delivery, at: sensor.places, arrival: now)
        } catch {
            lose(sensor, error, now)
        }
        guard let last = delivery.lastTimeNanoseconds else { return }
        sensor.lastTimeNanoseconds = last
        if let notice = reader.takeNotice() { note(sensor, notice) }
        if !sensor.hasDelivered {
            sensor.hasDelivered = true
            sensor.failureCount = 0
            sensor.toldFailure = nil
        }
    }

    private func takeMail(_ now: Int64) {
        hasMail = false
        waker.clear()
        mailbox.takeAll(into: &messages)
        for message in messages { take(message, now) }
        // A list that is kept keeps what was opened, and a device has one opener at a time.
        messages.removeAll(keepingCapacity: true)
    }

    private func takeChanges() {
        hasChanges = false
        guard let monitor else { return }
        let (changes, hasMissed) = monitor.takeAll()
        for change in changes {
            switch change {
            case .removed(let path):
                // Whoever is re-plugged has a path of its own each time.
                self.changes[path] = nil
                remove(path)
            case .present(let path):
                changeCount += 1
                self.changes[path] = changeCount
                examine(path, change: changeCount)
            }
        }
        // udev had more to say than the kernel keeps: what is there now is what counts.
        if hasMissed { try? search() }
    }

    /// Looks at a device that has come or changed, on a thread of its own.
    private func examine(_ path: String, change: Int) {
        let (finder, mailbox) = (finder, mailbox)
        do throws(SystemError) {
            try WorkerThread.start {
                if let device = finder.device(path: path) { mailbox.post(.found(device, change: change)) }
            }
        } catch {
            notices.append("\(path): cannot be looked at: \(error.description)")
        }
    }

    /// Does what is due without a device having spoken.
    private func lookAfter(_ now: Int64) {
        let suspended = readSuspended()
        if suspended - suspendedNanoseconds > 100_000_000 {
            resume(after: Double(suspended - suspendedNanoseconds) * 1e-9)
        }
        // Two clocks are read for it, and a pause between them is no suspend.
        suspendedNanoseconds = max(suspendedNanoseconds, suspended)
        for sensor in sensors {
            switch sensor.phase {
            case .waiting(let retry?) where retry <= now: open(sensor)
            case .opening(let due?) where due <= now: giveUpOpening(sensor)
            case .reading(let reader): lookAfter(sensor, reader, now)
            default: break
            }
        }
    }

    private func lookAfter(_ sensor: LiveSensor, _ reader: any SensorReader, _ now: Int64) {
        if let due = reader.deadlineNanoseconds, due <= now { sensor.isReady = true }
        if sensor.remedy == .polled, let due = sensor.bufferDueNanoseconds, due <= now {
            return tryBufferAgain(sensor, now)
        }
        guard let stall = reader.stallNanoseconds, now - reader.lastArrivalNanoseconds >= stall else {
            sensor.isSilenceSuspected = false
            return
        }
        // What is in the buffer is looked at before anything is said of silence: it may be this thread that slept.
        guard sensor.isSilenceSuspected else {
            sensor.isSilenceSuspected = true
            sensor.isReady = true
            return
        }
        guard !sensor.isReady else { return }
        sensor.isSilenceSuspected = false
        treatSilence(sensor, reader, now)
    }
}
