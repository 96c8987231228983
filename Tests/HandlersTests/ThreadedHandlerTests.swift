import Binnacle
import Dispatch
import Handlers
import LinuxSystem
import Synchronization
import Testing

/// A queue in front of a handler: what it has no room for, and what is left at the end, is counted.
@Suite struct ThreadedHandlerTests {
    /// A handler that waits for a signal with each event.
    private static func stuck(
        _ reports: Reports, begun: DispatchSemaphore, released: DispatchSemaphore
    ) throws -> ThreadedHandler {
        var plan = HandlerPlan.batches { _ in
            let handler = ClosureHandler { _ in
                begun.signal()
                released.wait()
            }
            return (handler, {}, { $0.wait(timeoutMilliseconds: $1) })
        }
        plan.capacity = 4
        return try ThreadedHandler(name: "stuck", plan, report: reports.add)
    }

    private static let event = Event(kind: .shake, timeNanoseconds: 1)

    @Test func whatIsLeftAtTheEndIsCountedInFull() throws {
        let (reports, begun, released) = (Reports(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let handler = try Self.stuck(reports, begun: begun, released: released)
        handler.handle(Self.event)
        begun.wait()
        // Four have room; the first of the others is reported without delay.
        for _ in 0..<10 { handler.handle(Self.event) }
        #expect(handler.droppedCount == 6)
        #expect(reports.droppedCount == 1)
        handler.end(within: .zero)
        // One that was begun, four that wait, five that were dropped and not reported yet.
        #expect(handler.waitForEnd(until: SystemClock.monotonic()) == 10)
        for _ in 0..<10 { released.signal() }
    }

    @Test func theRestIsToldWhenThereIsRoomAgainWithoutAnotherEvent() throws {
        let (reports, begun, released) = (Reports(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let handler = try Self.stuck(reports, begun: begun, released: released)
        handler.handle(Self.event)
        begun.wait()
        for _ in 0..<10 { handler.handle(Self.event) }
        for _ in 0..<10 { released.signal() }
        try reports.wait("the rest") { _ in reports.droppedCount == 6 }
        #expect(reports.of(.eventsDropped).last?.text(.reason) == "more than 4 events wait for it")
        handler.end(within: .zero)
        #expect(handler.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000) == 0)
    }

    /// An event that is being handled goes on; what waits is left out, and a store may delete it.
    @Test func aDisarmedHandlerGetsNothingThatWaited() throws {
        let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let handled = Mutex<[EventKind]>([])
        let acknowledged = Mutex<[Int64]>([])
        var plan = HandlerPlan { port in
            while port.stop == nil || !port.isEmpty {
                for item in port.removeFirst(atMost: 1) {
                    begun.signal()
                    released.wait()
                    handled.withLock { $0.append(item.event.kind) }
                    port.finish(item)
                }
                if port.isEmpty, port.stop == nil { port.courier.wait() }
            }
        }
        plan.deliveryLimit = 8
        let handler = try ThreadedHandler(
            name: "siren", plan, report: { _ in },
            acknowledge: { ticket in acknowledged.withLock { $0.append(ticket) } })
        let disarmed = Event(kind: .handlerDisarmed, timeNanoseconds: 1)
        handler.deliver((1...4).map { Delivery(event: Self.event, ticket: $0) })
        begun.wait()
        handler.isArmed = false
        #expect(acknowledged.withLock { $0 } == [2, 3, 4] && handler.leftOutCount == 3)
        handler.deliver([Delivery(event: Self.event, ticket: 5), Delivery(event: disarmed, ticket: 6)])
        #expect(acknowledged.withLock { $0 } == [2, 3, 4, 5] && handler.leftOutCount == 4)
        for _ in 0..<3 { released.signal() }
        begun.wait()
        handler.isArmed = true
        handler.deliver([Delivery(event: Self.event, ticket: 7)])
        begun.wait()
        handler.end(within: .seconds(60))
        #expect(handler.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000) == 0)
        #expect(handled.withLock { $0 } == [.shake, .handlerDisarmed, .shake])
        #expect(acknowledged.withLock { $0 } == [2, 3, 4, 5, 1, 6, 7])
    }

    /// What a store had for it when it was disarmed does not come later, nor to the successor of a reload.
    @Test func whatAStoreHadWhenItWasDisarmedIsLeftOut() throws {
        let handled = MQTTRun.Tickets()
        let handlers = try (0..<2).map { _ -> ThreadedHandler in
            var plan = HandlerPlan.batches { _ in
                let handler = ClosureHandler { handled.add(Int64($0.sequence)) }
                return (handler, {}, { $0.wait(timeoutMilliseconds: $1) })
            }
            plan.deliveryLimit = 8
            return try ThreadedHandler(name: "siren", plan, report: { _ in })
        }
        handlers[0].leaveOut(through: 5)
        handlers[0].isArmed = false
        handlers[0].isArmed = true
        handlers[1].inherit(from: handlers[0])
        for handler in handlers {
            handler.deliver(
                ([5, 6] as [UInt64]).map { number in
                    Delivery(event: Event(kind: .shake, sequence: number, timeNanoseconds: 1), ticket: Int64(number))
                })
            #expect(handler.leftOutCount == 1)
            handler.end(within: .seconds(60))
            #expect(handler.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000) == 0)
        }
        #expect(handled.all == [6, 6])
    }
}
