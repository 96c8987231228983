import Foundation
import Synchronization
import Testing

/// Listens where a broker should be, and behaves as a test wants it to.
final class FakeBroker: Sendable {
    /// What became of one connection.
    enum Next { case goOn, close }

    let port: Int
    private let socket: Int32
    private let counts = Mutex((connections: 0, isStopped: false))
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Listens; each connection is served, one after the other, with how many there were before.
    init(_ serve: @escaping @Sendable (_ wire: Wire, _ connection: Int, _ broker: FakeBroker) -> Void) throws {
        (socket, port) = try listener()
        Thread { [self] in
            while !isStopped {
                var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                guard poll(&ready, 1, 20) > 0 else { continue }
                let wire = Wire(accept(socket, nil, nil))
                let index = counts.withLock { counts in
                    counts.connections += 1
                    return counts.connections - 1
                }
                serve(wire, index, self)
            }
            close(socket)
            hasEnded.signal()
        }.start()
    }

    /// How many connections there were.
    var connectionCount: Int { counts.withLock { $0.connections } }
    var isStopped: Bool { counts.withLock { $0.isStopped } }

    /// Ends it; the test that made it has to call this.
    func stop() {
        counts.withLock { $0.isStopped = true }
        hasEnded.wait()
    }

    /// Speaks as a broker does, until the other end has gone; asks about each PUBLISH, and the filter of each SUBSCRIBE, before it
    /// is acknowledged.
    func speak(_ wire: Wire, answer: (_ topic: String, _ payload: String) -> Next = { _, _ in .goOn }) {
        while !isStopped {
            guard wire.isReadable(milliseconds: 20) else { continue }
            guard let packet = wire.next() else { return }
            switch packet.type {
            case PacketType.connect: wire.send(PacketType.connectAnswer, [0, 0])
            case PacketType.publish:
                let (topic, payload, number) = packet.publication
                guard answer(topic, payload) == .goOn else { return }
                wire.send(PacketType.publishAnswer, number)
            case PacketType.subscribe:
                guard answer(packet.text(at: 2).text, "") == .goOn else { return }
                wire.send(PacketType.subscribeAnswer, Array(packet.body.prefix(2)) + [0])
            case PacketType.ping: wire.send(PacketType.pingAnswer, [])
            case PacketType.disconnect: return
            default: break
            }
        }
    }
}
