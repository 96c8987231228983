import Binnacle
import Glibc
package import IIOServer
import LinuxSystem
import PlainText
package import Station
import Traces

/// The sensors of recordings, played for each client from their beginning.
package final class RecordedDevices: IIOSource {
    /// Recordings, and how they are played.
    package struct Settings: Sendable {
        package var traces: TraceSet
        /// Recorded time per real time; `nil` is as fast as the client reads.
        package var speed: Double?
        /// Whether a recording begins again at its end, with stamps that continue.
        package var loops: Bool
        /// What is in them, once they were opened.
        private(set) var devices: [IIODevice] = []

        package init(_ traces: TraceSet, speed: Double?, loops: Bool) {
            (self.traces, self.speed, self.loops) = (traces, speed, loops)
        }

        /// Opens the recordings for the list of devices; returns what was assumed about them, for messages before the first client.
        package mutating func open(_ interruption: Interruption) throws(StationError) -> [String] {
            try traces.unpack(interruption)
            let assembly = try Assembly(playing: traces, interruption: interruption)
            devices = assembly.streams.map { IIODevice($0.sensor.name, .samples($0.kind)) }.inOrder
            return assembly.notices
        }
    }

    private let settings: Settings
    private let interruption: Interruption
    /// Where the programs that poll are, by device.
    private var polled: [String: RecordedFeed] = [:]
    /// The texts of the rates, by device, once one was asked for.
    private var rates: [String: String]?
    /// How many samples show a rate, and how many of all streams are looked at for them.
    private static let (rateSamples, mostSamples) = (257, 1_000_000)

    /// Creates the devices of settings whose recordings were opened.
    package init(_ settings: Settings, interruption: Interruption) {
        (self.settings, self.interruption) = (settings, interruption)
    }

    package var summary: String { "Binnacle \(Version.current): recorded samples" }

    package func devices() throws(IIOFailure) -> [IIODevice] { settings.devices }

    private func traces() throws(IIOFailure) -> TraceSource {
        let assembly = try mapError({ IIOFailure(EIO, $0.description) }) { () throws(StationError) in
            try Assembly(playing: settings.traces, interruption: interruption)
        }
        guard let traces = assembly.traces else { throw .noDevice }
        return traces
    }

    package func open(_ device: IIODevice) throws(IIOFailure) -> any IIOFeed {
        try feed(device)
    }

    private func feed(_ device: IIODevice) throws(IIOFailure) -> RecordedFeed {
        let traces = try traces()
        var pace: PacedSource?
        if settings.speed != nil || settings.loops {
            let (settings, interruption) = (settings, interruption)
            // As fast as can be: each sample is due when it is asked for.
            pace = PacedSource(
                traces, speed: settings.speed ?? 1e9,
                reopen: { () throws(StationError) in
                    settings.loops ? try Assembly(playing: settings.traces, interruption: interruption).traces : nil
                })
        }
        guard let feed = RecordedFeed(traces, pace: pace, device) else { throw .noDevice }
        return feed
    }

    package func latest(_ device: IIODevice, until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> IIOScan
    {
        let feed = if let known = polled[device.name] { known } else { try self.feed(device) }
        polled[device.name] = feed
        do throws(IIOFailure) {
            // What is due by now is skipped; without a speed each poll is a step.
            if settings.speed == nil || feed.last == nil { try feed.step(until: deadline, isWanted: isWanted) }
            while settings.speed != nil, SystemClock.monotonic() < deadline, isWanted(), try feed.step(until: 0) {}
        } catch {
            // The last sample stays what it is.
            guard error == .ended, feed.last != nil else { throw error }
        }
        guard let last = feed.last else { throw IIOFailure(ETIMEDOUT) }
        return last
    }

    package func attribute(_ name: String, of device: IIODevice) throws(IIOFailure) -> String {
        if rates == nil { rates = Self.rates(of: try traces()) }
        guard let rate = rates?[device.name] else { throw IIOFailure(ENODATA) }
        return rate
    }

    /// The rates by the first samples of each stream.
    private static func rates(of traces: TraceSource) -> [String: String] {
        var stamps = traces.streams.map { _ in [Int64]() }
        let delivery = SampleDelivery(streams: traces.streams, capacity: rateSamples)
        var isEnd = false
        var count = 0
        while !isEnd, count < mostSamples, stamps.contains(where: { $0.count < rateSamples }) {
            delivery.removeAll()
            isEnd = traces.fill(delivery).isEnd
            count += delivery.batches.reduce(0) { $0 + $1.count }
            for (stream, batch) in delivery.batches.enumerated() where stamps[stream].count < rateSamples {
                stamps[stream] += (0..<batch.count).map { batch[$0].timeNanoseconds }
            }
        }
        var rates: [String: String] = [:]
        for (stream, all) in zip(traces.streams, stamps) {
            let first = all.prefix(rateSamples)
            let distances = zip(first, first.dropFirst()).map { PacedSource.distance(from: $0, to: $1) }.sorted()
            guard let median = distances.dropFirst(distances.count / 2).first, median > 0 else { continue }
            rates[IIODevice(stream.sensor.name, .samples(stream.kind)).name] = Decimal.text(
                1e9 / Double(median), decimals: 3)
        }
        return rates
    }
}

/// One stream of a recording, at the pace of its source.
private final class RecordedFeed: IIOFeed {
    private let source: any SampleSource
    /// The source, where it is paced.
    private let pace: PacedSource?
    private let stream: StreamID
    private let device: IIODevice
    private let delivery: SampleDelivery
    /// Scans for programs that poll, which take one by one, and the last that they have taken.
    private var waiting: ArraySlice<IIOScan> = []
    private(set) var last: IIOScan?
    /// Why there are no more, behind the scans that were there before.
    private var failure: IIOFailure?
    private static let capacity = 256

    init?(_ traces: TraceSource, pace: PacedSource? = nil, _ device: IIODevice) {
        let source: any SampleSource = pace ?? traces
        let found = source.streams.first { .samples($0.kind) == device.content && $0.sensor.name == device.owner }
        guard let found else { return nil }
        (self.source, self.pace, self.device, stream) = (source, pace, device, found.id)
        delivery = SampleDelivery(streams: source.streams, capacity: Self.capacity)
    }

    /// With a deadline of 0 all that is due is looked at, however many samples of other streams it has.
    func next(until deadline: Int64) throws(IIOFailure) -> [IIOScan] {
        if let failure { throw failure }
        var scans: [IIOScan] = []
        while scans.count < Self.capacity {
            delivery.removeAll()
            let answer = source.fill(delivery)
            if let batch = delivery[stream] {
                for index in 0..<batch.count { scans.append(device.scan(batch[index])) }
            }
            switch answer {
            case .samples: if scans.isEmpty, deadline > 0, SystemClock.monotonic() >= deadline { return [] }
            case .failed(let streams, let reason):
                guard streams.contains(where: { $0.id == stream }) else { continue }
                let found = IIOFailure(EIO, "\(reason)")
                failure = found
                guard scans.isEmpty else { return scans }
                throw found
            case .ended:
                guard scans.isEmpty else { return scans }
                throw .ended
            case .pending:
                guard scans.isEmpty else { return scans }
                let now = SystemClock.monotonic()
                guard now < deadline else { return [] }
                let due = min(deadline, pace?.nextDueNanoseconds ?? now + 1_000_000)
                usleep(UInt32(clamping: max(0, due - now) / 1000 + 1))
            }
        }
        return scans
    }

    /// Takes the next scan; `false` when none is due until a time, or wanted any more.
    @discardableResult
    func step(until deadline: Int64, isWanted: () -> Bool = { true }) throws(IIOFailure) -> Bool {
        if waiting.isEmpty { waiting = try next(until: deadline, isWanted: isWanted)[...] }
        guard let scan = waiting.popFirst() else { return false }
        last = scan
        return true
    }

    /// A recording waits for its reader.
    func removeLost() -> Int { 0 }
}

extension [IIODevice] {
    /// In the order of names, which no reload changes.
    var inOrder: [IIODevice] { sorted { ($0.owner, $0.type) < ($1.owner, $1.type) } }
}
