import Foundation

/// The kernel's end of `/dev/uhid` or `/dev/uinput`: a socket that keeps each write apart, as those files do.
package final class KernelDouble {
    /// What a device says, taken apart by the offsets of `linux/uhid.h`, without that header.
    package enum Event: Equatable {
        case create(name: String, descriptor: [UInt8])
        case destroy
        case input([UInt8])
        case getAnswer(identifier: UInt32, error: UInt16, [UInt8])
        case setAnswer(identifier: UInt32, error: UInt16)
        case other([UInt8])
        /// The device has closed its file.
        case closed
    }

    package static let feature: UInt8 = 0
    package static let output: UInt8 = 1
    package static let input: UInt8 = 2

    /// How often the file was opened.
    package private(set) var openings = 0
    private var end: Int32 = -1

    package init() {}

    deinit { close(end) }

    /// The device's end of a new connection, not blocking; it is the caller's.
    package func open() -> Int32 {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
        close(end)
        end = ends[0]
        openings += 1
        return ends[1]
    }

    // MARK: - What the device says

    /// The bytes of the next write; `nil` when there is none, empty when the file is closed.
    package func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(end, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    package func next() -> Event? { read().map(Self.event) }

    /// Everything that has been said.
    package func all() -> [Event] {
        var events: [Event] = []
        while let event = next() {
            events.append(event)
            if event == .closed { break }
        }
        return events
    }

    package static func event(_ bytes: [UInt8]) -> Event {
        guard bytes.count >= 4 else { return bytes.isEmpty ? .closed : .other(bytes) }
        switch (number(bytes, 0, 4), bytes.count) {
        case (1, 4): return .destroy
        case (11, 280...) where bytes.count == 280 + number(bytes, 260, 2):
            let name = String(decoding: bytes[4..<132].prefix { $0 != 0 }, as: UTF8.self)
            return .create(name: name, descriptor: Array(bytes[280...]))
        case (12, 6...) where bytes.count == 6 + number(bytes, 4, 2): return .input(Array(bytes[6...]))
        case (10, 12...) where bytes.count == 12 + number(bytes, 10, 2):
            return .getAnswer(
                identifier: UInt32(number(bytes, 4, 4)), error: UInt16(number(bytes, 8, 2)), Array(bytes[12...]))
        case (14, 10):
            return .setAnswer(identifier: UInt32(number(bytes, 4, 4)), error: UInt16(number(bytes, 8, 2)))
        default: return .other(bytes)
        }
    }

    /// A number with the lowest byte first.
    package static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<(offset + size)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: - What the kernel says

    /// Says something in the length that the kernel always writes.
    package func say(_ bytes: [UInt8]) {
        let whole = bytes + [UInt8](repeating: 0, count: 4380 - bytes.count)
        _ = send(end, whole, whole.count, 0)
    }

    /// Asks for a report.
    package static func get(_ identifier: UInt32, report: UInt8, kind: UInt8 = feature) -> [UInt8] {
        word(9) + word(identifier) + [report, kind]
    }

    /// Gives a report, whose number is its first byte.
    package static func set(_ identifier: UInt32, _ bytes: [UInt8], kind: UInt8 = feature) -> [UInt8] {
        word(13) + word(identifier) + [bytes[0], kind, UInt8(bytes.count), 0] + bytes
    }

    /// A feature report that switches a sensor on or off.
    package static func features(report: UInt8, on: Bool, interval: UInt32 = 10, sensitivity: UInt32 = 0) -> [UInt8] {
        [report, on ? 2 : 1, on ? 2 : 6] + word(interval) + word(sensitivity)
    }

    package static func word(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
