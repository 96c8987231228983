import Binnacle
import Foundation
import LinuxSystem
import Store
import Synchronization
import TestSupport
import Testing

/// A store with everything it says and hands over.
final class StoreRun: Sendable {
    struct Said {
        var reports: [Event] = []
        var published: [Event] = []
        var jumps: [UInt64] = []
        var delivered: [String: [Delivery]] = [:]
    }

    /// When the events happen, in nanoseconds since 1970, and what time it is a little later.
    static let beginning: Int64 = 1_700_000_000_000_000_000
    static let clock = StoreClock(wall: { beginning + 10_000_000_000 })

    private let said: Mutex<Said>
    let store: EventStore
    let path: String

    init(
        _ path: String, clock: StoreClock = StoreRun.clock, capacity: Int = EventStore.capacity,
        _ change: (inout EventStoreSettings) -> Void = { _ in },
        onJump: @escaping @Sendable (EventStore, UInt64) -> Void = { _, _ in }
    ) throws {
        var settings = EventStoreSettings(path: path)
        change(&settings)
        self.path = path
        let early = EarlyReports()
        said = Mutex(Said())
        store = try EventStore(
            settings, clock: clock, capacity: capacity,
            report: { event in early.run?.note { $0.reports.append(event) } ?? early.keep(event) },
            publish: { events in early.run?.note { $0.published += events.map(\.event) } },
            onSequence: { number, _ in
                // The first one is where counting begins.
                guard early.hasBegun() else { return }
                early.run?.note { $0.jumps.append(number) }
                if let store = early.run?.store { onJump(store, number) }
            })
        // What was said of the opening is complete then.
        try waitUntil("an open store") { store.isOpened }
        early.set(self)
        for event in early.kept { note { $0.reports.append(event) } }
    }

    deinit { end() }

    /// Stops the store and waits until it has closed its file.
    func end() {
        store.finish()
        #expect(store.waitForEnd(until: SystemClock.monotonic() + 120_000_000_000))
    }

    func note(_ change: (inout Said) -> Void) { said.withLock { change(&$0) } }
    var reports: [Event] { said.withLock { $0.reports } }
    var published: [Event] { said.withLock { $0.published } }
    var jumps: [UInt64] { said.withLock { $0.jumps } }
    func delivered(_ name: String = "alarm") -> [Delivery] { said.withLock { $0.delivered[name] ?? [] } }
    func of(_ kind: EventKind) -> [Event] { reports.filter { $0.kind == kind } }

    /// Appends events with the numbers of a range.
    func append(_ numbers: ClosedRange<UInt64>, wall: Int64? = nil) {
        for number in numbers { store.append(Self.event(number, wall: wall)) }
    }

    /// Submits events with the numbers of a range.
    func submit(_ numbers: ClosedRange<UInt64>, for name: String = "alarm") {
        for number in numbers { store.submit(Self.event(number), for: name) }
    }

    /// Attaches a handler that keeps its deliveries, and acknowledges them if `acknowledges` is true.
    func attach(_ name: String = "alarm", limit: Int = 1_000_000, acknowledges: Bool = false) {
        store.attach(name, limit: limit) { [weak self] deliveries in
            self?.note { $0.delivered[name, default: []] += deliveries }
            guard acknowledges else { return }
            for delivery in deliveries { self?.store.acknowledge(name, delivery.ticket) }
        }
    }

    static func event(_ number: UInt64, kind: EventKind = .shock, wall: Int64? = nil, reason: String? = nil) -> Event {
        var event = Event(
            kind: kind, detector: "moved", sensor: number % 2 == 0 ? "even" : "odd", sequence: number,
            timeNanoseconds: Int64(clamping: number),
            figures: [Figure(.magnitude, .number(Double(number) / 8, decimals: 3))])
        event.wallNanoseconds = wall ?? Self.beginning + Int64(clamping: number % 1_000_000) * 1000
        if let reason { event.set(.reason, .text(reason)) }
        return event
    }

    /// Everything that the history gives for a query, in pages.
    func history(_ query: EventQuery = EventQuery()) throws -> [Event] {
        try Self.pages(query) { query in try self.page(query) }
    }

    static func pages(_ query: EventQuery, read: (EventQuery) throws -> EventPage) throws -> [Event] {
        var query = query
        var found: [Event] = []
        while true {
            let page = try read(query)
            #expect(page.failure == nil)
            found += try page.lines.map { try Event(json: $0.json) }
            if page.isLast || page.failure != nil { return found }
            #expect(page.through > query.after, "no progress")
            guard page.through > query.after else { return found }
            query.after = page.through
            if page.hasBegun { query.sinceNanoseconds = nil }
        }
    }

    func page(_ query: EventQuery = EventQuery()) throws -> EventPage {
        let answer = Answer()
        store.read(query) { page in answer.page = page }
        try wait("an answer") { answer.page != nil }
        return try #require(answer.page)
    }

    /// Waits until everything asked so far is done.
    func settle() throws { _ = try page(EventQuery(after: .max)) }

    /// Waits until everything asked so far is done, and the store's thread has turned so often: in each turn it does
    /// one step of what it does by itself, such as a removal, and it does not say when there is nothing left of that.
    func settle(turns: Int) throws {
        for _ in 0..<turns { try settle() }
    }

    /// Waits until many turns of the store's thread have removed nothing that waits for handlers.
    func waitForEndOfRemovals() throws {
        var before = -1
        while store.statistics.removedDeliveryCount > before {
            before = store.statistics.removedDeliveryCount
            try settle(turns: 100)
        }
    }

    func wait(_ comment: String, _ isCase: () throws -> Bool) throws {
        try waitUntil("\(comment); reported so far: \(reports.map(\.json))", isCase: isCase)
    }
}

extension EventStore {
    func append(_ event: Event) { store([Delivery(event: event)]) }
    func submit(_ event: Event, for handler: String) { store([Delivery(event: event, for: handler)]) }
    var lastSequence: UInt64 { statistics.lastSequence }
}

/// Makes or changes a database with the program sqlite3.
func sqlite(_ path: String, _ sql: String) throws {
    let child = Child(["sqlite3", path, sql])
    try child.run()
    child.waitUntilExit()
    #expect(child.terminationStatus == 0)
}

/// The page that a read was answered with.
private final class Answer: Sendable {
    private let state = Mutex<EventPage?>(nil)
    var page: EventPage? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// What a store says before the run it belongs to is made.
private final class EarlyReports: Sendable {
    private struct State: Sendable {
        weak var run: StoreRun?
        var kept: [Event] = []
        var hasBegun = false
    }
    private let state = Mutex(State())
    var run: StoreRun? { state.withLock { $0.run } }
    var kept: [Event] { state.withLock { $0.kept } }
    /// Whether this was asked before.
    func hasBegun() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return state.hasBegun
        }
    }
    func keep(_ event: Event) { state.withLock { $0.kept.append(event) } }
    func set(_ run: StoreRun) { state.withLock { $0.run = run } }
}

extension Event {
    func text(_ name: Figure.Name) -> String? {
        guard case .text(let text) = figure(name) else { return nil }
        return text
    }

    func integer(_ name: Figure.Name) -> Int? {
        guard case .integer(let value) = figure(name) else { return nil }
        return Int(value)
    }
}

extension Sequence where Element == Event {
    var numbers: [UInt64] { map(\.sequence) }
}

extension Sequence where Element == Delivery {
    var numbers: [UInt64] { map(\.event.sequence) }
}

/// A folder for a store's file.
final class StoreFolder {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
    var path: String { folder.path }
    var file: String { folder.path + "/events.db" }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? [] }
}
