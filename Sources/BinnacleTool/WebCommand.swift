import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station
import Synchronization

/// `binnacle web`: serves a page with live readings, stored events and the state of the daemon.
struct WebCommand {
    private let service: WebService
    private let isOneRequest: Bool
    private let listener: (host: String, port: Int)

    /// Maximum number of simultaneous connections, each of which has a thread.
    private static let mostConnections = 32
    private static let standardPort = 9478

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("web")
        isOneRequest = arguments.has(.http)
        let text = arguments.value(.listen) ?? "127.0.0.1:\(Self.standardPort)"
        guard let place = Self.place(text) else {
            throw StationError(
                .usage, "--listen \(text.printable): has to be ADDRESS:PORT, as in 127.0.0.1:9478 or [::1]:9478")
        }
        listener = place
        if isOneRequest, arguments.has(.listen) {
            throw StationError(.usage, "--http answers one request on standard input: it does not go with --listen")
        }
        let token = try arguments.value(.tokenFile).map(Self.token)
        if !isOneRequest, token == nil, !["127.0.0.1", "::1", "localhost"].contains(place.host) {
            throw StationError(
                .usage,
                "--listen \(text.printable): others may ask there: --token-file FILE names what they have to know")
        }
        service = WebService(socketPath: arguments.socketPath, token: token)
    }

    private static func place(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return host.isEmpty ? nil : (String(host), port)
    }

    /// The first line of a file, which has to be too long to guess.
    private static func token(_ path: String) throws(StationError) -> String {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.bytes(path, limit: 4096, kind: .any)
        } catch {
            throw StationError(.noInput, "--token-file \(path.printable): cannot be read: \(error)")
        }
        let line = String(
            decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        guard line.utf8.count >= 16, line.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw StationError(
                .data,
                "--token-file \(path.printable): has to begin with a line of at least 16 letters and digits, as "
                    + "'openssl rand -hex 16' makes them")
        }
        return line
    }

    func run(_ errors: LineWriter, _ signals: SignalListener) throws(StationError) -> ExitStatus {
        guard !isOneRequest else {
            service.serve(
                HTTPConnection(input: STDIN_FILENO, output: STDOUT_FILENO), isLocal: Self.isLocal(STDIN_FILENO))
            return .ok
        }
        do throws(SystemError) {
            return try listen(errors, signals)
        } catch {
            throw StationError(error)
        }
    }

    /// Whether a connection came to a loopback address, or not by the network at all.
    private static func isLocal(_ socket: Int32) -> Bool {
        do throws(SystemError) {
            let address = try NetworkAddress(of: socket)
            return address.family == AF_UNIX || address.isLoopback
        } catch {
            return error.code == ENOTSOCK
        }
    }

    /// The number of open connections.
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private func listen(_ errors: LineWriter, _ signals: SignalListener) throws(SystemError) -> ExitStatus {
        let waker = try Waker()
        signals.listen(waking: waker.descriptor)
        let found = try? NetworkAddress.resolve(
            host: listener.host, port: listener.port, type: SOCK_STREAM, isOwn: true)
        guard let address = found?.first else {
            throw SystemError(code: EADDRNOTAVAIL, call: "getaddrinfo", path: listener.host)
        }
        // Limits the kernel's buffer for output, which is memory as well.
        let socket = try address.listen(
            sendBuffer: 65_536, backlog: 64, path: "\(listener.host):\(listener.port)")
        let port = try NetworkAddress(of: socket.raw).port
        let host = listener.host.contains(":") ? "[\(listener.host)]" : listener.host
        errors.write("binnacle: the page is at http://\(host):\(port)/" + (service.token == nil ? "" : "?token=..."))
        errors.flush()
        let count = Count()
        let epoll = try Epoll(waker: waker)
        let acceptor = try StreamAcceptor(socket, epoll)
        while !signals.interruption.isRequested {
            epoll.wait(until: acceptor.resumeTime) { _, _ in accept(acceptor, count) }
            acceptor.resume(at: SystemClock.monotonic())
        }
        return signals.interruption.exitStatus
    }

    /// Serves waiting connections, each on a thread; closes those beyond the limit at once.
    private func accept(_ acceptor: StreamAcceptor, _ count: Count) {
        _ = acceptor.accept { (connection: Descriptor) throws(SystemError) in
            guard count.value.load(ordering: .relaxed) < Self.mostConnections else { return }
            let service = service
            count.value.add(1, ordering: .relaxed)
            let isStarted: Void? = try? WorkerThread.start {
                service.serve(
                    HTTPConnection(input: connection.raw, output: connection.raw), isLocal: Self.isLocal(connection.raw)
                )
                _ = shutdown(connection.raw, Int32(SHUT_RDWR))
                count.value.subtract(1, ordering: .relaxed)
            }
            if isStarted == nil { count.value.subtract(1, ordering: .relaxed) }
        }
    }
}
