import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// Listens for the clients of a service, each of which is served by a thread, until a signal ends it.
struct ConnectionListener {
    let place: (host: String, port: Int)
    let places: ConnectionPlaces
    let console: Console

    /// The time between two messages about closed connections.
    static let messageInterval: Int64 = 60_000_000_000

    /// The parts of ADDRESS:PORT; `nil` where it is none.
    static func place(_ text: String) -> (host: String, port: Int)? {
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

    /// The place that `--listen` names, or the loopback address with a usual port.
    static func place(_ arguments: Arguments, port: Int) throws(StationError) -> (host: String, port: Int) {
        let text = arguments.value(.listen) ?? "127.0.0.1:\(port)"
        guard let place = place(text) else {
            throw .usage("--listen \(text.printable): has to be ADDRESS:PORT, as in 127.0.0.1:\(port) or [::1]:\(port)")
        }
        return place
    }

    /// Whether other machines cannot reach an address.
    static func isLoopback(_ host: String) -> Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    /// Serves connections; `greeting` makes the first message of the port that was chosen.
    func run(
        greeting: (Int) -> String, serve: @escaping @Sendable (ConnectionPlaces.Connection, ConnectionPlaces) -> Void
    ) throws(SystemError) -> ExitStatus {
        let waker = places.waker
        let (errors, signals) = (console.errors, console.signals)
        signals.listen(waking: waker.descriptor)
        let found = try? NetworkAddress.resolve(host: place.host, port: place.port, type: SOCK_STREAM, isOwn: true)
        guard let address = found?.first else {
            throw SystemError(code: EADDRNOTAVAIL, call: "getaddrinfo", path: place.host)
        }
        // Limits the kernel's buffer for output, which is memory as well.
        // A queue that is full would let a flood keep others waiting for a second.
        let socket = try address.listen(sendBuffer: 65_536, backlog: 1024, path: "\(place.host):\(place.port)")
        errors.write("binnacle: " + greeting(try NetworkAddress(of: socket.raw).port))
        errors.flush()
        let epoll = try Epoll(waker: waker)
        let acceptor = try StreamAcceptor(socket, epoll)
        func report() {
            for message in places.removeMessages() { errors.write(message) }
            errors.flush()
        }
        var messageTime: Int64 = 0
        var failure: SystemError?
        while !signals.interruption.isRequested {
            let times = [acceptor.resumeTime, places.hasMessages ? messageTime : nil].compactMap { $0 }
            epoll.wait(until: times.min()) { _, _ in
                let error = accept(acceptor, serve)
                // A failure that lasts is reported once, and that of a thread with its client.
                if let error, error != failure, error.call != "pthread_create" {
                    places.report(.noConnection(reason: error.reason))
                }
                failure = error
            }
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
    ///
    /// - Returns: Why accepting is paused; `nil` while it is not.
    private func accept(
        _ acceptor: StreamAcceptor,
        _ serve: @escaping @Sendable (ConnectionPlaces.Connection, ConnectionPlaces) -> Void
    ) -> SystemError? {
        acceptor.accept { (socket: Descriptor) throws(SystemError) in
            let peer = try NetworkAddress(of: socket.raw, isPeer: true)
            guard let first = places.take(socket, peer) else { return }
            let places = places
            do throws(SystemError) {
                try WorkerThread.start {
                    var next: ConnectionPlaces.Connection? = first
                    while let place = next {
                        serve(place, places)
                        _ = shutdown(place.socket.raw, Int32(SHUT_RDWR))
                        next = places.next(after: place)
                    }
                }
            } catch {
                _ = places.next(after: first)
                places.report(.noThread, peer)
                // Accepting pauses while there are too many threads.
                throw error
            }
        }
    }
}
