import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// Handlers get what is theirs: at least once, in order, and no more at a time than they can hold.
@Suite struct DeliveryTests {
    @Test func ticketsRiseAndEventsAreInOrder() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.attach(acknowledges: true)
        run.attach("broker", acknowledges: true)
        for number in UInt64(1)...3000 {
            run.submit(number...number)
            if number % 3 == 0 { run.submit(number...number, for: "broker") }
        }
        try run.settle()
        #expect(run.delivered().numbers == Array(1...3000))
        #expect(run.delivered("broker").numbers == (1...1000).map { $0 * 3 })
        let tickets = run.delivered().map(\.ticket)
        #expect(zip(tickets, tickets.dropFirst()).allSatisfy { $0 < $1 })
        try run.wait("the acknowledgements") {
            run.store.statistics.handlers.allSatisfy { $0.unacknowledgedCount == 0 }
        }
        run.end()
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(next.delivered().isEmpty, "what was acknowledged does not come again")
    }

    @Test func acknowledgementsMayComeInAnyOrder() throws {
        let folder = try StoreFolder()
        var generator = SeededGenerator(seed: 7)
        let first = try StoreRun(folder.file)
        first.attach()
        first.submit(1...200)
        try first.settle()
        let shuffled = first.delivered().shuffled(using: &generator)
        for delivery in shuffled.prefix(150) { first.store.acknowledge("alarm", delivery.ticket) }
        // No handler has these.
        for ticket in [Int64.min, -1, 0, 1_000_000, .max] { first.store.acknowledge("alarm", ticket) }
        first.store.acknowledge("no handler", 1)
        try first.settle()
        let left = Set(shuffled.dropFirst(150).map(\.event.sequence))
        let oldest = try #require(shuffled.dropFirst(150).map(\.ticket).min())
        #expect(first.store.statistics.handlers.first?.position == oldest - 1)
        first.end()
        let second = try StoreRun(folder.file)
        second.attach()
        try second.settle()
        #expect(second.delivered().numbers == left.sorted(), "and nothing else comes again")
    }

    @Test func aHandlerLearnsWhatItAcknowledgedLast() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.attach()
        first.submit(1...9)
        try first.settle()
        #expect(first.delivered().allSatisfy { $0.previous == nil }, "nothing was acknowledged yet")
        for delivery in first.delivered().prefix(5) { first.store.acknowledge("alarm", delivery.ticket) }
        try first.wait("the acknowledgements") {
            first.store.statistics.handlers.first?.unacknowledgedCount == 4
        }
        // The next handler of the same run learns it, too, once.
        first.store.detach("alarm")
        first.attach()
        try first.settle()
        let again = first.delivered().dropFirst(9)
        #expect(again.map(\.event.sequence) == [6, 7, 8, 9])
        #expect(again.map { $0.previous?.sequence } == [5, nil, nil, nil])
        first.end()
        let second = try StoreRun(folder.file)
        second.attach()
        try second.settle()
        second.submit(10...10)
        try second.settle()
        #expect(second.delivered().numbers == [6, 7, 8, 9, 10])
        #expect(second.delivered().map { $0.previous?.sequence } == [5, nil, nil, nil, nil])
        // Another handler has acknowledged nothing.
        second.attach("broker")
        second.submit(11...11, for: "broker")
        try second.settle()
        #expect(second.delivered("broker").map { $0.previous?.sequence } == [nil])
    }

    @Test func noMoreThanTheLimitIsHandedOver() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.attach(limit: 16)
        let count = TestForm.count(5000, long: 20_000)
        run.submit(1...UInt64(count))
        try run.settle()
        #expect(run.delivered().numbers == Array(1...16))
        let handler = try #require(run.store.statistics.handlers.first)
        #expect(handler.waitingCount == count - 16 && handler.unacknowledgedCount == 16 && handler.isAttached)
        var done = 0
        while done < count {
            let delivered = run.delivered()
            #expect(delivered.count - done <= 16)
            for delivery in delivered.dropFirst(done) { run.store.acknowledge("alarm", delivery.ticket) }
            #expect(delivered.count > done, "it stands still")
            guard delivered.count > done else { break }
            done = delivered.count
            try run.settle()
        }
        #expect(run.delivered().numbers == Array(1...UInt64(count)))
        try run.settle()
        #expect(run.store.statistics.handlers.first?.waitingCount == 0)
    }

    @Test func theNextHandlerOfANameBeginsWithWhatIsNotAcknowledged() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.submit(1...10)
        run.attach(limit: 4)
        try run.settle()
        #expect(run.delivered().numbers == [1, 2, 3, 4])
        run.store.acknowledge("alarm", run.delivered()[1].ticket)
        try run.settle()
        #expect(run.delivered().numbers == [1, 2, 3, 4, 5])
        run.store.detach("alarm")
        run.submit(11...12)
        try run.settle()
        #expect(run.delivered().count == 5, "after the detaching nothing is handed over")
        run.note { $0.delivered = [:] }
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        // One that is attached again without having been detached is another handler.
        run.note { $0.delivered = [:] }
        run.attach()
        try run.settle()
        #expect(run.delivered().count == 11)
    }

    /// A handler that is exchanged finishes what it has begun.
    @Test func whatAHandlerFinishesAfterItWentIsNotDoneAgain() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.submit(1...10)
        run.attach(limit: 4)
        try run.settle()
        let first = run.delivered()
        #expect(first.numbers == [1, 2, 3, 4])
        run.store.detach("alarm")
        for delivery in first.prefix(3) { run.store.acknowledge("alarm", delivery.ticket) }
        run.note { $0.delivered = [:] }
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == [4, 5, 6, 7, 8, 9, 10])
        // The first handler's word for what the second one has, too.
        run.store.acknowledge("alarm", first[3].ticket)
        for delivery in run.delivered().dropFirst() { run.store.acknowledge("alarm", delivery.ticket) }
        run.end()
        let again = try StoreRun(folder.file)
        again.submit(11...11)
        again.attach()
        try again.settle()
        #expect(again.delivered().numbers == [11])
    }

    @Test func whatIsDecoratedKeepsItsFigures() throws {
        let folder = try StoreFolder()
        var event = StoreRun.event(9)
        event.set(.count, .integer(4))
        event.set(.reason, .text("\u{1F9ED} \"quoted\" \u{0}\n"))
        let first = try StoreRun(folder.file)
        first.store.submit(event, for: "al'arm \u{0}")
        first.end()
        let second = try StoreRun(folder.file)
        second.attach("al'arm \u{0}")
        try second.settle()
        // An event without an identity belongs to the store that had it.
        event.identity = second.store.identity
        #expect(second.delivered("al'arm \u{0}").map(\.event) == [event])
    }

    @Test func publishedAndDeliveredComeInTheOrderOfAsking() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.store.attach("alarm", limit: 10_000) { deliveries in
            for delivery in deliveries { run.note { $0.delivered["both", default: []].append(delivery) } }
            // A delivered event is published already.
            #expect(run.published.contains { $0.sequence == deliveries[0].event.sequence })
        }
        for number in UInt64(1)...500 {
            run.append(number...number)
            run.submit(number...number)
        }
        try run.settle()
        #expect(run.delivered("both").numbers == Array(1...500))
    }

    /// An earlier handler of the name was for other events.
    @Test func whatAHandlerDoesNotAcceptIsRemovedAndReported() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.submit(1...300)
        first.store.submit(StoreRun.event(301, kind: .freeFall), for: "alarm")
        first.end()
        let second = try StoreRun(folder.file)
        second.store.expect(["alarm"]) { _, event in event.kind == .freeFall }
        second.attach(limit: 5, acknowledges: true)
        try second.wait("the event that it accepts") { second.delivered().numbers == [301] }
        try second.settle()
        #expect(second.store.statistics.handlers.first?.waitingCount == 0)
        second.end()
        let drops = second.of(.eventsDropped)
        #expect(drops.compactMap { $0.integer(.count) }.reduce(0, +) == 300)
        #expect(drops.allSatisfy { $0.text(.handler) == "alarm" })
        let third = try StoreRun(folder.file)
        #expect(third.store.statistics.handlers.first?.waitingCount == 0)
        third.end()
    }
}
