import Foundation
import Synchronization
import Testing

/// Listens where a broker should be, and behaves as a test wants it to.
final class FakeBroker: Sendable {
    /// What became of one connection.
    enum Next { case goOn, refuse, close, ignore }

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
    ///
    /// A PUBLISH is refused in MQTT 5 alone, because 3.1.1 cannot.
    func speak(_ wire: Wire, answer: (_ topic: String, _ payload: String) -> Next = { _, _ in .goOn }) {
        var isVersion5 = false
        while !isStopped {
            guard wire.isReadable(milliseconds: 20) else { continue }
            guard let packet = wire.next() else { return }
            switch packet.type {
            case PacketType.connect:
                isVersion5 = packet.body[6] == 5
                wire.send(PacketType.connectAnswer, [0, 0] + (isVersion5 ? [0] : []))
            case PacketType.publish:
                let (topic, payload, number) = packet.publication
                let next = answer(topic, payload)
                guard next != .close else { return }
                guard next != .ignore else { continue }
                wire.send(PacketType.publishAnswer, number + (isVersion5 && next == .refuse ? [0x87, 0] : []))
            case PacketType.subscribe:
                // The properties are between the number and the filter, and there are none.
                let properties: [UInt8] = isVersion5 ? [0] : []
                let next = answer(packet.text(at: 2 + properties.count).text, "")
                guard next != .close else { return }
                guard next != .ignore else { continue }
                let reason: UInt8 = next == .refuse ? 0x80 : 0
                wire.send(PacketType.subscribeAnswer, Array(packet.body.prefix(2)) + properties + [reason])
            case PacketType.ping: wire.send(PacketType.pingAnswer, [])
            case PacketType.disconnect: return
            default: break
            }
        }
    }
}
