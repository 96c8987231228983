import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import TestSupport
import Testing

/// Subscribers that read slowly, or never.
@Suite struct SlowSubscriberTests {
    @Test func oneThatNeverReadsKeepsNobodyWaiting() throws {
        let server = try TestServer()
        let silent = try (0..<10).map { _ in try server.client() }
        let readers = try (0..<40).map { _ in try server.client() }
        for client in silent + readers { try client.subscribe() }
        let count = TestForm.count(2000, long: 5000)
        // Their rows are read while more are published, in any order.
        for first in stride(from: 1, through: count, by: 500) {
            server.publish(500)
            for client in readers { #expect(try client.sequences(500) == Array(UInt64(first)..<UInt64(first + 500))) }
        }
        let statistics = server.server.statistics
        #expect(statistics.connectionCount == 50 && statistics.subscribers.count == 50)
        // The gauge of the last reader may be written down a moment later.
        try server.wait("the readers are known to be up to date") {
            server.server.statistics.subscribers.suffix(40).allSatisfy { $0.behind == 0 && $0.missed == 0 }
        }
    }

    @Test func withoutAStoreItIsToldExactlyWhatItMissed() throws {
        let server = try TestServer(ringCapacity: 64)
        let slow = try server.client()
        try slow.subscribe(#""kinds":["shock"]"#)
        let reader = try server.client()
        try reader.subscribe()
        let count = 4000
        for index in 0..<count {
            server.publish(kind: index % 2 == 0 ? .shock : .shake, padding: 200)
            _ = try reader.sequences(1)
        }
        // Each event comes, or is counted in a `missed` message.
        var seen: [UInt64] = []
        var missedCount: UInt64 = 0
        var end: UInt64 = 0
        while end < UInt64(count) - 1 {
            switch try slow.message() {
            case .event(let event, _):
                #expect(event.sequence > end)
                end = event.sequence
                seen.append(end)
            case .missed(let missed):
                let (first, last) = (try #require(missed.first), try #require(missed.last))
                #expect(first > end && last >= first)
                // Every other event is a shock.
                #expect(missed.count == (last - first) / 2 + 1)
                missedCount += missed.count ?? 0
                end = last
            case let other: Issue.record("\(other)")
            }
        }
        #expect(missedCount > 0)
        #expect(UInt64(seen.count) + missedCount == UInt64(count) / 2)
        #expect(seen.allSatisfy { $0 % 2 == 1 })
    }

    @Test func withAStoreItMissesNothing() throws {
        let history = FakeHistory()
        let server = try TestServer(history: history, ringCapacity: 64)
        let slow = try server.client()
        try slow.subscribe()
        let reader = try server.client()
        try reader.subscribe()
        let count: UInt64 = 4000
        for sequence in 1...count {
            history.add([TestServer.event(sequence)])
            server.publish()
            _ = try reader.sequences(1)
        }
        #expect(try slow.sequences(Int(count)) == Array(1...count))
    }

    @Test func memoryIsBounded() throws {
        let server = try TestServer()
        let silent = try (0..<20).map { _ in try server.client() }
        let reader = try server.client()
        for client in silent + [reader] { try client.subscribe(#""kinds":["motion.moving"]"#) }
        // A repeated state needs no number of its own, so that its line is made only once.
        let event = PublishedEvent(TestServer.event(0, kind: .motionMoving, padding: 4000))
        func publish(_ rounds: Int) throws {
            for _ in 0..<rounds {
                server.server.publish(Array(repeating: event, count: 100))
                _ = try reader.sequences(100)
            }
        }
        try publish(10)
        // 24 MB for each of those who never read, each time; what other tests of this process need is not always more.
        var growth: [Int] = []
        while growth.last.map({ $0 >= 100_000 }) ?? true, growth.count < 5 {
            let before = try residentKilobytes()
            try publish(60)
            growth.append(try residentKilobytes() - before)
        }
        #expect(growth.contains { $0 < 100_000 }, "grew by \(growth) kB")
    }

    @Test func aFloodThatNobodyCanTakeIsToldOf() throws {
        let server = try TestServer(ringCapacity: 32)
        let client = try server.client()
        try client.subscribe()
        // More at once than waits for the server's thread at most.
        let count = server.publish(50_000)
        var end: UInt64 = 0
        var missed: UInt64 = 0
        var seen: UInt64 = 0
        while end < count {
            switch try client.message() {
            case .event(let event, _):
                #expect(event.sequence == end + 1)
                end = event.sequence
                seen += 1
            case .missed(let notice):
                #expect(notice.first == end + 1)
                missed += try #require(notice.count)
                end = try #require(notice.last)
            case let other: Issue.record("\(other)")
            }
        }
        #expect(seen + missed == count && missed > 0)
    }

    private func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }
}
