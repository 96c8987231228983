import Binnacle
import Glibc
import LinuxSystem

/// Reads the scans of a device's buffer.
///
/// A read may end within a scan; the rest of the scan comes with the next read.
///
/// The bytes are raw memory that is allocated once and never leaves this class; every scan that is accessed is between `parsed`
/// and `filled`, which stay within its capacity.
final class IIOBufferReader: SensorReader {
    private let file: Descriptor
    private let node: String
    private let decoder: ScanDecoder
    private let description: ScanDescription
    private lazy var layout = description.text
    private let bytes: UnsafeMutableRawPointer
    private let capacity: Int
    private var filled = 0
    private var parsed = 0
    private var stamper: ScanStamper
    private let movingPeriod: PollingPeriod?
    private let restPeriod: PollingPeriod?
    /// Tells when the samples may gather for longer; `nil` when they never may.
    private var stillness: Stillness?
    private var period: PollingPeriod? { isAtRest ? restPeriod : movingPeriod }
    private var isAtRest: Bool { stillness.map { $0.nanoseconds >= Self.stillNanoseconds } ?? false }

    /// How long nothing has to have moved before samples gather for longer, and how far a sample may be away: the noise of a chip
    /// is below it, and every movement that a detector reports by default is above it.
    private static let stillNanoseconds: Int64 = 2_000_000_000
    private static let stillG = 0.025
    private let rateHz: Double?

    private(set) var lastArrivalNanoseconds: Int64
    private var lastLookNanoseconds: Int64

    private static let byteCount = 64 * 1024

    /// No stamp is below `floor`, the last stamp of the previous opening.
    init(_ buffer: OpenBuffer, now: Int64, floor: Int64?) {
        file = buffer.file
        node = buffer.node
        description = buffer.scans
        decoder = description.decoder
        movingPeriod = buffer.period
        restPeriod = buffer.restPeriod
        // A buffer that is read at each scan has no period to lengthen.
        let isTimed = buffer.period != nil && buffer.scans.streams.first?.kind == .accelerometer
        stillness = isTimed && buffer.restPeriod != nil ? Stillness(limitG: Self.stillG) : nil
        capacity = max(1, Self.byteCount / decoder.scanByteCount) * decoder.scanByteCount
        bytes = .allocate(byteCount: capacity, alignment: 16)
        rateHz = buffer.rateHz
        stamper = ScanStamper(rateHz: buffer.rateHz, floor: floor)
        lastArrivalNanoseconds = now
        lastLookNanoseconds = now
    }

    deinit {
        bytes.deallocate()
    }

    var descriptor: Int32? { file.raw }

    /// The kernel wakes a waiting reader at each scan, also below the watermark, only to let it sleep again: a wake-up costs more
    /// than the rest of the work for a scan.
    var isTimed: Bool { movingPeriod != nil }

    var deadlineNanoseconds: Int64? { isAsleep ? nil : period?.end(after: lastLookNanoseconds) }

    var stallNanoseconds: Int64? {
        isAsleep ? nil : max(1_000_000_000, Int64(interval * 10)) + (period?.nanoseconds ?? 0)
    }

    /// Whether the buffer is off because nothing moves: silence is normal.
    private(set) var isAsleep = false

    /// What is left in the buffer can still be read.
    func sleep() { isAsleep = true }

    /// Takes the next sample as the first one.
    func forgetStamps(floor: Int64?) {
        stamper = ScanStamper(rateHz: rateHz, floor: floor, isStampless: stamper.clock.isStampless)
    }

    /// Begins again after a rest: the time of the rest is no gap, and silence counts from now on.
    func wake(at now: Int64, floor: Int64?) {
        isAsleep = false
        forgetStamps(floor: floor)
        lastArrivalNanoseconds = now
        lastLookNanoseconds = now
    }

    var intervalNanoseconds: Double? { stamper.gaps.intervalNanoseconds }

    /// The interval between scans in nanoseconds; a tenth of a second until it is known.
    private var interval: Double { min(stamper.gaps.intervalNanoseconds ?? 1e8, 1e10) }

    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool {
        let size = decoder.scanByteCount
        var isDrained = false
        lastLookNanoseconds = arrival
        if filled - parsed < size {
            bytes.copyMemory(from: bytes + parsed, byteCount: filled - parsed)
            filled -= parsed
            parsed = 0
            let room = capacity - filled
            let count = try refill(room)
            // A short read has emptied the buffer.
            isDrained = count < room
            if count > 0 { lastArrivalNanoseconds = arrival }
        }
        let scans = (filled - parsed) / size
        let taken = min(scans, delivery.capacity)
        if delivery.keepsScans {
            delivery.scans?.append(
                UnsafeRawBufferPointer(start: bytes + parsed, count: taken * size), of: size, layout: layout)
        }
        if taken > 0, decoder.takesBlocks {
            decodeBlock(taken, of: scans, into: delivery, at: places, arrival: arrival)
        } else {
            for number in 0..<taken {
                appendScans(behind: scans - 1 - number, into: delivery, at: places, arrival: arrival)
            }
        }
        if taken > 0, stillness != nil, let first = places.first {
            _ = stillness?.follow(delivery.batches[first].columns)
        }
        return taken < scans || !isDrained
    }

    func takeNotice() -> String? { stamper.takeNotice() }

    /// Decodes scans as one block; the stamps are corrected in place, in the batch of the first stream.
    private func decodeBlock(
        _ count: Int, of scans: Int, into delivery: SampleDelivery, at places: [Int], arrival: Int64
    ) {
        guard let first = places.first else { return }
        let block = UnsafeRawPointer(bytes + parsed)
        parsed += count * decoder.scanByteCount
        delivery.batches[first].append(count: count) { times, x, y, z in
            decoder.decode(0, of: block, count: count, times: times, x: x, y: y, z: z)
            stamper.stamp(
                times, count: count, isStamped: decoder.hasTimestamp, arrival: arrival, behind: scans - count
            ) {
                delivery.append($0, at: places, timeNanoseconds: $1)
            }
        }
        let stamps = delivery.batches[first].columns
        for (stream, index) in places.enumerated().dropFirst() {
            delivery.batches[index].append(count: count) { times, x, y, z in
                decoder.decode(stream, of: block, count: count, times: nil, x: x, y: y, z: z)
                times.update(from: stamps.times + (stamps.count - count), count: count)
            }
        }
    }

    private func appendScans(behind: Int, into delivery: SampleDelivery, at places: [Int], arrival: Int64) {
        let scan = UnsafeRawPointer(bytes + parsed)
        parsed += decoder.scanByteCount
        var time = decoder.stamp(of: scan) ?? 0
        stamper.stamp(&time, count: 1, isStamped: decoder.hasTimestamp, arrival: arrival, behind: behind) {
            delivery.append($0, at: places, timeNanoseconds: $1)
        }
        for (stream, index) in places.enumerated() {
            let sample = decoder.sample(stream, of: scan)
            delivery.batches[index].append(timeNanoseconds: time, x: sample.x, y: sample.y, z: sample.z)
        }
    }

    private func refill(_ room: Int) throws(SensorFailure) -> Int {
        do throws(SystemError) {
            let count = try systemCall("read", path: node) { Glibc.read(file.raw, bytes + filled, room) }
            guard count > 0 else {
                throw SystemError(code: ENODEV, call: "read", path: node)
            }
            filled += count
            return count
        } catch {
            guard error.code == EAGAIN else { throw SensorFailure(error) }
            return 0
        }
    }
}

extension SampleDelivery {
    /// Reports a finding before a sample of some streams.
    fileprivate func append(_ finding: ScanStamper.Finding, at places: [Int], timeNanoseconds: Int64) {
        for index in places {
            append(
                SampleLoss(
                    stream: streams[index], cause: finding.cause, count: finding.count,
                    durationSeconds: finding.durationSeconds, detail: finding.detail, timeNanoseconds: timeNanoseconds))
        }
    }
}
