import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import Testing

/// A client that can do what no client of ours does.
final class RawClient {
    let raw: Int32
    private var buffer: [UInt8] = []
    private var givenCount = 0
    /// What is an eternity even on a busy machine.
    private static let patience: Int32 = 60_000

    init(_ path: String) throws {
        raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let address = try #require(UnixAddress(path: path))
        let result = address.withPointer { connect(raw, $0, $1) }
        guard result == 0 else {
            let code = errno
            Glibc.close(raw)
            throw SystemError(code: code, call: "connect", path: path)
        }
    }

    deinit {
        Glibc.close(raw)
    }

    /// Sends a line.
    func send(line: String) {
        send(Array((line + "\n").utf8))
    }

    /// Sends bytes.
    ///
    /// - Returns: Whether all were taken.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(raw, $0.baseAddress.map { $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The next line; `nil` at the end.
    func line() -> String? {
        while true {
            if let end = lineEnd() {
                defer { givenCount = end + 1 }
                return String(decoding: buffer[givenCount..<end], as: UTF8.self)
            }
            buffer.removeFirst(givenCount)
            givenCount = 0
            var ready = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.patience) > 0 else {
                Issue.record("waited in vain for a line")
                return nil
            }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = recv(raw, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            buffer += bytes[..<count]
        }
    }

    /// Reads one byte of the next line.
    func readByte() {
        var byte: UInt8 = 0
        if recv(raw, &byte, 1, 0) == 1 { buffer.append(byte) }
    }

    /// Where the line ends that begins at what was not given yet.
    private func lineEnd() -> Int? {
        // A loop takes twenty times as long where nothing is optimised.
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, givenCount < bytes.count else { return nil }
            return memchr(base + givenCount, 10, bytes.count - givenCount).map {
                $0 - UnsafeMutableRawPointer(mutating: base)
            }
        }
    }

    /// The next message; fails the test at the end.
    func message() throws -> SocketMessage {
        try SocketMessage(parsing: try #require(line()))
    }

    /// The numbers of so many events, which come next.
    func sequences(_ count: Int) throws -> [UInt64] {
        try (0..<count).map { _ in
            let line = try #require(self.line())
            // Reading an event as a whole takes long where nothing is optimised.
            let number = line.utf8.dropFirst(7).prefix { (0x30...0x39).contains($0) }
            guard line.hasPrefix("{\"seq\":"), let sequence = UInt64(String(number) ?? "") else {
                Issue.record("no event: \(line)")
                return 0
            }
            return sequence
        }
    }

    /// Subscribes, and returns the answer.
    @discardableResult
    func subscribe(_ body: String = "") throws -> SocketMessage {
        send(line: "{\"subscribe\":{\(body)}}")
        return try message()
    }

    /// Whether nothing comes for a while.
    func isSilent(milliseconds: Int32 = 200) -> Bool {
        var ready = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return givenCount == buffer.count && poll(&ready, 1, milliseconds) == 0
    }
}
