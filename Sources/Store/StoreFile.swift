import Binnacle
import Glibc
import LinuxSystem

/// The tables in a store's file.
enum StoreSchema {
    /// Marks the header of a store's file: `BNCL`.
    static let applicationID: Int64 = 0x424E_434C
    /// The version of the schema that this program writes and reads.
    static let version: Int64 = 1
    /// A part of a statement, by which a store is recognized whose header was overwritten.
    static let mark = "CREATE TABLE deliveries(id INTEGER PRIMARY KEY AUTOINCREMENT"

    /// The statements that make the tables.
    ///
    /// STRICT, so that a column holds what its type says, also in a file that another program has written.
    /// AUTOINCREMENT, so that the number of a delivery is never used again.
    private static let statements = [
        """
        CREATE TABLE events(\
        seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, sensor TEXT, wall_ns INTEGER, body TEXT NOT NULL) STRICT
        """,
        """
        CREATE TABLE deliveries(\
        id INTEGER PRIMARY KEY AUTOINCREMENT, handler INTEGER NOT NULL, wall_ns INTEGER, body TEXT NOT NULL) STRICT
        """,
        "CREATE INDEX deliveries_by_handler ON deliveries(handler)",
        """
        CREATE TABLE cursors(\
        handler INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) STRICT
        """,
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ]

    /// What SQLite adds by itself.
    private static let additions = ["CREATE TABLE sqlite_sequence(name,seq)"]

    /// Finds out whether a database is a store: it holds exactly what ``statements`` made.
    ///
    /// A view or a trigger would change what is written and read.
    ///
    /// - Returns: Whether it holds anything.
    /// - Throws: ``StoreFailure`` when it holds something else.
    static func check(_ database: Database) throws(StoreFailure) -> Bool {
        let (owner, version, found) = try mapError(StoreFailure.init) { () throws(SQLiteError) in
            (
                try database.integer("PRAGMA application_id") ?? 0, try database.integer("PRAGMA user_version") ?? 0,
                try database.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT 20") { $0.text(0) ?? "" }
            )
        }
        if found.isEmpty && owner == 0 { return false }
        if version > Self.version { throw .newer(version, path: database.path) }
        guard owner == applicationID, found.sorted() == (statements + additions).sorted() else {
            throw .foreign(
                path: database.path, reason: "it holds other tables, views or triggers than an event store",
                remedy: "it is left alone; remove them, or set another path")
        }
        return true
    }

    /// Makes the tables in an empty file.
    ///
    /// In one transaction, and before the file has a log of its own, so that a header that is not empty is complete.
    static func create(in database: Database, identity: String, lastSequence: UInt64) throws(SQLiteError) {
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try database.execute("PRAGMA synchronous = FULL")
        try database.transaction { () throws(SQLiteError) in
            for statement in statements { try database.execute(statement) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
            for (key, value) in [("identity", identity), ("last_sequence", String(lastSequence))] {
                try database.run("INSERT INTO meta(key, value) VALUES(?, ?)", .text(key), .text(value))
            }
        }
    }
}

/// A store's file, open for change; no other process has it meanwhile.
final class StoreFile {
    let place: FilePlace
    let database: Database
    /// What the numbers of its events belong to.
    let identity: String
    /// The number behind which counting goes on: the highest that an event in it ever had, or a higher one.
    private(set) var lastSequence: UInt64
    /// The row of a delivery has its ticket plus this as its number.
    ///
    /// It is 0 unless tickets were given out before the file could be read.
    var ticketShift: Int64 = 0
    /// What lay in place of the file and of its log when it was opened.
    private let opened: (file: FilePlace.Status?, log: FilePlace.Status?)
    private var handlerNumbers: [String: Int64] = [:]

    /// The highest number of an event: not all readers of JSON agree on higher ones (RFC 8259, section 6).
    static let highestSequence: UInt64 = 1 << 53
    /// The highest number of a delivery that is believed, so that adding to it cannot overflow.
    private static let highestDelivery = Int64(highestSequence)
    /// The longest line of an event, in bytes, with room for the rest of its row.
    private static let longestLine = Database.longestValue - 4096
    /// How long another process may have the file: `binnacle events` has it for milliseconds.
    private static let busyMilliseconds: Int32 = 500
    /// More events than a power cut can lose, which is what was handed on within about a second.
    ///
    /// Others may have seen those events, so their numbers are not used again.
    private static let powerCutMargin: UInt64 = 100_000

    /// Opens a file, and makes it when it is missing.
    ///
    /// - Parameters:
    ///   - settings: Which, and how safely.
    ///   - past: The identity of a file that has to be made, and the number behind which it goes on.
    /// - Throws: ``StoreFailure``; what is not ours is left as it was.
    init(
        _ settings: EventStoreSettings, succeeding past: (identity: String, lastSequence: UInt64)
    ) throws(StoreFailure) {
        if let problem = Database.libraryProblem {
            throw .foreign(
                path: settings.path, reason: "SQLite cannot be loaded: \(problem)",
                remedy: "install it (Debian: libsqlite3-0) and restart")
        }
        place = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace(settings.path) }
        let place = place
        if try place.examine() {
            try StoreFile.examineContents(place)
            // SQLite would open a file that it cannot write to for reading.
            try mapError(StoreFailure.system) { () throws(SystemError) in try place.checkWriting() }
        } else {
            try mapError(StoreFailure.system) { () throws(SystemError) in try place.create() }
        }
        let database = try StoreFile.connect(to: place)
        self.database = database
        let isNew = try !StoreSchema.check(database)
        (identity, lastSequence) = try mapError(StoreFailure.init) { () throws(SQLiteError) in
            if isNew { try StoreSchema.create(in: database, identity: past.identity, lastSequence: past.lastSequence) }
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
                throw SQLiteError(
                    extendedCode: SQLiteError.cannotOpen, operation: "PRAGMA journal_mode = WAL",
                    message: "the file system does not allow it", path: database.path)
            }
            try database.execute("PRAGMA synchronous = \(settings.synchronous.rawValue)")
            return try StoreFile.begin(database, settings.synchronous)
        }
        opened = (try? place.status, try? FilePlace.status(place.log))
    }

    // MARK: - Opening

    /// Examines the contents of a file without leaving a trace, when it has no log that is a part of them.
    ///
    /// Otherwise only opening it tells, which may leave an empty log beside a file that is not ours.
    private static func examineContents(_ place: FilePlace) throws(StoreFailure) {
        for companion in [place.log, place.path + "-journal"] {
            let status = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace.status(companion) }
            guard status?.size ?? 0 == 0 else { return }
        }
        let database = try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try Database(path: place.path, access: .readImmutable)
        }
        _ = try StoreSchema.check(database)
    }

    /// Connects to a file that exists.
    ///
    /// In the locking mode EXCLUSIVE a second daemon does not get the file, and the log has no index in a shared file,
    /// which would end this process with SIGBUS if another process cut it.
    static func connect(to place: FilePlace) throws(StoreFailure) -> Database {
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            let database = try Database(path: place.path, access: .change)
            database.setBusyTimeout(milliseconds: busyMilliseconds)
            for pragma in [
                "locking_mode = EXCLUSIVE", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY",
                "secure_delete = OFF", "cache_size = -512",
            ] { try database.execute("PRAGMA \(pragma)") }
            return database
        }
    }

    /// Reads what is needed to go on, and marks the file as running.
    private static func begin(
        _ database: Database, _ synchronous: EventStoreSettings.Synchronous
    ) throws(SQLiteError) -> (identity: String, lastSequence: UInt64) {
        func meta(_ key: String) throws(SQLiteError) -> String? {
            try database.text("SELECT value FROM meta WHERE key = '\(key)'")
        }
        /// Refuses numbers that no store has written, because other numbers are computed from them.
        func check(_ number: Int64?, atLeast least: Int64, _ operation: String) throws(SQLiteError) -> UInt64 {
            let number = number ?? least
            guard number >= least, number <= highestDelivery else {
                throw .strangeNumber("\(number)", operation, path: database.path)
            }
            return UInt64(clamping: number)
        }
        func highest(_ sql: String) throws(SQLiteError) -> UInt64 {
            try check(max(0, database.integer(sql) ?? 0), atLeast: 0, sql)
        }
        let known = try meta("last_sequence").flatMap { UInt64($0) } ?? 0
        var last = try max(
            highest("SELECT max(seq) FROM events"), check(Int64(clamping: known), atLeast: 0, "the last number"))
        _ = try highest("SELECT max(seq) FROM sqlite_sequence")
        _ = try highest("SELECT max(id) FROM deliveries")
        let lowest = "SELECT min(id) FROM deliveries"
        _ = try check(database.integer(lowest), atLeast: 1, lowest)
        let mark = runningMark(synchronous)
        // With NORMAL, a power cut may have taken what was committed and known to others.
        if let before = try meta("running"), before.hasPrefix("normal "), before != runningMark(.normal) {
            last = min(last + powerCutMargin, highestSequence)
        }
        let identity = try meta("identity") ?? randomIdentity()
        try database.transaction { () throws(SQLiteError) in
            for (key, value) in [("identity", identity), ("last_sequence", String(last)), ("running", mark)] {
                try setMeta(key, value, in: database)
            }
        }
        return (identity, last)
    }

    /// Names the start of the machine to which a run belongs: a file that was opened in another one and not closed has
    /// seen a power cut, or something like it.
    private static func runningMark(_ synchronous: EventStoreSettings.Synchronous) -> String {
        let boot = SmallFile.kernelText("/proc/sys/kernel/random/boot_id") ?? ""
        // Without it every end without a closing counts as a power cut.
        return "\(synchronous.rawValue) \(boot.isEmpty ? randomIdentity() : boot)"
    }

    /// 128 random bits in hexadecimal.
    static func randomIdentity() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    // MARK: - The file as a whole

    /// Where the file is that is open here.
    enum Whereabouts {
        /// In its place, with its log.
        case inPlace
        /// In its place; the log is gone or another one.
        case logGone
        /// Removed, or elsewhere.
        case gone
    }

    /// Where the file is: SQLite goes on writing to a file that was removed, until the process ends.
    var whereabouts: Whereabouts {
        guard let file = try? place.status, file.isSameFile(as: opened.file) else { return .gone }
        guard let log = try? FilePlace.status(place.log) else { return opened.log == nil ? .inPlace : .logGone }
        return log.isSameFile(as: opened.log) ? .inPlace : .logGone
    }

    /// Sets how safely commits are made.
    ///
    /// NORMAL: a commit survives the end of this process; the disk has it a second later, and a power cut costs what is
    /// newer than that. FULL: each commit waits until the disk has it.
    func setSynchronous(_ synchronous: EventStoreSettings.Synchronous) throws(SQLiteError) {
        try database.execute("PRAGMA synchronous = \(synchronous.rawValue)")
        try Self.setMeta("running", Self.runningMark(synchronous), in: database)
    }

    /// Merges the log into the file, and marks it as closed, so that nothing but the file is left.
    func prepareToClose() throws(SQLiteError) {
        try Self.setMeta("running", "", in: database)
        try database.checkpoint(truncates: true)
        database.mergesAtEnd = true
    }

    /// Does something as a whole or not at all.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        do throws(SQLiteError) {
            return try database.transaction(body)
        } catch {
            // A handler may have got its number within the transaction.
            handlerNumbers = [:]
            throw error
        }
    }

    private static func setMeta(_ key: String, _ value: String, in database: Database) throws(SQLiteError) {
        try database.run("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", .text(key), .text(value))
    }

    /// The bytes of the pages in use; free pages are used again, and given back to the disk bit by bit.
    func usedBytes() throws(SQLiteError) -> Int64 {
        try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// Gives free pages at the file's end back to the disk, when they are too many to be used again soon.
    ///
    /// - Returns: Whether there may be more of them.
    func giveBack() throws(SQLiteError) -> Bool {
        let (free, all) = try (pragma("freelist_count"), pragma("page_count"))
        guard free > max(256, all / 4) else { return false }
        try database.execute("PRAGMA incremental_vacuum(128)")
        return try pragma("freelist_count") < free
    }

    private func pragma(_ name: String) throws(SQLiteError) -> Int64 { try database.integer("PRAGMA \(name)") ?? 0 }

    // MARK: - Events

    /// Appends an event, within a transaction; afterwards ``didStore(through:)`` has to be called.
    ///
    /// - Returns: Whether it is in the file now: not when its number may have been another event's, or is too high.
    func append(_ published: PublishedEvent) throws(SQLiteError) -> Bool {
        let event = published.event
        guard event.sequence > lastSequence, event.sequence <= Self.highestSequence,
            published.json.utf8.count <= Self.longestLine
        else { return false }
        return try database.run(
            "INSERT INTO events(seq, kind, sensor, wall_ns, body) VALUES(?, ?, ?, ?, ?) ON CONFLICT(seq) DO NOTHING",
            .integer(Int64(event.sequence)), .text(event.kind.rawValue), .text(optional: event.sensor),
            .integer(optional: event.wallNanoseconds), .text(published.json)) > 0
    }

    /// Notes the highest number of the events that were stored.
    func didStore(through sequence: UInt64) {
        lastSequence = max(lastSequence, sequence)
    }

    /// Skips numbers that were given to events which are in no file, within a transaction.
    func skip(through sequence: UInt64) throws(SQLiteError) {
        lastSequence = max(lastSequence, min(sequence, Self.highestSequence))
        try Self.setMeta("last_sequence", String(lastSequence), in: database)
    }

    /// When the oldest and the newest event happened, by the wall clock.
    func endTimes() throws(SQLiteError) -> (oldest: Int64?, newest: Int64?) {
        try (
            database.integer("SELECT wall_ns FROM events ORDER BY seq LIMIT 1"),
            database.integer("SELECT wall_ns FROM events ORDER BY seq DESC LIMIT 1")
        )
    }

    /// The numbers and times of the oldest events behind a number.
    func oldestEvents(behind sequence: Int64, limit: Int) throws(SQLiteError) -> [(sequence: Int64, wall: Int64?)] {
        try database.rows(
            "SELECT seq, wall_ns FROM events WHERE seq > ? ORDER BY seq LIMIT ?", .integer(sequence),
            .integer(Int64(limit))
        ) { row in row.integer(0).map { ($0, row.integer(1)) } }
    }

    /// Removes the oldest events; the last number stays known.
    ///
    /// - Returns: How many were removed.
    func removeOldestEvents(_ count: Int) throws(SQLiteError) -> Int {
        try transaction { () throws(SQLiteError) in
            try skip(through: lastSequence)
            return try database.run(
                "DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)", .integer(Int64(count)))
        }
    }

    /// Removes the events in a range of numbers that happened before a time.
    ///
    /// - Returns: How many were removed.
    func removeEvents(behind first: Int64, through last: Int64, before wall: Int64) throws(SQLiteError) -> Int {
        try transaction { () throws(SQLiteError) in
            try skip(through: lastSequence)
            return try database.run(
                "DELETE FROM events WHERE seq > ? AND seq <= ? AND wall_ns < ?", .integer(first), .integer(last),
                .integer(wall))
        }
    }

    // MARK: - Deliveries

    /// A delivery for one handler.
    struct StoredDelivery {
        let ticket: Int64
        /// Its event; `nil` when the row cannot be read.
        let event: Event?
    }

    /// The handlers that ever had deliveries, with what waits for them.
    func handlers() throws(SQLiteError) -> [(name: String, position: Int64, deliveryCount: Int)] {
        try database.rows(
            """
            SELECT name, position, (SELECT count(*) FROM deliveries WHERE deliveries.handler = cursors.handler) \
            FROM cursors
            """
        ) { row in
            guard let name = row.text(0), let position = row.integer(1) else { return nil }
            return (name, min(max(0, position), Self.highestDelivery) - ticketShift, Int(row.integer(2) ?? 0))
        }
    }

    /// The number of a handler, which it gets when it has none.
    private func number(of handler: String) throws(SQLiteError) -> Int64 {
        if let number = handlerNumbers[handler] { return number }
        let selection = "SELECT handler FROM cursors WHERE name = ?"
        var number = try database.integer(selection, .text(handler))
        if number == nil {
            try database.run("INSERT INTO cursors(name, position) VALUES(?, 0)", .text(handler))
            number = try database.integer(selection, .text(handler))
        }
        handlerNumbers[handler] = number
        return number ?? 0
    }

    /// The highest row that a delivery ever had.
    func lastDelivery() throws(SQLiteError) -> Int64 {
        // The sequence knows it also when nothing waits any more; its value may be of any type.
        try max(
            database.integer("SELECT max(id) FROM deliveries") ?? 0,
            database.integer("SELECT max(seq) FROM sqlite_sequence") ?? 0)
    }

    /// The ticket of a row.
    ///
    /// - Throws: ``SQLiteError`` when it cannot be a delivery's row: the file is damaged.
    private func ticket(_ row: Int64) throws(SQLiteError) -> Int64 {
        guard (1...Self.highestDelivery).contains(row) else {
            throw .strangeNumber("\(row)", "read deliveries", path: database.path)
        }
        return row - ticketShift
    }

    /// Whether there is a delivery with a ticket.
    func holdsDelivery(_ ticket: Int64) throws(SQLiteError) -> Bool {
        try database.integer("SELECT 1 FROM deliveries WHERE id = ?", .integer(ticket + ticketShift)) != nil
    }

    /// Adds a delivery, within a transaction.
    func insert(_ ticket: Int64, for handler: String, _ published: PublishedEvent) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO deliveries(id, handler, wall_ns, body) VALUES(?, ?, ?, ?)",
            .integer(ticket + ticketShift), .integer(number(of: handler)),
            .integer(optional: published.event.wallNanoseconds), .text(published.json))
    }

    /// Removes a delivery.
    func removeDelivery(_ ticket: Int64) throws(SQLiteError) {
        try database.run("DELETE FROM deliveries WHERE id = ?", .integer(ticket + ticketShift))
    }

    /// Sets the ticket up to which a handler is done with everything.
    func setPosition(_ ticket: Int64, of handler: String) throws(SQLiteError) {
        try database.run(
            "UPDATE cursors SET position = ? WHERE handler = ?", .integer(ticket + ticketShift),
            .integer(number(of: handler)))
    }

    /// Reads deliveries of a handler behind a ticket, in their order.
    func deliveries(for handler: String, behind ticket: Int64?, limit: Int) throws(SQLiteError) -> [StoredDelivery] {
        try database.rows(
            "SELECT id, body FROM deliveries WHERE handler = ? AND id > ? ORDER BY id LIMIT ?",
            .integer(number(of: handler)), .integer(ticket.map { $0 + ticketShift } ?? .min), .integer(Int64(limit))
        ) { row throws(SQLiteError) in
            guard let id = row.integer(0) else { return nil }
            return StoredDelivery(
                ticket: try self.ticket(id), event: row.text(1).flatMap { try? Event(json: $0) })
        }
    }

    /// The oldest deliveries, with their handlers and times.
    ///
    /// - Parameters:
    ///   - handler: Of this handler alone; `nil` is all.
    ///   - limit: The most.
    /// - Returns: The deliveries.
    /// - Throws: ``SQLiteError``.
    func oldestDeliveries(
        of handler: String? = nil, limit: Int
    ) throws(SQLiteError) -> [(ticket: Int64, handler: String, wall: Int64?)] {
        // CROSS JOIN keeps the order of the tables, so that no more rows are read than are asked for.
        let condition = handler == nil ? "?1 IS NULL" : "deliveries.handler = ?1"
        return try database.rows(
            """
            SELECT id, name, wall_ns FROM deliveries CROSS JOIN cursors ON cursors.handler = deliveries.handler \
            WHERE \(condition) ORDER BY id LIMIT ?2
            """,
            handler.map { name throws(SQLiteError) in .integer(try number(of: name)) } ?? .null,
            .integer(Int64(limit))
        ) { row throws(SQLiteError) in
            guard let id = row.integer(0), let name = row.text(1) else { return nil }
            return (try self.ticket(id), name, row.integer(2))
        }
    }
}

/// Reading the events of a store.
extension Database {
    /// The most rows that are looked through for one page, so that the other readers do not wait long.
    private static let rowsPerPage = 2048

    /// Reads a page of events.
    ///
    /// - Returns: The page, and how many rows in it were no events, which it leaves out.
    func page(_ query: EventQuery) throws(SQLiteError) -> (page: EventPage, unreadableCount: Int) {
        func number(_ sql: String) throws(SQLiteError) -> UInt64 { UInt64(clamping: try integer(sql) ?? 0) }
        let last = try number("SELECT max(seq) FROM events")
        var page = EventPage(through: query.after, first: try number("SELECT min(seq) FROM events"))
        var (rowCount, unreadableCount) = (0, 0)
        let limit = max(1, query.limit)
        try each(
            """
            SELECT seq, kind, sensor, wall_ns, body, json_valid(body) FROM events \
            WHERE seq > ? ORDER BY seq LIMIT ?
            """, [.integer(Int64(clamping: query.after)), .integer(Int64(Self.rowsPerPage))]
        ) { row in
            rowCount += 1
            guard let sequence = row.integer(0).flatMap({ UInt64(exactly: $0) }) else { return true }
            page.through = sequence
            guard Self.isAsked(row, by: query) else { return true }
            if let json = row.text(4), row.integer(5) == 1, Self.isEvent(json, sequence, row.text(1)) {
                page.lines.append(EventLine(sequence: sequence, json: json))
            } else {
                unreadableCount += 1
            }
            return page.lines.count < limit
        }
        page.isLast = page.through >= last || (rowCount < Self.rowsPerPage && page.lines.count < limit)
        return (page, unreadableCount)
    }

    /// Whether a line of JSON begins as the line of an event does, and is one line.
    private static func isEvent(_ json: String, _ sequence: UInt64, _ kind: String?) -> Bool {
        json.hasPrefix("{\"seq\":\(sequence),\"kind\":\"\(kind ?? "")\"") && !json.utf8.contains(UInt8(ascii: "\n"))
    }

    private static func isAsked(_ row: Row, by query: EventQuery) -> Bool {
        if let since = query.sinceNanoseconds {
            guard let wall = row.integer(3), wall >= since else { return false }
        }
        if let kinds = query.filter.kinds {
            guard let kind = row.text(1).flatMap(EventKind.init(rawValue:)), kinds.contains(kind) else { return false }
        }
        guard let sensors = query.filter.sensors else { return true }
        return row.text(2).map(sensors.contains) ?? false
    }
}
