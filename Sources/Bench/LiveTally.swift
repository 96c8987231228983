import Binnacle
import LinuxSystem

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
        let allocators = Self.allocators.compactMap { try? CallCounter(of: $0) }
        let allocations = Self.count(allocators) { run.takeEvents(writer, times: Self.batches) }
        allocationCount = allocators.count == Self.allocators.count ? allocations : nil
        eventCount = run.eventCount - before
        let weakLoads = (try? CallCounter.weakLoads()).map { [$0] } ?? []
        let loads = Self.count(weakLoads) { run.takeEvents(writer, times: Self.batches) }
        weakLoadCount = weakLoads.isEmpty ? nil : loads
        batchCount = Self.batches
    }

    /// How often functions are entered while something is done.
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
