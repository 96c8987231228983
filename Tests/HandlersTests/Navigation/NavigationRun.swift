import Binnacle
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// A handler that sends sentences, with what it reports; ended with this object.
final class NavigationRun: HandlerRun {
    let reports = Reports()
    let handler: ThreadedHandler
    private let state: NavigationState
    /// How it is doing.
    var statistics: NavigationStatistics { state.statistics }

    /// Starts a handler with short times.
    init(
        _ transport: NavigationSettings.Transport, host: String = "127.0.0.1", port: Int,
        accuracyLimitDegrees: Double = 180,
        change: (inout NMEASettings, inout NavigationTimes) -> Void = { _, _ in }
    ) throws {
        var settings = NMEASettings(NavigationSettings(transport, host: host, port: port))
        settings.sending.interval = .milliseconds(20)
        var times = NavigationTimes()
        times.pauses.first = 20_000_000
        times.pauses.longest = 100_000_000
        times.lasting = 100_000_000
        times.grace = 0
        change(&settings, &times)
        state = NavigationState(accuracyLimitDegrees: accuracyLimitDegrees)
        handler = try ThreadedHandler(
            name: "plotter", NavigationSender.plan(settings.sending, as: settings, times: times, state: state),
            report: reports.add)
    }

    deinit {
        end()
    }

    /// Ends it and waits for that.
    ///
    /// - Returns: Whether it has ended.
    @discardableResult
    func end() -> Bool {
        handler.end(within: .zero)
        _ = handler.waitForEnd(until: SystemClock.monotonic() + 120_000_000_000)
        return handler.hasEnded
    }

    func turn(to degrees: Double, _ figures: [Figure] = []) {
        handler.handle(event(kind: .heading, [Figure(.heading, .number(degrees, decimals: 1))] + figures))
    }

    /// Waits until it listens.
    ///
    /// - Returns: The port.
    func waitForPort() throws -> Int {
        try waitUntil("a port; told: \(reasons)") { statistics.port != nil }
        return statistics.port ?? 0
    }
}

/// A socket that takes datagrams.
final class DatagramReceiver {
    let port: Int
    private let socket: Descriptor

    init(host: String = "127.0.0.1") throws {
        guard let address = try NetworkAddress.resolve(host: host, port: 0, type: SOCK_DGRAM, isOwn: true).first else {
            throw CancellationError()
        }
        let made = try address.makeSocket(SOCK_DGRAM)
        try systemCall("bind") { address.withPointer { bind(made.raw, $0, $1) } }
        socket = made
        port = try NetworkAddress(of: made.raw).port
    }

    var raw: Int32 { socket.raw }

    /// The datagrams that have come, each as a text.
    func takeAll() -> [String] {
        var texts: [String] = []
        var bytes = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(socket.raw, &bytes, bytes.count, 0)
            guard count >= 0 else { return texts }
            texts.append(String(decoding: bytes[..<count], as: UTF8.self))
        }
    }

    /// The port from which the next datagram has come; `nil` when there is none.
    func takeSource() -> Int? {
        var (bytes, source) = ([UInt8](repeating: 0, count: 2048), sockaddr_in())
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &source) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(socket.raw, &bytes, bytes.count, 0, $0, &length)
            }
        }
        return count < 0 ? nil : Int(in_port_t(bigEndian: source.sin_port))
    }

    /// Waits for a datagram, and discards those before it.
    func wait(for text: String) throws {
        var seen: [String] = []
        try waitUntil("'\(text)'; so far \(seen.suffix(5))") {
            seen += takeAll()
            return seen.contains(text)
        }
    }
}

/// A plotter that is connected, or tries to be.
final class Plotter {
    private let wire: Wire
    private var text = ""

    /// - Parameters:
    ///   - port: Where the handler listens.
    ///   - receiveBuffer: What the kernel keeps for it, in bytes; `nil` is the usual.
    ///   - source: The last number of its own address, 127.0.0.x.
    init?(_ port: Int, receiveBuffer: Int32? = nil, source: UInt32 = 1) {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        wire = Wire(socket)
        if var receiveBuffer {
            // It counts from the connection on, so it is set before.
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = (0x7F00_0000 | source).bigEndian
        let bound = withUnsafeBytes(of: &own) {
            bind(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard bound == 0, withAddress(port, { connect(socket, $0, $1) }) == 0 else { return nil }
    }

    func say(_ text: String) {
        wire.send(Array(text.utf8))
    }

    /// Shuts down its sending side.
    func endSaying() {
        shutdown(wire.descriptor, Int32(SHUT_WR))
    }

    /// Whether the other end has closed the connection, when what came before that is read away.
    func isClosed() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(wire.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count < 0 { return errno != EAGAIN }
            if count == 0 { return true }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    /// The lines that have come, each with its end.
    var lines: [String] {
        _ = isClosed()
        return text.split(separator: "\r\n", omittingEmptySubsequences: false).dropLast().map { $0 + "\r\n" }
    }

    func wait(for line: String) throws {
        try waitUntil("'\(line)'; so far \(lines.suffix(5))") { lines.contains(line) }
    }
}
