import Glibc
import LinuxSystem
import PlainText
import Synchronization

/// The places of a service, of which each connection has one, with a thread: bounded in all and for each client's address.
///
/// A connection whose request is not admitted yet gives its place to the next one, so a client that sends nothing, or has no token,
/// does not exclude others. Without such a one, the oldest that has been served for a while does, where clients connect again.
final class ConnectionPlaces: Sendable {
    /// Why a connection was closed.
    enum Closing: Hashable {
        case stalled(seconds: Int), silent(seconds: Int), noPlace, noThread, displaced
        /// A client that the service cannot understand.
        case notUnderstood
        /// The client stays, and has lost samples.
        case lost
        /// The client stays, and gets no answer: for the reason here.
        case failed(String)
        /// None was closed: the system gives no further one.
        case noConnection(reason: String)

        /// A message about closed connections, or lost samples, and the address of the last client; `nil` is that of the only one.
        func text(_ count: Int = 1, _ address: String?) -> String {
            let plural = count == 1 ? "" : "s"
            let closed = { (why: String) in
                address.map { "closed \(count) connection\(plural), the last one from \($0), \(why)" }
                    ?? "closed a connection \(why)"
            }
            return switch self {
            case .stalled(let seconds): closed("that had read nothing for \(seconds) s")
            case .silent(let seconds): closed("that had asked nothing for \(seconds) s")
            case .noPlace: closed("for which there is no place")
            case .noThread: closed("for which there is no thread: raise the limit of processes (ulimit -u, TasksMax)")
            case .displaced: closed("to give its place to a newer one")
            case .notUnderstood: closed("whose requests were not understood")
            case .failed(let reason): reason.printable + (address.map { ", for \($0)" } ?? "")
            case .noConnection(let reason): "no connection can be taken: \(reason)"
            case .lost: "\(count) sample\(plural) lost, not read in time" + (address.map { ", last by \($0)" } ?? "")
            }
        }
    }

    struct Connection {
        /// The number of the thread, which is that of its first connection.
        let thread: Int
        /// The number of the connection, which rises.
        let number: Int
        let socket: Descriptor
        let peer: NetworkAddress
        /// When its request was admitted, in nanoseconds.
        fileprivate var admitted: Int64?
    }

    private struct State {
        /// By thread.
        var connections: [Int: Connection] = [:]
        var last = 0
        var closings: [Closing: (count: Int, address: String?)] = [:]

        mutating func report(_ closing: Closing, _ address: NetworkAddress?, _ count: Int = 1) {
            // Reasons come from files and from the daemon: a few of them say enough until the next message.
            if case .failed = closing, closings.count >= 16, closings[closing] == nil { return }
            closings[closing] = ((closings[closing]?.count ?? 0) + count, address?.host)
        }
    }

    private static let most = 32
    private static let mostOfNetwork = 24

    /// The service, for messages.
    private let name: String
    /// How long a connection keeps its place after its request, in nanoseconds; `nil` is until its end.
    private let servedTime: Int64?
    private let state = Mutex(State())
    /// Wakes the thread that prints the messages.
    let waker: Waker

    init(of name: String, servedTime: Int64?) throws(SystemError) {
        (self.name, self.servedTime) = (name, servedTime)
        waker = try Waker()
    }

    /// Gives a place to a connection, which is returned if it needs a thread.
    ///
    /// Without a free one that is the place of the oldest connection that is not admitted, or else has been served for a while; its
    /// thread then serves both: the caller waits for none.
    func take(_ socket: Descriptor, _ peer: NetworkAddress) -> Connection? {
        let network = peer.network
        let served = servedTime.map { SystemClock.monotonic() - $0 } ?? .min
        return state.withLock { state in
            let counts = state.connections.values.reduce(into: [:]) { $0[$1.peer.network, default: 0] += 1 }
            let isCrowded = counts[network, default: 0] >= Self.mostOfNetwork
            let number = state.last + 1
            guard isCrowded || state.connections.count >= Self.most else {
                state.last = number
                let connection = Connection(thread: number, number: number, socket: socket, peer: peer)
                state.connections[number] = connection
                return connection
            }
            let open = state.connections.values.filter {
                ($0.admitted.map { $0 < served } ?? true) && (!isCrowded || $0.peer.network == network)
            }
            // Of the address that has the most places.
            let order = { (place: Connection) in
                (place.admitted == nil ? 1 : 0, counts[place.peer.network, default: 0], -place.number)
            }
            guard let oldest = open.max(by: { order($0) < order($1) }) else {
                state.report(.noPlace, peer)
                return nil
            }
            if oldest.admitted != nil { state.report(.displaced, oldest.peer) }
            // Ends its wait for input, or for room for the answer.
            _ = shutdown(oldest.socket.raw, Int32(SHUT_RDWR))
            state.last = number
            state.connections[oldest.thread] = Connection(
                thread: oldest.thread, number: number, socket: socket, peer: peer)
            return nil
        }
    }

    /// Keeps the place of a connection for its answer; `false` if it has been given to another one.
    func admit(_ connection: Connection) -> Bool {
        state.withLock { state in
            guard state.connections[connection.thread]?.number == connection.number else { return false }
            state.connections[connection.thread]?.admitted = SystemClock.monotonic()
            return true
        }
    }

    /// The connection that has got the place of another one, for the same thread; `nil` frees the place.
    func next(after connection: Connection) -> Connection? {
        state.withLock { state in
            if let next = state.connections[connection.thread], next.number != connection.number { return next }
            state.connections[connection.thread] = nil
            return nil
        }
    }

    func report(_ closing: Closing, _ address: NetworkAddress? = nil, count: Int = 1) {
        state.withLock { $0.report(closing, address, count) }
        waker.wake()
    }

    var hasMessages: Bool { state.withLock { !$0.closings.isEmpty } }

    /// Messages about the connections that were closed since the last call.
    func removeMessages() -> [String] {
        state.withLock { state in
            defer { state.closings = [:] }
            return state.closings.map { "binnacle: \(name): \($0.text($1.count, $1.address))" }
        }
    }
}
