/// The readable part of a damaged file that was set aside: its numbers, and the waiting deliveries.
///
/// Each part is read separately, because any of them may be damaged. Nothing is changed.
struct StoreSalvage {
    /// The identity of the sequence; `nil` when it is unreadable, or the last number is.
    private(set) var identity: String?
    /// The number after which the sequence continues: the highest readable one, with a margin if the last number is not known
    /// exactly.
    private(set) var lastSequence: UInt64
    /// The number of deliveries for each handler; `nil` for unreadable handlers.
    private(set) var deliveryCounts: [String?: Int] = [:]
    private(set) var isCounted = false

    /// Reads a file and the log beside it, which no other process uses.
    init(path: String) {
        lastSequence = FilePlace.highestSequence(inFileAt: path)
        var last: UInt64?
        if let place = try? FilePlace(path), let database = try? StoreFile.connectForReading(to: place) {
            func meta(_ key: String) -> String? { (try? database.value(key)) ?? nil }
            if let known = meta("last_sequence").flatMap({ UInt64($0) }), known <= StoreFile.highestSequence,
                let found = meta("identity"), StoreNotes.isIdentity(found)
            {
                identity = found
                let reserved = meta(StoreNotes.reservedKey).flatMap { UInt64($0) } ?? 0
                // A properly closed file has all its numbers; otherwise they are below the reservation.
                if meta("running") == "" { last = known } else if reserved > known { last = reserved }
            }
            countDeliveries(database)
            database.close()
        }
        if let last, last >= lastSequence, last <= StoreFile.highestSequence {
            lastSequence = last
        } else if identity == nil || last == nil {
            lastSequence += StoreFile.reservation
        }
    }

    private mutating func countDeliveries(_ database: Database) {
        var names: [Int64: String] = [:]
        try? database.each("SELECT handler, name FROM cursors", []) { row in
            if let handler = row.integer(0), let name = row.text(1) { names[handler] = name }
            return true
        }
        // The table and its index are separate, and one of them may be intact.
        for table in ["deliveries NOT INDEXED", "deliveries INDEXED BY deliveries_by_handler"] {
            var counts: [String?: Int] = [:]
            do throws(StoreFailure) {
                try database.each("SELECT handler, count(*) FROM \(table) GROUP BY handler", []) { row in
                    counts[row.integer(0).flatMap { names[$0] }, default: 0] += Int(row.integer(1) ?? 0)
                    return true
                }
            } catch {
                continue
            }
            let isMore = counts.values.reduce(0, +) > deliveryCounts.values.reduce(0, +)
            if isMore || !isCounted { deliveryCounts = counts }
            isCounted = true
        }
    }
}
