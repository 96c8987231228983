import Glibc
package import LinuxSystem
import PlainText

/// Answers the requests of one client, until it leaves; for a thread that may block.
///
/// Nothing that a client sends changes anything, and nothing that it sends or leaves unread makes the server's memory grow
/// (``IIOLimits``). While it asks for no samples none are read for it, and the daemon drops its oldest.
package final class IIOSession {
    /// What the server's messages say of a client.
    package enum Note {
        /// Scans that the client has lost, because it was too slow.
        case lost(Int)
        /// The client has read nothing for a minute.
        case stalled
        /// The client is disconnected: it has asked nothing in the time that it has for its first request.
        case silent
        /// The client is disconnected: its requests are too long, or not understood again and again.
        case notUnderstood
        /// The daemon or the recording does not deliver.
        case failed(String)
    }

    /// A device whose buffer the client has opened.
    private struct Buffer {
        let mask: UInt32
        let places: [(channel: IIODevice.Channel, offset: Int)]
        let size: Int
        let feed: any IIOFeed
        /// Scans that did not fit into the last answer.
        var rest: ArraySlice<IIOScan> = []
        /// Why no more scans come, if an answer was under way then.
        var failure: IIOFailure?
    }

    private let stream: PeerStream
    private let source: any IIOSource
    private let admit: () -> Bool
    private let report: (Note) -> Void
    private var input: [UInt8] = []
    private var isAdmitted = false
    /// When the first request has to be understood, on CLOCK_MONOTONIC.
    private let firstDeadline: Int64
    private var malformedCount = 0
    private var timeoutMilliseconds = IIOLimits.standardTimeout
    /// By the number of the device.
    private var buffers: [Int: Buffer] = [:]
    /// The last scan of each device that was read value by value, and the channels that it was read for.
    private var polled: [Int: (scan: IIOScan, channels: Set<String>, nanoseconds: Int64)] = [:]

    /// For how long the axes that are read one after the other are those of one scan.
    private static let polledTogether: Int64 = 1_000_000_000

    /// Creates a session; `admit` is asked once, at the first request that is understood, which has to come within `patience`
    /// nanoseconds.
    package init(
        _ stream: PeerStream, _ source: any IIOSource, patience: Int64 = IIOLimits.firstRequest,
        admit: @escaping () -> Bool = { true }, report: @escaping (Note) -> Void
    ) {
        (self.stream, self.source, self.admit, self.report) = (stream, source, admit, report)
        firstDeadline = SystemClock.monotonic() + patience
    }

    /// Serves until the client leaves, or has to.
    package func serve() {
        while let line = readLine() {
            do throws(IIOFailure) {
                guard let request = try IIORequest(parsing: line) else { continue }
                if !isAdmitted {
                    guard admit() else { return }
                    isAdmitted = true
                }
                guard try answer(request) else { break }
            } catch {
                if let reason = error.reason { report(.failed(reason)) }
                if error == .malformed { malformedCount += 1 }
                guard malformedCount < IIOLimits.malformed else {
                    report(.notUnderstood)
                    break
                }
                guard say(-Int(error.code)) else { break }
            }
        }
        if stream.hasStalled { report(.stalled) }
    }

    // MARK: - Lines

    /// The next line without its end; `nil` at the end of the input, and after a line that is too long.
    private func readLine() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 1024)
        var searched = 0
        while true {
            if let end = input[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(input[..<end])
                input.removeFirst(end + 1)
                return line
            }
            searched = input.count
            guard input.count < IIOLimits.line else {
                _ = say(-Int(E2BIG))
                report(.notUnderstood)
                return nil
            }
            guard stream.isReady(until: isAdmitted ? nil : firstDeadline) else {
                if !isAdmitted { report(.silent) }
                return nil
            }
            let count = stream.read(&piece, atMost: piece.count)
            guard count > 0 else { return nil }
            input += piece[..<count]
        }
    }

    /// Reads and discards the value of a WRITE.
    private func skip(_ count: Int) -> Bool {
        let buffered = min(count, input.count)
        input.removeFirst(buffered)
        var rest = count - buffered
        var piece = [UInt8](repeating: 0, count: 4096)
        while rest > 0 {
            guard stream.isReady(until: SystemClock.monotonic() + IIOLimits.stall) else { return false }
            let read = stream.read(&piece, atMost: min(rest, piece.count))
            guard read > 0 else { return false }
            rest -= read
        }
        return true
    }

    /// Sends a number on a line, and bytes; `false` when the client is gone.
    private func say(_ number: Int, _ bytes: [UInt8] = []) -> Bool {
        stream.write(Array("\(number)\n".utf8) + bytes, within: IIOLimits.stall)
    }

    // MARK: - Answers

    /// Answers a request; `false` ends the connection.
    private func answer(_ request: IIORequest) throws(IIOFailure) -> Bool {
        switch request {
        case .exit: return false
        case .help:
            let names = "HELP EXIT PRINT VERSION TIMEOUT OPEN CLOSE READ READBUF GETTRIG SET"
            return stream.write(Array("Binnacle, read-only: \(names)\n".utf8), within: IIOLimits.stall)
        // The numbers of the release whose protocol this is, and seven letters.
        case .version: return stream.write(Array("0.24.binnacl\n".utf8), within: IIOLimits.stall)
        case .print:
            let xml = Array(IIOContext.xml(try source.devices(), description: source.summary).utf8)
            return say(xml.count, xml + [UInt8(ascii: "\n")])
        case .timeout(let milliseconds):
            timeoutMilliseconds = milliseconds
            return say(0)
        case .open(let name, let mask):
            let (index, device) = try find(name)
            guard buffers[index] == nil else { throw IIOFailure(EBUSY) }
            let (places, size) = try device.layout(mask)
            buffers[index] = Buffer(
                mask: mask, places: places, size: size, feed: try source.open(device))
            return say(0)
        case .close(let name):
            guard buffers.removeValue(forKey: try find(name).index) != nil else { throw IIOFailure(EBADF) }
            return say(0)
        case .readBuffer(let name, let bytes): return try read(find(name).index, bytes)
        case .read(let name, let owner, let attribute):
            let text = Array(try value(of: attribute, owner, find(name)).utf8) + [0]
            return say(text.count, text + [UInt8(ascii: "\n")])
        case .write(let bytes):
            guard bytes <= IIOLimits.payload, skip(bytes) else { return false }
            throw .readOnly
        case .writeBuffer, .setTrigger: throw .readOnly
        // No device here has a trigger.
        case .trigger(let name):
            _ = try find(name)
            throw .noDevice
        case .buffers(let name):
            _ = try find(name)
            return say(0)
        }
    }

    private func find(_ name: String) throws(IIOFailure) -> (index: Int, device: IIODevice) {
        let devices = try source.devices()
        let place = devices.indices.first { index in
            devices[index].isPresent && (IIOContext.id(index) == name || devices[index].name == name)
        }
        guard let index = place else { throw .noDevice }
        return (index, devices[index])
    }

    private func deadline() -> Int64 {
        timeoutMilliseconds == 0 ? .max : SystemClock.monotonic() + Int64(timeoutMilliseconds) * 1_000_000
    }

    private func value(
        of attribute: String, _ owner: IIORequest.Owner, _ found: (index: Int, device: IIODevice)
    ) throws(IIOFailure) -> String {
        switch owner {
        case .device where found.device.attributes.contains(attribute):
            return try source.attribute(attribute, of: found.device)
        case .channel(let id):
            guard let channel = found.device.channels.first(where: { $0.id == id }), !channel.values.isEmpty else {
                throw IIOFailure(ENOENT)
            }
            switch attribute {
            case "scale": return found.device.scale
            case "raw":
                let scan = try polledScan(found, id)
                return channel.values.map { String(scan.values[$0]) }.joined(separator: " ")
            default: throw IIOFailure(ENOENT)
            }
        case .device, .other: throw IIOFailure(ENOENT)
        }
    }

    /// The scan for a value that is read by itself: the same one for all channels, until one is read again.
    private func polledScan(_ found: (index: Int, device: IIODevice), _ channel: String) throws(IIOFailure) -> IIOScan {
        let now = SystemClock.monotonic()
        if let last = polled[found.index], !last.channels.contains(channel),
            now - last.nanoseconds < Self.polledTogether
        {
            polled[found.index]?.channels.insert(channel)
            return last.scan
        }
        let scan = try source.latest(found.device, until: deadline()) { [stream] in !stream.isGone }
        polled[found.index] = (scan, [channel], now)
        return scan
    }

    /// Sends scans as they come, in pieces, until as many are sent as were asked for.
    ///
    /// What has come is never discarded: at the end of a recording, and when no sample comes in time, the answer ends with a 0 behind
    /// it, and only the next one is an error.
    private func read(_ index: Int, _ bytes: Int) throws(IIOFailure) -> Bool {
        guard var buffer = buffers[index] else { throw IIOFailure(EBADF) }
        var missing = bytes / buffer.size
        guard missing > 0 else { throw .malformed }
        let feed = buffer.feed
        defer {
            buffers[index] = buffer
            let lost = feed.removeLost()
            if lost > 0 { report(.lost(lost)) }
        }
        var isFirst = true
        var end = deadline()
        while missing > 0 {
            if buffer.rest.isEmpty {
                do throws(IIOFailure) {
                    if let failure = buffer.failure { throw failure }
                    buffer.rest = try feed.next(until: end) { [stream] in !stream.isGone }[...]
                    if buffer.rest.isEmpty {
                        if stream.isGone { return false }
                        throw IIOFailure(ETIMEDOUT)
                    }
                } catch {
                    guard !isFirst else { throw error }
                    // What came too late may come next time.
                    if error.code != ETIMEDOUT { buffer.failure = error }
                    return say(0)
                }
                end = deadline()
            }
            let count = min(missing, buffer.rest.count, IIOLimits.piece)
            let mask = isFirst ? Array((buffer.mask.hexadecimal + "\n").utf8) : []
            let piece = Self.encoded(buffer.rest.prefix(count), buffer)
            guard say(piece.count, mask + piece) else { return false }
            buffer.rest = buffer.rest.dropFirst(count)
            missing -= count
            isFirst = false
        }
        // What is no whole scan does not come.
        return bytes % buffer.size == 0 || say(0)
    }

    private static func encoded(_ scans: ArraySlice<IIOScan>, _ buffer: Buffer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: scans.count * buffer.size)
        bytes.withUnsafeMutableBytes { bytes in
            var start = 0
            for scan in scans {
                for (channel, offset) in buffer.places {
                    if channel.values.isEmpty {
                        bytes.storeBytes(
                            of: scan.timeNanoseconds.littleEndian, toByteOffset: start + offset, as: Int64.self)
                    }
                    for (place, value) in channel.values.enumerated() {
                        let raw = scan.values[value]
                        if channel.values.count == 1 {
                            bytes.storeBytes(of: raw.littleEndian, toByteOffset: start + offset, as: Int32.self)
                        } else {
                            bytes.storeBytes(
                                of: Int16(clamping: raw).littleEndian, toByteOffset: start + offset + 2 * place,
                                as: Int16.self)
                        }
                    }
                }
                start += buffer.size
            }
        }
        return bytes
    }
}
