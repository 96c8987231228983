import Foundation

/// One end of a connection on which MQTT 3.1.1 is spoken, packet by packet; written here so that nothing is tested against
/// itself.
final class Wire: Sendable {
    struct Packet {
        let type: UInt8
        let flags: UInt8
        let body: [UInt8]

        /// A text at a place in the body, with its length before it, and the place behind it.
        func text(at place: Int) -> (text: String, end: Int) {
            let length = Int(body[place]) << 8 | Int(body[place + 1])
            let end = place + 2 + length
            return (String(decoding: body[(place + 2)..<end], as: UTF8.self), end)
        }

        /// What a PUBLISH says.
        var publication: (topic: String, payload: String, number: [UInt8]) {
            let (topic, end) = text(at: 0)
            let hasNumber = flags & 0x06 != 0
            let number = hasNumber ? Array(body[end..<end + 2]) : []
            return (topic, String(decoding: body[(end + number.count)...], as: UTF8.self), number)
        }
    }

    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Connects to a port of this machine.
    static func connected(to port: Int) -> Wire? {
        let wire = Wire(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        return withAddress(port) { connect(wire.descriptor, $0, $1) } == 0 ? wire : nil
    }

    /// Whether something can be read before a time has passed.
    func isReadable(milliseconds: Int32) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, milliseconds) > 0
    }

    /// The next packet; `nil` at the end.
    func next() -> Packet? {
        guard let first = bytes(1)?[0] else { return nil }
        var length = 0
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = bytes(1)?[0] else { return nil }
            length |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { break }
        }
        guard let body = bytes(length) else { return nil }
        return Packet(type: first >> 4, flags: first & 0x0F, body: body)
    }

    /// Whether something can be sent without waiting.
    var isWritable: Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&ready, 1, 0) > 0
    }

    /// The bytes of a packet.
    static func packet(_ type: UInt8, flags: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
        precondition(body.count < 1 << 14)
        let length = body.count < 128 ? [UInt8(body.count)] : [UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7)]
        return [type << 4 | flags] + length + body
    }

    func send(_ type: UInt8, flags: UInt8 = 0, _ body: [UInt8]) {
        send(Self.packet(type, flags: flags, body))
    }

    func send(_ bytes: [UInt8]) {
        // The other end may be gone, which is no matter here.
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    static func text(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + text.utf8
    }

    private func bytes(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let result = bytes[done...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard result > 0 else { return nil }
            done += result
        }
        return bytes
    }
}

/// The numbers of the packets.
enum PacketType {
    static let connect: UInt8 = 1
    static let connectAnswer: UInt8 = 2
    static let publish: UInt8 = 3
    static let publishAnswer: UInt8 = 4
    static let subscribe: UInt8 = 8
    static let subscribeAnswer: UInt8 = 9
    static let unsubscribe: UInt8 = 10
    static let unsubscribeAnswer: UInt8 = 11
    static let ping: UInt8 = 12
    static let pingAnswer: UInt8 = 13
    static let disconnect: UInt8 = 14
}

/// Calls a function with the address of a port of this machine.
func withAddress<Result>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
