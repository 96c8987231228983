import Binnacle
import EventSocket
import LinuxSystem
import Synchronization
import Testing

/// What subscribers get, and in which order.
@Suite struct SubscriptionTests {
    @Test func eventsComeAsTheirLines() throws {
        let server = try TestServer(startingBehind: 41)
        let client = try server.client()
        let answer = try client.subscribe()
        guard case .subscribed(let identity, 41, 41) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(!identity.isEmpty)
        server.publish()
        #expect(client.line() == TestServer.event(42).json)
        server.publish(3)
        #expect(try client.sequences(3) == [43, 44, 45])
    }

    @Test func aFilterChooses() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.subscribe(#""kinds":["shock","motion.moving"],"sensors":["lid"]"#)
        server.publish(kind: .shake)
        server.publish(kind: .shock, sensor: "door")
        server.publish(kind: .shock, sensor: nil)
        server.publish(kind: .shock)
        server.publish(kind: .motionMoving)
        server.publish(kind: .northFacing)
        server.publish(kind: .shock)
        #expect(try client.sequences(3) == [4, 4, 5])
        #expect(client.isSilent())
    }

    @Test func repeatedStatesAreForThoseWhoNameThem() throws {
        let server = try TestServer()
        let everything = try server.client()
        try everything.subscribe()
        #expect(server.notes.repeated.withLock { $0.isEmpty })
        do {
            let named = try server.client()
            try named.subscribe(#""kinds":["motion.moving"]"#)
            let both = try server.client()
            try both.subscribe(#""kinds":["motion.moving","north.facing","shock"]"#)
            server.publish(kind: .motionMoving)
            #expect(try named.sequences(1) == [0])
            #expect(try both.sequences(1) == [0])
        }
        try server.wait("nobody asks") { server.notes.repeated.withLock { $0.last == [] } }
        server.publish()
        #expect(try everything.sequences(1) == [1])
        let told = server.notes.repeated.withLock { $0 }
        #expect(told.prefix(2) == [[.motionMoving], [.motionMoving, .northFacing]])
    }

    // MARK: - Going on

    @Test func afterIsServedFromMemory() throws {
        let server = try TestServer()
        server.publish(10)
        let client = try server.client()
        let answer = try client.subscribe(#""after":7"#)
        guard case .subscribed(_, 10, 7) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(try client.sequences(3) == [8, 9, 10])
        server.publish()
        #expect(try client.sequences(1) == [11])
    }

    @Test func afterIsServedFromTheHistory() throws {
        let history = FakeHistory(1...1000)
        let server = try TestServer(history: history, startingBehind: 1000)
        let client = try server.client()
        try client.subscribe(#""after":123,"identity":"store-1""#)
        #expect(try client.sequences(877) == Array(124...1000))
        history.add([TestServer.event(1001)])
        server.publish()
        #expect(try client.sequences(1) == [1001])
        #expect(history.queries.first?.after == 123)
    }

    @Test func nothingIsLostOrDoubledBetweenHistoryAndMemory() throws {
        let history = FakeHistory(1...100)
        let server = try TestServer(history: history, startingBehind: 100, ringCapacity: 16)
        let clients = try (0..<4).map { _ in try server.client() }
        for (index, client) in clients.enumerated() { try client.subscribe("\"after\":\(index * 30)") }
        // While they read the past, the present goes on.
        for sequence in UInt64(101)...600 {
            history.add([TestServer.event(sequence)])
            server.publish()
        }
        for (index, client) in clients.enumerated() {
            let first = UInt64(index * 30 + 1)
            #expect(try client.sequences(600 - Int(first) + 1) == Array(first...600))
        }
    }

    @Test func aHistoryThatIsThereLaterIsGoneOnWith() throws {
        let history = FakeHistory()
        let server = try TestServer(history: history)
        let early = try server.client()
        try early.subscribe()
        history.add((1...30).map { TestServer.event($0) })
        server.continue(behind: 30)
        let late = try server.client()
        server.publish()
        #expect(try early.sequences(1) == [31])
        try late.subscribe(#""after":28"#)
        #expect(try late.sequences(3) == [29, 30, 31])
    }

    @Test func withoutFollowingItEnds() throws {
        let history = FakeHistory(1...300)
        let server = try TestServer(history: history, startingBehind: 300)
        history.add([TestServer.event(301)])
        server.publish()
        let client = try server.client()
        try client.subscribe(#""follow":false"#)
        #expect(try client.sequences(301) == Array(1...301))
        #expect(try client.message() == .end)
        #expect(client.line() == nil)

        let filtered = try server.client()
        try filtered.subscribe(#""follow":false,"kinds":["shake"]"#)
        #expect(try filtered.message() == .end)
    }

    @Test(arguments: [true, false])
    func withoutEventsItEndsAtOnce(hasHistory: Bool) throws {
        let server = try TestServer(history: hasHistory ? FakeHistory() : nil)
        let client = try server.client()
        try client.subscribe(#""follow":false"#)
        #expect(try client.message() == .end)
        #expect(client.line() == nil)
    }

    @Test func sinceIsATimeOfTheWallClock() throws {
        let history = FakeHistory(1...50)
        let server = try TestServer(history: history, startingBehind: 50)
        let client = try server.client()
        try client.subscribe(#""since_ns":\#(1_700_000_000_000_000_000 + 40 * 1_000_000_000),"follow":false"#)
        #expect(try client.sequences(11) == Array(40...50))
        #expect(try client.message() == .end)

        let unstored = try TestServer()
        unstored.publish(50)
        let other = try unstored.client()
        try other.subscribe(#""since_ns":\#(1_700_000_000_000_000_000 + 40 * 1_000_000_000),"follow":false"#)
        #expect(try other.sequences(11) == Array(40...50))
        #expect(try other.message() == .end)
    }

    /// What is older than asked for is not missing, however many pages it fills.
    @Test func whatIsOlderIsNotMissed() throws {
        let history = FakeHistory(1...50)
        history.scan(atMost: 7)
        let server = try TestServer(history: history, startingBehind: 50)
        let client = try server.client()
        try client.subscribe(#""since_ns":\#(1_700_000_000_000_000_000 + 40 * 1_000_000_000),"follow":false"#)
        #expect(try client.sequences(11) == Array(40...50))
        #expect(try client.message() == .end)
    }

    /// A clock that is set back hides nothing, makes nothing missing, and a filter does not choose where it begins.
    @Test(arguments: [true, false]) func behindItsBeginningATimeDoesNotMatter(isStored: Bool) throws {
        let beginning: Int64 = 1_700_000_000_000_000_000
        let events = (UInt64(1)...50).map { number -> Event in
            var event = TestServer.event(number, kind: (15..<26).contains(number) ? .shake : .shock)
            if number > 15 { event.wallNanoseconds = beginning }
            return event
        }
        let history = FakeHistory()
        history.add(events)
        history.scan(atMost: 7)
        let server = try TestServer(history: isStored ? history : nil, startingBehind: isStored ? 50 : 0)
        if !isStored { server.server.publish(events.map { PublishedEvent($0) }) }
        for (filter, first) in [("", UInt64(15)), (#","kinds":["shock"]"#, UInt64(26))] {
            let client = try server.client()
            try client.subscribe("\"since_ns\":\(beginning + 15_000_000_000),\"follow\":false\(filter)")
            #expect(try client.sequences(51 - Int(first)) == Array(first...50))
            #expect(try client.message() == .end)
        }
    }

    @Test func anotherIdentityBeginsAtTheBeginning() throws {
        let server = try TestServer(history: FakeHistory(1...5), startingBehind: 5)
        let client = try server.client()
        let answer = try client.subscribe(#""after":3,"identity":"store-0""#)
        #expect(answer == .subscribed(identity: "store-1", newest: 5, after: 0))
        guard case .missed(let missed) = try client.message() else {
            Issue.record("not told")
            return
        }
        #expect(missed.count == nil && missed.reason.contains("another sequence"))
        #expect(try client.sequences(5) == [1, 2, 3, 4, 5])
    }

    @Test func aNumberOfTheFutureIsNotWaitedFor() throws {
        let server = try TestServer(startingBehind: 5)
        let client = try server.client()
        #expect(try client.subscribe(#""after":900"#).json.hasSuffix(#""seq":5,"after":5}}"#))
        #expect(try client.message().json.contains("no event has the number 900"))
        server.publish()
        #expect(try client.sequences(1) == [6])
    }

    // MARK: - Missing

    @Test func withoutAStoreWhatIsGoneIsToldOf() throws {
        let server = try TestServer(ringCapacity: 8)
        server.publish(100)
        let client = try server.client()
        try client.subscribe(#""after":40"#)
        guard case .missed(let missed) = try client.message() else {
            Issue.record("not told")
            return
        }
        #expect(missed.count == 52 && missed.first == 41 && missed.last == 92)
        #expect(try client.sequences(8) == Array(93...100))
        // A filter makes the count unknowable.
        let filtered = try server.client()
        try filtered.subscribe(#""after":40,"kinds":["shock"]"#)
        guard case .missed(let filteredMiss) = try filtered.message() else {
            Issue.record("not told")
            return
        }
        #expect(filteredMiss.count == nil && filteredMiss.first == 41 && filteredMiss.last == 92)
    }

    @Test func whatTheStoreRemovedIsToldOf() throws {
        let history = FakeHistory(1...100)
        history.remove(before: 51)
        let server = try TestServer(history: history, startingBehind: 100)
        let client = try server.client()
        try client.subscribe(#""after":10"#)
        #expect(
            try client.message()
                == .missed(MissedEvents(count: 40, first: 11, last: 50, reason: "they were removed from the store")))
        #expect(try client.sequences(50) == Array(51...100))
        // A client that begins at the beginning misses nothing.
        let other = try server.client()
        try other.subscribe(#""after":0"#)
        #expect(try other.sequences(50) == Array(51...100))
    }

    @Test func whatTheStoreCouldNotTakeIsToldOf() throws {
        let history = FakeHistory(1...10)
        history.add((21...30).map { TestServer.event($0) })
        let server = try TestServer(history: history, startingBehind: 30, ringCapacity: 4)
        let client = try server.client()
        try client.subscribe(#""after":5"#)
        #expect(try client.sequences(5) == Array(6...10))
        #expect(
            try client.message()
                == .missed(MissedEvents(count: 10, first: 11, last: 20, reason: "they are not in the store")))
        #expect(try client.sequences(10) == Array(21...30))
        // And what it could not take last.
        server.publish(10)
        let late = try server.client()
        try late.subscribe(#""after":25"#)
        #expect(try late.sequences(5) == Array(26...30))
        #expect(
            try late.message()
                == .missed(MissedEvents(count: 6, first: 31, last: 36, reason: "they are not in the store")))
        #expect(try late.sequences(4) == Array(37...40))
    }

    /// Which of them a filter would have left out is not known.
    @Test func aFilteredSubscriptionIsToldOfWhatTheStoreCouldNotTake() throws {
        let history = FakeHistory(1...10)
        history.add((21...30).map { TestServer.event($0) })
        let server = try TestServer(history: history, startingBehind: 30, ringCapacity: 4)
        for kinds in [#"["motion.began"]"#, #"["sector.left"]"#] {
            let client = try server.client()
            try client.subscribe(#""after":10,"kinds":\#(kinds)"#)
            let hole = MissedEvents(first: 11, last: 20, reason: "they are not in the store")
            #expect(try client.message() == .missed(hole))
        }
    }

    /// Which of them a filter would have left out is not known.
    @Test(arguments: ["shock", "sector.left"]) func aFilteredSubscriptionIsToldOfWhatTheStoreCouldNotTake(kind: String)
        throws
    {
        let history = FakeHistory(1...10)
        history.add((21...30).map { TestServer.event($0) })
        let server = try TestServer(history: history, startingBehind: 30, ringCapacity: 4)
        let client = try server.client()
        try client.subscribe("\"after\":10,\"kinds\":[\"\(kind)\"]")
        #expect(
            try client.message() == .missed(MissedEvents(first: 11, last: 20, reason: "they are not in the store")))
    }

    @Test func aStoreThatCannotBeReadIsToldOf() throws {
        let history = FakeHistory(1...100)
        history.fail("disk I/O error")
        let server = try TestServer(history: history, startingBehind: 100, ringCapacity: 4)
        server.publish(2)
        let client = try server.client()
        try client.subscribe(#""after":50"#)
        guard case .missed(let missed) = try client.message() else {
            Issue.record("not told")
            return
        }
        #expect(missed.first == 51 && missed.last == 100 && missed.reason.contains("disk I/O error"))
        #expect(try client.sequences(2) == [101, 102])
    }
}
