import Foundation
import Synchronization
import TestSupport
import Testing

/// Subscribes to everything at a broker, and keeps what comes, in its order; it comes back when the broker does.
final class Subscriber: Sendable {
    struct Message: Sendable, Equatable {
        let topic: String
        let payload: String
        let isRetained: Bool
    }

    private struct State {
        var messages: [Message] = []
        var isSubscribed = false
        var isStopped = false
    }

    private let port: Int
    private let name: String
    private let isPersistent: Bool
    private let state = Mutex(State())
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Subscribes at a port that asks for neither encryption nor a user, and waits until the broker knows.
    ///
    /// When it is persistent, the broker keeps messages for it while one of them is not there.
    init(_ port: Int, name: String = "subscriber", isPersistent: Bool = false) throws {
        (self.port, self.name, self.isPersistent) = (port, name, isPersistent)
        Thread { [self] in
            while !isStopped {
                try? waitUntil("a broker, or the end") {
                    guard !isStopped, let wire = Wire.connected(to: port) else { return isStopped }
                    serve(wire)
                    return true
                }
            }
            hasEnded.signal()
        }.start()
        try waitUntil("the subscription") { state.withLock { $0.isSubscribed } }
    }

    /// Ends it; the test that made it has to call this.
    func stop() {
        state.withLock { $0.isStopped = true }
        hasEnded.wait()
    }

    var messages: [Message] { state.withLock { $0.messages } }

    /// The payloads of a topic.
    func payloads(of topic: String) -> [String] { messages.filter { $0.topic == topic }.map(\.payload) }

    /// Waits until enough has come.
    @discardableResult
    func wait(_ comment: String, until isEnough: ([Message]) -> Bool) throws -> [Message] {
        try waitUntil("\(comment); the last of \(messages.count): \(messages.suffix(5))") { isEnough(messages) }
        return messages
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func serve(_ wire: Wire) {
        // Version 4 is MQTT 3.1.1; without keepalive.
        let flags: UInt8 = isPersistent ? 0 : 2
        wire.send(PacketType.connect, Wire.text("MQTT") + [4, flags, 0, 0] + Wire.text(name))
        while !isStopped {
            guard wire.isReadable(milliseconds: 20) else { continue }
            guard let packet = wire.next() else { return }
            switch packet.type {
            case PacketType.connectAnswer:
                guard packet.body[1] == 0 else { return }
                wire.send(PacketType.subscribe, flags: 2, [0, 1] + Wire.text("#") + [1])
            case PacketType.subscribeAnswer: state.withLock { $0.isSubscribed = true }
            case PacketType.publish:
                let (topic, payload, number) = packet.publication
                let message = Message(topic: topic, payload: payload, isRetained: packet.flags & 1 == 1)
                state.withLock { $0.messages.append(message) }
                if !number.isEmpty { wire.send(PacketType.publishAnswer, number) }
            default: break
            }
        }
        wire.send(PacketType.disconnect, [])
    }
}
