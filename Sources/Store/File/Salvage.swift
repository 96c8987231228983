import Binnacle

/// Copies what can be read of a damaged file into the one that took its place, and changes nothing of the damaged one.
///
/// A table is read from its beginning until that fails, and then from its end: what is lost is what lies between.
final class Salvage {
    /// Where the damaged file lies.
    let path: String
    /// What the numbers of its events belonged to, and the last of them; both are only believed together.
    let past: StoreFile.Past
    /// What was copied.
    private(set) var eventCount = 0
    /// What was copied.
    private(set) var deliveryCount = 0
    /// Rows that were there and could not be believed.
    private(set) var unreadableCount = 0
    /// Whether it was the deliveries' turn.
    private(set) var hasCopiedDeliveries = false

    private let database: Database?
    private var isBackwards = false
    private var reached: Int64 = .min
    private var reachedBackwards: Int64 = .max
    private static let rowsPerStep = 512

    /// Opens a damaged file as far as that is possible.
    init(_ place: FilePlace) {
        path = place.path
        let opened = Self.open(place)
        database = opened?.database
        past = opened?.past ?? StoreFile.Past()
    }

    private static func open(_ place: FilePlace) -> (database: Database, past: StoreFile.Past)? {
        guard let database = try? StoreFile.connect(to: place) else { return nil }
        do throws(SQLiteError) {
            // Reading alone: also what the log holds stays in the log.
            try database.execute("PRAGMA query_only = ON")
            guard try StoreSchema.isOurs(database) else { return nil }
        } catch {
            return nil
        }
        var past = StoreFile.Past()
        do throws(SQLiteError) {
            let identity = try database.text("SELECT value FROM meta WHERE key = 'identity'")
            let known = try database.text("SELECT value FROM meta WHERE key = 'last_sequence'").flatMap { UInt64($0) }
            let last = try UInt64(clamping: database.integer("SELECT max(seq) FROM events") ?? 0)
            if last <= StoreFile.highestSequence, known ?? 0 <= StoreFile.highestSequence {
                past = StoreFile.Past(identity: identity, lastSequence: max(last, known ?? 0))
            }
        } catch {
            // Counting begins anew, under another identity.
        }
        return (database, past)
    }

    // MARK: - Deliveries

    /// Copies the handlers and what they have still to do.
    ///
    /// - Parameters:
    ///   - file: Where to.
    ///   - done: The numbers of deliveries that are done.
    /// - Throws: ``SQLiteError`` when the new file does not take it.
    func copyDeliveries(to file: StoreFile, without done: Set<Int64>) throws(SQLiteError) {
        guard let database else {
            hasCopiedDeliveries = true
            return
        }
        deliveryCount = 0
        try file.database.transaction { () throws(SQLiteError) in
            let insertion = try file.statement(
                "INSERT OR IGNORE INTO cursors(handler, name, position) VALUES(?, ?, ?)")
            try copyRows("SELECT handler, name, position FROM cursors", from: database) { row throws(SQLiteError) in
                guard let number = row.integer(0), let name = row.text(1), let position = row.integer(2) else { return }
                try insertion.run(.integer(number), .text(name), .integer(position))
            }
            let rows = "SELECT id, handler, body FROM deliveries"
            var last: Int64 = .min
            let copy = { (row: Statement) throws(SQLiteError) in
                guard let id = row.integer(0), id > 0, id < StoreFile.highestSequence, let handler = row.integer(1),
                    let event = row.text(2).flatMap({ try? Event(json: $0) })
                else {
                    self.unreadableCount += 1
                    return
                }
                last = id
                guard !done.contains(id), try !file.holdsDelivery(id) else { return }
                try file.insert(id, of: handler, event)
                self.deliveryCount += 1
            }
            if try copyRows("\(rows) ORDER BY id", from: database, copy) { return }
            try copyRows("\(rows) WHERE id > \(last) ORDER BY id DESC", from: database, copy)
        }
        hasCopiedDeliveries = true
    }

    /// Goes over rows until they end, or until they cannot be read.
    ///
    /// - Returns: Whether all of them could be read.
    @discardableResult
    private func copyRows(
        _ sql: String, from database: Database, _ copy: (Statement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) -> Bool {
        guard let rows = try? Statement(sql, on: database) else { return false }
        while true {
            guard let isRow = try? rows.step() else { return false }
            guard isRow else { return true }
            try copy(rows)
        }
    }

    // MARK: - Events

    /// Copies some of the events.
    ///
    /// - Parameter file: Where to.
    /// - Returns: Whether there is more to copy.
    /// - Throws: ``SQLiteError`` when the new file does not take it.
    func copyEvents(to file: StoreFile) throws(SQLiteError) -> Bool {
        guard let database else { return false }
        let order =
            isBackwards
            ? "seq < \(reachedBackwards) AND seq > \(reached) ORDER BY seq DESC" : "seq > \(reached) ORDER BY seq"
        var rows: [PublishedEvent] = []
        var count = 0
        // What is written is read from here before, so that a failure of the one is not taken for the other's.
        let isReadable = try copyRows(
            "SELECT seq, body FROM events WHERE \(order) LIMIT \(Self.rowsPerStep)", from: database
        ) { row throws(SQLiteError) in
            guard let sequence = row.integer(0) else { return }
            count += 1
            if isBackwards { reachedBackwards = sequence } else { reached = sequence }
            guard let event = row.text(1).flatMap({ try? Event(json: $0) }),
                event.sequence == UInt64(clamping: sequence)
            else {
                unreadableCount += 1
                return
            }
            rows.append(PublishedEvent(event))
        }
        let copied = try file.database.transaction { () throws(SQLiteError) in
            var copied = 0
            for row in rows where try file.append(row) { copied += 1 }
            return copied
        }
        eventCount += copied
        if !isReadable {
            // Forwards it goes no further; backwards neither.
            if isBackwards { return false }
            isBackwards = true
            return true
        }
        return count == Self.rowsPerStep
    }
}
