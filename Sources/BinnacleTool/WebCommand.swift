import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// `binnacle web`: serves a page with live readings, stored events and the state of the daemon.
struct WebCommand {
    private let service: WebService
    private let isOneRequest: Bool
    private let listener: (host: String, port: Int)

    /// The time between two messages about closed connections.
    private static let messageInterval: Int64 = 60_000_000_000
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
        let access = try HTTPAccess(arguments, isOpen: false)
        if !isOneRequest, access.token == nil, !["127.0.0.1", "::1", "localhost"].contains(place.host) {
            throw StationError(
                .usage,
                "--listen \(text.printable): others may ask there: --token-file FILE names what they have to know")
        }
        service = WebService(socketPath: arguments.socketPath, access: access)
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

    func run(_ errors: LineWriter, _ signals: SignalListener) throws(StationError) -> ExitStatus {
        guard !isOneRequest else {
            let connection = HTTPConnection(input: STDIN_FILENO, output: STDOUT_FILENO)
            service.serve(connection)
            if connection.hasStalled {
                errors.write("binnacle: web: closed a connection \(HTTPPlaces.Closing.stalled.rawValue)")
            }
            return .ok
        }
        do throws(SystemError) {
            return try listen(errors, signals)
        } catch {
            throw StationError(error)
        }
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
        // A queue that is full would let a flood keep others waiting for a second.
        let socket = try address.listen(
            sendBuffer: 65_536, backlog: 1024, path: "\(listener.host):\(listener.port)")
        let port = try NetworkAddress(of: socket.raw).port
        let host = listener.host.contains(":") ? "[\(listener.host)]" : listener.host
        errors.write(
            "binnacle: the page is at http://\(host):\(port)/" + (service.access.token == nil ? "" : "?token=..."))
        errors.flush()
        let places = HTTPPlaces()
        let epoll = try Epoll(waker: waker)
        let acceptor = try StreamAcceptor(socket, epoll)
        func report() {
            for message in places.removeMessages() { errors.write(message) }
            errors.flush()
        }
        var messageTime: Int64 = 0
        while !signals.interruption.isRequested {
            let times = [acceptor.resumeTime, places.hasMessages ? messageTime : nil].compactMap { $0 }
            epoll.wait(until: times.min()) { _, _ in accept(acceptor, places, waker) }
            let now = SystemClock.monotonic()
            acceptor.resume(at: now)
            // A flood is reported, but does not fill the log.
            guard now >= messageTime, places.hasMessages else { continue }
            messageTime = now + Self.messageInterval
            report()
        }
        report()
        return signals.interruption.exitStatus
    }

    /// Serves waiting connections, each on a thread; closes those for which there is no place.
    private func accept(_ acceptor: StreamAcceptor, _ places: HTTPPlaces, _ waker: Waker) {
        _ = acceptor.accept { (socket: Descriptor) throws(SystemError) in
            let peer = try NetworkAddress(of: socket.raw, isPeer: true)
            guard let first = places.take(socket, peer) else { return }
            let service = service
            do throws(SystemError) {
                try WorkerThread.start {
                    var next: HTTPPlaces.Connection? = first
                    while let place = next {
                        let connection = HTTPConnection(input: place.socket.raw, output: place.socket.raw)
                        service.serve(connection) { places.admit(place) }
                        _ = shutdown(place.socket.raw, Int32(SHUT_RDWR))
                        if connection.hasStalled {
                            places.report(.stalled, place.peer)
                            waker.wake()
                        }
                        next = places.next(after: place)
                    }
                }
            } catch {
                _ = places.next(after: first)
                // Accepting pauses while there are too many threads.
                throw error
            }
        }
    }
}
