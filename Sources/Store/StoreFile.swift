import Binnacle
import CSQLite
import Glibc
import LinuxSystem

/// A store's file, open for change; no other process has it meanwhile.
final class StoreFile {
    let place: FilePlace
    let database: Database
    /// Identifies the store that its sequence numbers belong to.
    let identity: String
    /// The highest sequence number that an event in it may have had; new ones are higher.
    private(set) var lastSequence: UInt64
    /// The highest sequence number that may be used before the file has to be written again: the next run continues
    /// behind it when this one does not end properly.
    private(set) var reservedSequence: UInt64 = 0
    /// Sequence numbers that were reserved and are in no event, as far as the file knows, in their order.
    private(set) var gaps: [ClosedRange<UInt64>]
    /// What was wrong with the file's own notes and was repaired, for people; `nil` when nothing was.
    let repair: String?
    /// Whether an event's number was in the file already, since ``raiseSequence()`` was called.
    private(set) var hasRefused = false
    /// A delivery's row number minus its ticket: 0, unless tickets were issued before the file could be read.
    var ticketShift: Int64 = 0
    /// The file and its log as they were when they were opened.
    private var opened: (file: stat?, log: stat?) = (nil, nil)
    private var handlerNumbers: [String: Int64] = [:]
    /// A reservation of the transaction under way.
    private var pendingReservation: UInt64?
    /// Keeps other daemons away from the file.
    private var lock: Descriptor?

    /// Maximum sequence number: not all readers of JSON agree on higher integers (RFC 8259, section 6).
    static let highestSequence: UInt64 = 1 << 53
    /// Maximum row number of a delivery, so that adding to it cannot overflow.
    static let highestDelivery = Int64(highestSequence)
    /// Maximum length of an event's line in bytes; the rest of a row needs room, too.
    private static let longestLine = Database.longestValue - 4096
    /// More events than are handed on between two syncs of the log.
    ///
    /// A power cut loses them, but other programs may know them, so their numbers are not used again.
    static let powerCutMargin: UInt64 = 100_000
    /// How many sequence numbers are reserved at a time; twice as many events as wait for the store can use up half of
    /// them.
    static let reservation: UInt64 = 4 * UInt64(EventStore.capacity)
    static let mostGaps = 256

    /// Opens a file, and makes it when it is missing; one that is no store is left as it was.
    ///
    /// A new file gets the identity and the last sequence number of `past`; a file of this identity was opened by this run
    /// before.
    init(
        _ settings: EventStoreSettings, succeeding past: (identity: String, lastSequence: UInt64)
    ) throws(StoreFailure) {
        if let problem = Database.libraryProblem {
            throw .foreign(
                path: settings.path, reason: "SQLite cannot be loaded: \(problem)",
                remedy: "install it (Debian: libsqlite3-0) and restart")
        }
        place = try FilePlace(settings.path)
        lock = try place.lock()
        if try place.examine() {
            try StoreFile.examineContents(place)
            // SQLite would open a file that it cannot write to for reading.
            try FilePlace.checkWriting(place.path)
        } else {
            try place.create()
            lock = try place.lock()
        }
        database = try StoreFile.connect(to: place)
        if try !StoreSchema.check(database) {
            try StoreSchema.create(in: database, identity: past.identity, lastSequence: past.lastSequence)
        }
        guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreFailure(
                SQLiteError(
                    SQLITE_CANTOPEN, "PRAGMA journal_mode = WAL", "the file system does not allow it",
                    path: database.path))
        }
        let notes = try StoreNotes(database, knownIdentity: past.identity)
        (identity, lastSequence, gaps, repair) = (notes.identity, notes.lastSequence, notes.gaps, notes.repair)
        try configure(settings)
        // The reservation must not be lost with the log; on a full disk it stays in the log.
        try? mergeLog(truncates: false)
        opened = (try? FilePlace.status(place.path), try? FilePlace.status(place.log))
    }

    // MARK: - Opening

    /// Examines the tables of a file that has no log, without leaving a log beside a file that is no store.
    private static func examineContents(_ place: FilePlace) throws(StoreFailure) {
        for companion in [place.log, place.path + "-journal"] {
            guard try FilePlace.size(companion) == 0 else { return }
        }
        _ = try StoreSchema.check(try Database(path: place.path, access: .readImmutable))
    }

    /// Connects to a file that exists.
    ///
    /// In the locking mode EXCLUSIVE a second daemon does not get the file, and the log has no index in a shared file,
    /// which would end this process with SIGBUS if another process cut it. `binnacle events` locks the file for
    /// milliseconds.
    static func connect(to place: FilePlace) throws(StoreFailure) -> Database {
        let database = try Database(path: place.path, access: .change)
        for pragma in [
            "busy_timeout = 500", "locking_mode = EXCLUSIVE", "cell_size_check = ON", "mmap_size = 0",
            "temp_store = MEMORY", "secure_delete = OFF", "cache_size = -512",
        ] { try database.execute("PRAGMA \(pragma)") }
        return database
    }

    /// Identifies the boot of the machine to which a run belongs: a file that was opened in another one and not closed
    /// has seen a power cut, or something like it.
    static func runningMark(_ synchronous: EventStoreSettings.Synchronous) -> String {
        let boot = SmallFile.kernelText("/proc/sys/kernel/random/boot_id") ?? ""
        // Without it every end without closing counts as a power cut.
        return "\(synchronous.rawValue) \(boot.isEmpty ? randomIdentity() : boot)"
    }

    static func randomIdentity() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Connects to a file and its log, if it has one, which no other process uses, to read them.
    ///
    /// The log of a daemon that was killed is read with the file, which takes the right to write, because its index has to
    /// be put together. Without a log the file is complete: a daemon that starts meanwhile writes into its log first.
    static func connectForReading(to place: FilePlace) throws(StoreFailure) -> Database {
        guard try FilePlace.size(place.log) > 0 else { return try Database(path: place.path, access: .readImmutable) }
        return try connect(to: place)
    }

    // MARK: - The file as a whole

    enum Whereabouts {
        /// In its place, with its log.
        case inPlace
        /// In its place; the log was removed or replaced.
        case logGone
        /// Removed or renamed.
        case removed
        /// Removed or renamed; another file is in its place.
        case replaced
    }

    /// Where the open file is: SQLite goes on writing to a file that was removed, until the process ends.
    var whereabouts: Whereabouts {
        guard let file = try? FilePlace.status(place.path) else { return .removed }
        guard file.isSameFile(as: opened.file) else { return .replaced }
        guard let log = try? FilePlace.status(place.log) else { return opened.log == nil ? .inPlace : .logGone }
        return log.isSameFile(as: opened.log) ? .inPlace : .logGone
    }

    /// Sets how safely commits are made, how long the log gets, and marks the file as open.
    ///
    /// With NORMAL a commit survives the end of this process; the disk has it a second later, and a power cut costs what
    /// is newer than that. With FULL each commit waits until the disk has it.
    func configure(_ settings: EventStoreSettings) throws(StoreFailure) {
        try database.execute("PRAGMA synchronous = \(settings.synchronous.rawValue)")
        // Each commit writes all pages that it touches into the log, and many of them are one page of the file, so that
        // merging rarely is less work.
        try database.execute("PRAGMA wal_autocheckpoint = \(settings.logBytes / 4096)")
        try database.execute("PRAGMA journal_size_limit = \(settings.logBytes)")
        try transaction { () throws(StoreFailure) in
            try setMeta("identity", identity)
            try setMeta("last_sequence", String(lastSequence))
            try setMeta("running", Self.runningMark(settings.synchronous))
            try setMeta("gaps", StoreNotes.text(of: gaps))
            try reserve(behind: lastSequence)
        }
    }

    /// Merges the log into the file, and cuts it to nothing if `truncates` is true.
    func mergeLog(truncates: Bool = true) throws(StoreFailure) {
        try database.execute("PRAGMA wal_checkpoint(\(truncates ? "TRUNCATE" : "PASSIVE"))")
    }

    /// Writes a copy of the file, which is open and was removed, to its path.
    func copyBack() throws(StoreFailure) {
        // A log that was not removed is a part of the copy, and must not be read with it.
        try FilePlace.remove(place.log)
        try place.create()
        do throws(StoreFailure) {
            try database.run("VACUUM INTO ?", .text(place.path))
        } catch {
            try FilePlace.remove(place.path)
            throw error
        }
    }

    /// Marks the file as closed, and has its connection merge and remove the log when it is closed.
    ///
    /// What is reserved behind `sequence`, the highest of any event so far, is given back.
    func prepareToClose(behind sequence: UInt64) throws(StoreFailure) {
        try transaction { () throws(StoreFailure) in
            try skip(through: sequence)
            try setMeta("running", "")
            try database.run("DELETE FROM meta WHERE key = ?", .text(StoreNotes.reservedKey))
        }
        try mergeLog()
        database.mergeLogOnClose()
    }

    /// Closes the connection, and then lets other daemons have the file.
    func close() {
        database.close()
        // Closing any descriptor of a file gives up the locks of SQLite, which needs them no more.
        lock = nil
    }

    /// Runs a transaction: all of it is committed, or none.
    func transaction<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        defer { pendingReservation = nil }
        do throws(StoreFailure) {
            let result = try database.transaction(body)
            reservedSequence = pendingReservation ?? reservedSequence
            return result
        } catch {
            // A handler may have got its number within the transaction.
            handlerNumbers = [:]
            throw error
        }
    }

    private func setMeta(_ key: String, _ value: String) throws(StoreFailure) {
        try database.run("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", .text(key), .text(value))
    }

    /// The bytes of the pages in use; free pages are used again, and given back to the disk step by step.
    func usedBytes() throws(StoreFailure) -> Int64 {
        try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// Gives free pages at the file's end back to the disk, when they are too many to be used again soon.
    ///
    /// Returns whether there may be more of them.
    func giveBack() throws(StoreFailure) -> Bool {
        let (free, all) = try (pragma("freelist_count"), pragma("page_count"))
        guard free > max(64, all / 16) else { return false }
        try database.execute("PRAGMA incremental_vacuum(128)")
        return try pragma("freelist_count") < free
    }

    private func pragma(_ name: String) throws(StoreFailure) -> Int64 { try database.integer("PRAGMA \(name)") ?? 0 }

    // MARK: - Events

    /// Appends an event, within a transaction; ``didStore(through:)`` has to be called after the commit.
    ///
    /// Returns whether it is stored: not when another event may have had its number, or its number is too high.
    func append(_ published: PublishedEvent) throws(StoreFailure) -> Bool {
        let event = published.event
        guard event.sequence > lastSequence, event.sequence <= Self.highestSequence,
            published.json.utf8.count <= Self.longestLine
        else { return false }
        let isStored =
            try database.run(
                "INSERT INTO events(seq, kind, sensor, wall_ns, body) VALUES(?, ?, ?, ?, ?) ON CONFLICT(seq) DO NOTHING",
                .integer(Int64(event.sequence)), .text(event.kind.rawValue), .text(optional: event.sensor),
                .integer(optional: event.wallNanoseconds), .text(published.json)) > 0
        if !isStored { hasRefused = true }
        return isStored
    }

    /// Continues the sequence numbers behind all that are in the file, after it had one that was believed to be free.
    func raiseSequence() throws(StoreFailure) {
        guard hasRefused else { return }
        hasRefused = false
        didStore(through: UInt64(clamping: try database.integer("SELECT max(seq) FROM events") ?? 0))
    }

    /// Reserves sequence numbers behind one, within a transaction, when half of what was reserved is used up.
    func reserve(behind sequence: UInt64) throws(StoreFailure) {
        guard sequence + Self.reservation / 2 > reservedSequence else { return }
        let reserved = min(sequence + Self.reservation, Self.highestSequence)
        try setMeta(StoreNotes.reservedKey, String(reserved))
        pendingReservation = reserved
    }

    /// Notes the highest sequence number that was committed.
    func didStore(through sequence: UInt64) {
        lastSequence = max(lastSequence, sequence)
    }

    /// Records the last sequence number, also when its event is in no file, within a transaction.
    func skip(through sequence: UInt64) throws(StoreFailure) {
        didStore(through: min(sequence, Self.highestSequence))
        try setMeta("last_sequence", String(lastSequence))
        try reserve(behind: lastSequence)
    }

    /// When the oldest and the newest event happened, by the wall clock.
    func endTimes() throws(StoreFailure) -> (oldest: Int64?, newest: Int64?) {
        try (
            database.integer("SELECT wall_ns FROM events ORDER BY seq LIMIT 1"),
            database.integer("SELECT wall_ns FROM events ORDER BY seq DESC LIMIT 1")
        )
    }

    /// The sequence numbers and times of the oldest events behind a sequence number.
    func oldestEvents(behind sequence: Int64, limit: Int) throws(StoreFailure) -> [(sequence: Int64, wall: Int64?)] {
        try database.rows(
            "SELECT seq, wall_ns FROM events WHERE seq > ? ORDER BY seq LIMIT ?", .integer(sequence),
            .integer(Int64(limit))
        ) { row in row.integer(0).map { ($0, row.integer(1)) } }
    }

    func removeOldestEvents(_ count: Int) throws(StoreFailure) -> Int {
        try removeEvents("seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)", .integer(Int64(count)))
    }

    /// Removes the events in a range of sequence numbers that happened before a time; returns the number of removed ones.
    func removeEvents(behind first: Int64, through last: Int64, before wall: Int64) throws(StoreFailure) -> Int {
        try removeEvents(
            "seq > ?1 AND seq <= ?2 AND wall_ns < ?3", .integer(first), .integer(last), .integer(wall))
    }

    private func removeEvents(_ condition: String, _ values: Database.Value...) throws(StoreFailure) -> Int {
        try transaction { () throws(StoreFailure) in
            // The last number outlives its event.
            try skip(through: lastSequence)
            return try database.run("DELETE FROM events WHERE " + condition, values)
        }
    }

    // MARK: - Deliveries

    struct StoredDelivery {
        let ticket: Int64
        /// Its event; `nil` when the row cannot be read.
        let event: Event?
    }

    /// The handlers that ever had deliveries, with the number of rows for each.
    func handlers() throws(StoreFailure) -> [(name: String, position: Int64, deliveryCount: Int)] {
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
    private func number(of handler: String) throws(StoreFailure) -> Int64 {
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

    /// The highest row number that a delivery ever had.
    func lastDelivery() throws(StoreFailure) -> Int64 {
        // The sequence knows it also when no row is left; its value may be of any type.
        try max(
            database.integer("SELECT max(id) FROM deliveries") ?? 0,
            database.integer("SELECT max(seq) FROM sqlite_sequence") ?? 0)
    }

    private func ticket(_ row: Int64) throws(StoreFailure) -> Int64 {
        guard (1...Self.highestDelivery).contains(row) else {
            throw .strangeNumber(row, "read deliveries", path: database.path)
        }
        return row - ticketShift
    }

    func holdsDelivery(_ ticket: Int64) throws(StoreFailure) -> Bool {
        try database.integer("SELECT 1 FROM deliveries WHERE id = ?", .integer(ticket + ticketShift)) != nil
    }

    func insert(_ ticket: Int64, for handler: String, _ published: PublishedEvent) throws(StoreFailure) {
        try database.run(
            "INSERT OR REPLACE INTO deliveries(id, handler, wall_ns, body) VALUES(?, ?, ?, ?)",
            .integer(ticket + ticketShift), .integer(number(of: handler)),
            .integer(optional: published.event.wallNanoseconds), .text(published.json))
    }

    func removeDelivery(_ ticket: Int64) throws(StoreFailure) {
        try database.run("DELETE FROM deliveries WHERE id = ?", .integer(ticket + ticketShift))
    }

    /// Sets a handler's cursor: the ticket up to which everything is acknowledged.
    func setPosition(_ ticket: Int64, of handler: String) throws(StoreFailure) {
        try database.run(
            "UPDATE cursors SET position = ? WHERE handler = ?", .integer(ticket + ticketShift),
            .integer(number(of: handler)))
    }

    /// Notes the newest event that a handler has acknowledged.
    func setPrevious(_ number: EventNumber, of handler: String) throws(StoreFailure) {
        try setMeta(Self.previousKey + handler, "\(number.sequence) \(number.identity ?? "")")
    }

    /// The newest event that a handler has acknowledged; `nil` when none is noted.
    func previous(of handler: String) throws(StoreFailure) -> EventNumber? {
        let words = (try database.value(Self.previousKey + handler) ?? "").split(separator: " ")
        guard let number = words.first.flatMap({ UInt64($0) }) else { return nil }
        return EventNumber(number, of: words.dropFirst().first.map(String.init))
    }

    /// What stands before a handler's name in the key of its note.
    private static let previousKey = "previous "

    /// Reads deliveries of a handler behind a ticket, in their order.
    func deliveries(for handler: String, behind ticket: Int64?, limit: Int) throws(StoreFailure) -> [StoredDelivery] {
        try database.rows(
            "SELECT id, body FROM deliveries WHERE handler = ? AND id > ? ORDER BY id LIMIT ?",
            .integer(number(of: handler)), .integer(ticket.map { $0 + ticketShift } ?? .min), .integer(Int64(limit))
        ) { row throws(StoreFailure) in
            guard let id = row.integer(0) else { return nil }
            var event = row.text(1).flatMap { try? Event(json: $0) }
            // Versions before this one stored events without it.
            if event?.identity == nil { event?.identity = self.identity }
            return StoredDelivery(ticket: try self.ticket(id), event: event)
        }
    }

    /// The oldest deliveries of a handler, or of all handlers, with their times.
    func oldestDeliveries(
        of handler: String? = nil, limit: Int
    ) throws(StoreFailure) -> [(ticket: Int64, handler: String, wall: Int64?)] {
        // CROSS JOIN keeps the order of the tables, so that no more rows are read than are asked for.
        let condition = handler == nil ? "?1 IS NULL" : "deliveries.handler = ?1"
        return try database.rows(
            """
            SELECT id, name, wall_ns FROM deliveries CROSS JOIN cursors ON cursors.handler = deliveries.handler \
            WHERE \(condition) ORDER BY id LIMIT ?2
            """,
            handler.map { name throws(StoreFailure) in .integer(try number(of: name)) } ?? .null,
            .integer(Int64(limit))
        ) { row throws(StoreFailure) in
            guard let id = row.integer(0), let name = row.text(1) else { return nil }
            return (try self.ticket(id), name, row.integer(2))
        }
    }
}
