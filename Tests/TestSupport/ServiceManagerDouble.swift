import Foundation
import Testing

/// Plays the service manager: a datagram socket that is told what a daemon does.
package final class ServiceManagerDouble {
    package let path = NSTemporaryDirectory() + "binnacle-notify-" + UUID().uuidString.prefix(8)
    private let descriptor: Int32

    package init() throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(descriptor >= 0 && bytes.count < 100)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The messages up to the first one that begins with a text.
    package func receive(until beginning: String) throws -> [String] {
        var messages: [String] = []
        try waitUntil("\(beginning); so far: \(messages)") {
            while let next = receive(forMilliseconds: 0, atMost: 1).first {
                messages.append(next)
                if next.hasPrefix(beginning) { return true }
            }
            return false
        }
        return messages
    }

    /// The messages that come within a time.
    package func receive(forMilliseconds time: Int32, atMost limit: Int = .max) -> [String] {
        var messages: [String] = []
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while messages.count < limit, poll(&ready, 1, time) > 0 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { messages.append(String(decoding: buffer[..<count], as: UTF8.self)) }
        }
        return messages
    }

    /// What ``fill()`` writes.
    package static let filler = "X_FILLER=1"

    /// Leaves no room for another message.
    ///
    /// - Returns: How many there was room for.
    package func fill() throws -> Int {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { Glibc.close(sender) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(sender, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
        var count = 0
        let bytes = Array(Self.filler.utf8)
        while send(sender, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 { count += 1 }
        return count
    }

    /// Forgets what has come.
    package func drain() {
        _ = receive(forMilliseconds: 0)
    }
}
