import Binnacle
import LinuxSystem
import PlainText

/// What happens besides, for each event and each batch: counted, not timed.
struct LiveTally {
    private let eventCount: Int
    private let batchCount: Int
    /// How often memory was asked for; `nil` where nobody could count.
    private let allocationCount: Int?
    /// How often a weak reference was loaded; `nil` where nobody could count.
    private let weakLoadCount: Int?

    private static let allocators = ["malloc", "calloc", "realloc", "posix_memalign"]
    private static let batches = 1000

    /// Lets samples come in which every other one is an event.
    init(_ run: LiveRun, batch: Int) {
        let writer = run.makeWriter(batch: batch)
        // What grows once has grown.
        run.takeEvents(writer, times: 10)
        let before = run.eventCount
        allocationCount = Self.allocations { run.takeEvents(writer, times: Self.batches) }
        eventCount = run.eventCount - before
        weakLoadCount = Self.weakLoads { run.takeEvents(writer, times: Self.batches) }
        batchCount = Self.batches
    }

    /// How often memory is asked for while something is done.
    private static func allocations(while body: () -> Void) -> Int? {
        let counters = allocators.compactMap { try? CallCounter(of: $0) }
        let count = count(counters, while: body)
        return counters.count == allocators.count ? count : nil
    }

    /// How often a weak reference is loaded while something is done.
    ///
    /// By itself, because a machine has no more counters than the four above.
    private static func weakLoads(while body: () -> Void) -> Int? {
        guard let counter = try? CallCounter.weakLoads() else { return nil }
        return count([counter], while: body)
    }

    private static func count(_ counters: [CallCounter], while body: () -> Void) -> Int {
        // The looking itself is no part of it.
        let before = counters.map(\.count)
        body()
        return zip(counters, before).reduce(0) { $0 + $1.0.count - $1.1 }
    }

    /// The tally for a person.
    var text: String {
        var parts = ["\(eventCount) events in \(batchCount) batches of 16"]
        if let allocationCount {
            parts.append("\(Self.each(allocationCount, eventCount)) allocations an event")
        } else {
            parts.append("allocations not counted: the kernel lends no breakpoints here")
        }
        if let weakLoadCount { parts.append("\(Self.each(weakLoadCount, batchCount)) weak loads a batch") }
        return parts.joined(separator: "; ")
    }

    /// The tally for a program.
    func object(_ form: String) -> JSONObject {
        var object = JSONObject()
        object.add("type", "live_count")
        object.add("form", form)
        object.add("batches", count: batchCount)
        object.add("events", count: eventCount)
        object.add("allocations", count: allocationCount)
        object.add("weak_loads", count: weakLoadCount)
        return object
    }

    private static func each(_ count: Int, _ things: Int) -> String {
        count.isMultiple(of: max(1, things))
            ? String(count / max(1, things)) : NumberText.text(Double(count) / Double(max(1, things)), decimals: 3)
    }
}
