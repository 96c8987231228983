import Binnacle
import EventSocket
import LinuxSystem
import Station
import TestSupport
import Testing

/// Events while a reload opens another socket.
@Suite(.timeLimit(.minutes(5))) struct SocketRelayTests {
    private func event(_ sequence: UInt64, _ kind: EventKind = .shock) -> PublishedEvent {
        var event = Event(kind: kind, detector: "d", sensor: "lid", timeNanoseconds: Int64(sequence) * 1000)
        event.sequence = sequence
        return PublishedEvent(event)
    }

    private func server(
        _ path: String, behind sequence: UInt64, ringCapacity: Int = 1024, replacing old: SocketServer? = nil
    ) throws -> SocketServer {
        var settings = SocketSettings(path: path)
        settings.reservedPlaces = 0
        return try SocketServer(
            settings, startingBehind: sequence, ringCapacity: ringCapacity, replacing: old)
    }

    private func end(_ server: SocketServer) {
        server.finish(within: .zero)
        #expect(server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
    }

    /// A client that comes back between the opening of the new socket and the message that announces it.
    @Test func aClientThatReconnectsDuringTheOpeningMissesNothing() async throws {
        let folder = try TemporaryFolder()
        let relay = SocketRelay()
        let old = try server(folder.path + "/s", behind: 0)
        relay.exchange(for: old)
        relay.publish([event(1), event(2)])
        let number = relay.keep()
        #expect(number == 2)
        relay.publish([event(3)])
        let new = try server(folder.path + "/s", behind: number, replacing: old)
        // It connects to the new one, at the same path, and knows the first three.
        var iterator = EventSubscription(path: folder.path + "/s", after: 2).makeAsyncIterator()
        let first = Task {
            var numbers: [UInt64] = []
            while numbers.count < 4, let message = try await iterator.next() {
                guard case .event(let event) = message else { continue }
                numbers.append(event.sequence)
            }
            return numbers
        }
        try await waitUntil("a subscriber") { !new.statistics.subscribers.isEmpty }
        relay.publish([event(4), event(4, .motionMoving)])
        relay.exchange(for: new)
        relay.publish([event(5), event(6)])
        #expect(try await first.value == [3, 4, 5, 6])
        #expect(relay.server === new)
        end(old)
        end(new)
    }

    @Test func whatFindsNoRoomMeanwhileIsTold() async throws {
        let folder = try TemporaryFolder()
        let relay = SocketRelay()
        relay.publish([event(1)])
        let number = relay.keep()
        let new = try server(folder.path + "/s", behind: number)
        var iterator = EventSubscription(path: folder.path + "/s", after: 1).makeAsyncIterator()
        let first = Task { try await iterator.next() }
        try await waitUntil("a subscriber") { !new.statistics.subscribers.isEmpty }
        for sequence in 2...20_000 as ClosedRange<UInt64> { relay.publish([event(sequence)]) }
        relay.exchange(for: new)
        guard case .missed(let missed)? = try await first.value else {
            Issue.record("nothing is told of the dropped events")
            return end(new)
        }
        #expect(missed.first == 2)
        end(new)
    }

    @Test func aStoreThatIsOpenedMeanwhileRaisesTheNumber() throws {
        let folder = try TemporaryFolder()
        let relay = SocketRelay()
        let number = relay.keep()
        let new = try server(folder.path + "/s", behind: number)
        relay.continue(behind: 100)
        relay.exchange(for: new)
        #expect(relay.keep() == 100)
        relay.discard()
        #expect(relay.isUsed)
        end(new)
    }
}
