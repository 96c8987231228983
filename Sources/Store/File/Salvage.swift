import Binnacle

/// Copies what can be read of a damaged file into the one that took its place, and changes nothing of the damaged one.
///
/// A table is read from its beginning until that fails, and then from its end: what is lost is what lies between.
final class Salvage {
    /// Where the damaged file lies.
    let path: String
    /// What the numbers of its events belonged to, and the last of them; both are only believed together.
    let past: StoreFile.Past
    /// When the newest of its events happened, by the wall clock.
    let newestWallNanoseconds: Int64?
    /// What it was itself still to be given, from files that were damaged before.
    let unfinished: [(name: String, progress: SalvageProgress)]
    /// How far it is.
    private(set) var progress: SalvageProgress
    /// Whether the deliveries were copied, which is done once: what a handler is done with must not come again.
    private(set) var hasCopiedDeliveries: Bool

    private let database: Database?
    private static let rowsPerStep = 512

    /// Opens a damaged file as far as that is possible.
    ///
    /// - Parameters:
    ///   - place: Where it lies.
    ///   - progress: How far an earlier run was with it; `nil` when it was not begun.
    init(_ place: FilePlace, progress: SalvageProgress? = nil) {
        path = place.path
        self.progress = progress ?? SalvageProgress()
        hasCopiedDeliveries = progress != nil
        database = Self.open(place)
        past = database.flatMap { try? Self.past($0) } ?? StoreFile.Past()
        newestWallNanoseconds = try? database?.integer("SELECT wall_ns FROM events ORDER BY seq DESC LIMIT 1")
        unfinished = database.flatMap { try? StoreFile.salvages(in: $0) } ?? []
    }

    private static func open(_ place: FilePlace) -> Database? {
        guard let database = try? StoreFile.connect(to: place) else { return nil }
        do throws(SQLiteError) {
            // Reading alone: also what the log holds stays in the log.
            try database.execute("PRAGMA query_only = ON")
            guard try StoreSchema.isOurs(database) else { return nil }
        } catch {
            return nil
        }
        return database
    }

    /// What is known of it; when that cannot be read, counting begins anew, under another identity.
    private static func past(_ database: Database) throws(SQLiteError) -> StoreFile.Past {
        let identity = try database.text("SELECT value FROM meta WHERE key = 'identity'")
        let known = try database.text("SELECT value FROM meta WHERE key = 'last_sequence'").flatMap { UInt64($0) }
        let last = try UInt64(clamping: database.integer("SELECT max(seq) FROM events") ?? 0)
        guard last <= StoreFile.highestSequence, known ?? 0 <= StoreFile.highestSequence else {
            return StoreFile.Past()
        }
        return StoreFile.Past(identity: identity, lastSequence: max(last, known ?? 0))
    }

    /// Whether it can be opened at all.
    var isReadable: Bool { database != nil }

    /// Its name in the folder, by which the new file knows it: the folder may be moved meanwhile.
    private var name: String { String(path.split(separator: "/").last ?? "") }

    // MARK: - Deliveries

    /// Copies the handlers and what they have still to do, and writes down that there is more to copy.
    ///
    /// - Parameters:
    ///   - file: Where to.
    ///   - done: The numbers of deliveries that are done.
    /// - Throws: ``SQLiteError`` when the new file does not take it.
    func begin(in file: StoreFile, without done: Set<Int64>) throws(SQLiteError) {
        var progress = progress
        try file.database.transaction { () throws(SQLiteError) in
            if let database, !hasCopiedDeliveries {
                try copyDeliveries(from: database, to: file, without: done, &progress)
            }
            try file.setSalvage(name, progress)
        }
        self.progress = progress
    }

    /// Takes note that what ``begin(in:without:)`` has copied is in a file that is used.
    func didBegin() {
        hasCopiedDeliveries = true
    }

    private func copyDeliveries(
        from database: Database, to file: StoreFile, without done: Set<Int64>, _ progress: inout SalvageProgress
    ) throws(SQLiteError) {
        var found = SalvageProgress()
        // A handler may have another number in the new file; one whose row cannot be read is not known any more, and
        // what was for it must not go to another one.
        var numbers: [Int64: Int64] = [:]
        let insertion = try file.statement("INSERT OR IGNORE INTO cursors(handler, name, position) VALUES(?, ?, ?)")
        try copyRows("SELECT handler, name, position FROM cursors", from: database) { row throws(SQLiteError) in
            guard let number = row.integer(0), let name = row.text(1), let position = row.integer(2) else { return }
            try insertion.run(.integer(number), .text(name), .integer(position))
            numbers[number] = try file.handlerNumber(name)
        }
        let rows = "SELECT id, handler, body FROM deliveries"
        var last: Int64 = .min
        let copy = { (row: Statement) throws(SQLiteError) in
            guard let id = row.integer(0), id > 0, id < StoreFile.highestSequence,
                let handler = row.integer(1).flatMap({ numbers[$0] }),
                let event = row.text(2).flatMap({ try? Event(json: $0) })
            else {
                found.unreadableCount += 1
                return
            }
            last = id
            guard !done.contains(id), try !file.holdsDelivery(id) else { return }
            try file.insert(id, of: handler, PublishedEvent(event))
            found.deliveryCount += 1
        }
        if try !copyRows("\(rows) ORDER BY id", from: database, copy) {
            try copyRows("\(rows) WHERE id > \(last) ORDER BY id DESC", from: database, copy)
        }
        progress.deliveryCount = found.deliveryCount
        progress.unreadableCount = found.unreadableCount
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

    /// Copies some of the events, and writes down how far that is.
    ///
    /// - Parameter file: Where to.
    /// - Returns: Whether there is more to copy, and how many events came to the file.
    /// - Throws: ``SQLiteError`` when the new file does not take it.
    func copyEvents(to file: StoreFile) throws(SQLiteError) -> (isMore: Bool, copiedCount: Int) {
        var next = progress
        var rows: [PublishedEvent] = []
        // What is written is read from here before, so that a failure of the one is not taken for the other's.
        let isMore = try readEvents(into: &rows, &next)
        let copied = try file.database.transaction { () throws(SQLiteError) in
            var copied = 0
            for row in rows where try file.append(row) { copied += 1 }
            next.eventCount += copied
            try file.setSalvage(name, isMore ? next : nil)
            return copied
        }
        progress = next
        return (isMore, copied)
    }

    private func readEvents(
        into rows: inout [PublishedEvent], _ progress: inout SalvageProgress
    ) throws(SQLiteError) -> Bool {
        guard let database else { return false }
        var (found, next) = (rows, progress)
        let order =
            next.isBackwards
            ? "seq < \(next.reachedBackwards) AND seq > \(next.reached) ORDER BY seq DESC"
            : "seq > \(next.reached) ORDER BY seq"
        var count = 0
        let isReadable = try copyRows(
            "SELECT seq, body FROM events WHERE \(order) LIMIT \(Self.rowsPerStep)", from: database
        ) { row throws(SQLiteError) in
            guard let sequence = row.integer(0) else { return }
            count += 1
            if next.isBackwards { next.reachedBackwards = sequence } else { next.reached = sequence }
            guard let event = row.text(1).flatMap({ try? Event(json: $0) }),
                event.sequence == UInt64(clamping: sequence)
            else {
                next.unreadableCount += 1
                return
            }
            found.append(PublishedEvent(event))
        }
        defer { (rows, progress) = (found, next) }
        guard !isReadable else { return count == Self.rowsPerStep }
        // Forwards it goes no further; backwards neither.
        if next.isBackwards { return false }
        next.isBackwards = true
        return true
    }
}

extension StoreFile {
    private static let salvageKey = "salvage "

    /// The damaged files that a file is still being given the events of.
    static func salvages(in database: Database) throws(SQLiteError) -> [(name: String, progress: SalvageProgress)] {
        let statement = try Statement("SELECT key, value FROM meta WHERE key GLOB '\(salvageKey)*'", on: database)
        var found: [(name: String, progress: SalvageProgress)] = []
        while try statement.step() {
            guard let key = statement.text(0), let value = statement.text(1) else { continue }
            let name = String(key.dropFirst(salvageKey.count))
            // A file may say anything; what it names lies beside it.
            guard !name.isEmpty, !name.contains("/") else { continue }
            found.append((name, SalvageProgress(value)))
        }
        return found
    }

    /// Writes down how far the copying of a damaged file is; `nil` when it is complete.
    func setSalvage(_ name: String, _ progress: SalvageProgress?) throws(SQLiteError) {
        if let progress { return try setMeta(Self.salvageKey + name, progress.text) }
        try statement("DELETE FROM meta WHERE key = ?").run(.text(Self.salvageKey + name))
    }
}
