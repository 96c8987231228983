import Binnacle
import CSQLite
import Glibc
import LinuxSystem
import PlainText

/// A store's file, open for writing; no other process has it.
final class StoreFile {
    let place: FilePlace
    let database: Database
    /// The identity of the sequence to which its numbers belong.
    let identity: String
    /// The highest sequence number that an event in the file may have; new ones are higher.
    private(set) var lastSequence: UInt64
    /// The highest sequence number that may be used without writing to the file; after an improper end the next run continues
    /// after it.
    private(set) var reservedSequence: UInt64 = 0
    /// Reserved sequence numbers that, as far as the file knows, no event has, in order.
    private(set) var gaps: [ClosedRange<UInt64>]
    /// The repair of the file's own records, for messages; `nil` without one.
    let repair: String?
    /// Whether an event's number was already in the file since the call of ``raiseSequence()``.
    private(set) var hasRefused = false
    /// A delivery's row number minus its ticket: 0, unless tickets were issued before the file could be read.
    var ticketShift: Int64 = 0
    /// The status of the file and its log at opening.
    private var opened: (file: stat?, log: stat?) = (nil, nil)
    private var handlerNumbers: [String: Int64] = [:]
    /// The reservation of the current transaction.
    private var pendingReservation: UInt64?
    /// The locks against other daemons.
    private var locks: [Descriptor] = []

    /// Maximum sequence number: not all readers of JSON agree on higher integers (RFC 8259, section 6).
    static let highestSequence: UInt64 = 1 << 53
    /// Maximum row number of a delivery, so that adding to it cannot overflow.
    static let highestDelivery = Int64(highestSequence)
    /// Maximum length of an event's line in bytes; the margin is for the rest of the row.
    private static let longestLine = Database.longestValue - 4096
    /// More events than are passed on between two syncs of the log.
    ///
    /// A power cut loses them, but other programs may know them, so their numbers are not reused.
    static let powerCutMargin: UInt64 = 100_000
    /// The number of sequence numbers reserved at a time: twice the store's queue uses up half of them.
    static let reservation: UInt64 = 4 * UInt64(EventStore.capacity)
    static let mostGaps = 256

    /// Opens a file, or makes a missing one; a file that is not a store is left unchanged.
    ///
    /// A new file gets the identity and the last sequence number of `past`; a file with this identity was opened earlier in this
    /// run.
    init(
        _ settings: EventStoreSettings, succeeding past: (identity: String, lastSequence: UInt64)
    ) throws(StoreFailure) {
        if let problem = Database.libraryProblem {
            throw .foreign(path: settings.path, reason: problem, remedy: "it is tried again every 30 s")
        }
        place = try FilePlace(settings.path)
        locks = try place.lock()
        if try place.examine() {
            try StoreFile.examineContents(place)
            // SQLite would open a write-protected file for reading.
            try FilePlace.checkWriting(place.path)
        } else {
            try place.create()
            locks = try place.lock()
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

    /// Examines the tables of a file without a log, and leaves no log beside a file that is not a store.
    private static func examineContents(_ place: FilePlace) throws(StoreFailure) {
        for companion in [place.log, place.journal] {
            guard try FilePlace.size(companion) == 0 else { return }
        }
        _ = try StoreSchema.check(try Database(path: place.path, access: .readImmutable))
    }

    /// Connects to an existing file.
    ///
    /// In the locking mode EXCLUSIVE a second daemon cannot open the file, and the index of the log is not in a shared file,
    /// whose truncation by another process would end this process with SIGBUS. `binnacle events` locks the file for milliseconds.
    static func connect(to place: FilePlace) throws(StoreFailure) -> Database {
        let database = try Database(path: place.path, access: .change)
        for pragma in [
            "busy_timeout = 500", "locking_mode = EXCLUSIVE", "cell_size_check = ON", "mmap_size = 0",
            "temp_store = MEMORY", "secure_delete = OFF", "cache_size = -512",
        ] { try database.execute("PRAGMA \(pragma)") }
        return database
    }

    /// Identifies the boot to which a run belongs: a file that another boot opened and did not close has seen a power cut or the
    /// like.
    static func runningMark(_ synchronous: EventStoreSettings.Synchronous) -> String {
        let boot = SmallFile.kernelText("/proc/sys/kernel/random/boot_id") ?? ""
        // Without it every improper end counts as a power cut.
        return "\(synchronous.rawValue) \(boot.isEmpty ? randomIdentity() : boot)"
    }

    static func randomIdentity() -> String {
        (0..<2).map { _ in UInt64.random(in: 0...UInt64.max).hexadecimal }.joined()
    }

    /// Connects, for reading, to a file and its log, which no other process uses; SQLite may recover both in place.
    ///
    /// The log of a killed daemon is read with the file, which requires write permission because its index has to be rebuilt.
    /// Without a log the file is complete: a daemon that starts in the meantime writes to its log first.
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

    /// The state of the open file's path: SQLite continues to write to a file that was removed, until the process ends.
    var whereabouts: Whereabouts {
        guard let file = try? FilePlace.status(place.path) else { return .removed }
        guard file.isSameFile(as: opened.file) else { return .replaced }
        guard let log = try? FilePlace.status(place.log) else { return opened.log == nil ? .inPlace : .logGone }
        return log.isSameFile(as: opened.log) ? .inPlace : .logGone
    }

    /// Sets the safety of commits and the size of the log, and marks the file as open.
    ///
    /// With NORMAL a commit survives the end of this process and is on the disk a second later; a power cut loses newer ones.
    /// With FULL each commit waits for the disk.
    func configure(_ settings: EventStoreSettings) throws(StoreFailure) {
        try database.execute("PRAGMA synchronous = \(settings.synchronous.rawValue)")
        // Each commit writes all pages that it touches to the log, often the same page of the file, so rare merging is less work.
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

    /// Merges the log into the file, and truncates it to nothing if `truncates` is true.
    func mergeLog(truncates: Bool = true) throws(StoreFailure) {
        try database.execute("PRAGMA wal_checkpoint(\(truncates ? "TRUNCATE" : "PASSIVE"))")
    }

    /// Writes a copy of the open file, which was removed, to its path.
    func copyBack() throws(StoreFailure) {
        // A log that was not removed is already included in the copy and must not be read with it.
        try FilePlace.remove(place.log)
        try place.create()
        do throws(StoreFailure) {
            try database.run("VACUUM INTO ?", .text(place.path))
        } catch {
            try FilePlace.remove(place.path)
            throw error
        }
    }

    /// Marks the file as closed; closing the connection then merges and removes the log.
    ///
    /// `sequence` is the highest number used; the rest of the reservation is released.
    func prepareToClose(behind sequence: UInt64) throws(StoreFailure) {
        try transaction { () throws(StoreFailure) in
            try skip(through: sequence)
            try setMeta("running", "")
            try database.run("DELETE FROM meta WHERE key = ?", .text(StoreNotes.reservedKey))
        }
        try mergeLog()
        database.mergeLogOnClose()
    }

    /// Closes the connection, and then releases the locks.
    func close() {
        database.close()
        // Closing any descriptor of a file releases SQLite's locks, which are no longer needed.
        locks = []
    }

    /// Runs a transaction: all of it is committed, or none.
    func transaction<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        defer { pendingReservation = nil }
        do throws(StoreFailure) {
            let result = try database.transaction(body)
            reservedSequence = pendingReservation ?? reservedSequence
            return result
        } catch {
            // The rolled-back transaction may have assigned a number to a handler.
            handlerNumbers = [:]
            throw error
        }
    }

    private func setMeta(_ key: String, _ value: String) throws(StoreFailure) {
        try database.run("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", .text(key), .text(value))
    }

    /// The size of the pages in use, in bytes; free pages are reused, and returned to the disk step by step.
    func usedBytes() throws(StoreFailure) -> Int64 {
        try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// Returns free pages at the file's end to the disk if there are more than will be reused soon.
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
    /// Returns `false` when another event may have the number, or the number is too high.
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

    /// Continues the sequence after all numbers in the file, because it had one that was considered free.
    func raiseSequence() throws(StoreFailure) {
        guard hasRefused else { return }
        hasRefused = false
        didStore(through: UInt64(clamping: try database.integer("SELECT max(seq) FROM events") ?? 0))
    }

    /// Reserves sequence numbers after `sequence`, within a transaction, when half of the reservation is used up.
    func reserve(behind sequence: UInt64) throws(StoreFailure) {
        guard sequence + Self.reservation / 2 > reservedSequence else { return }
        let reserved = min(sequence + Self.reservation, Self.highestSequence)
        try setMeta(StoreNotes.reservedKey, String(reserved))
        pendingReservation = reserved
    }

    func didStore(through sequence: UInt64) {
        lastSequence = max(lastSequence, sequence)
    }

    /// Records the last sequence number, within a transaction, even if its event is in no file.
    func skip(through sequence: UInt64) throws(StoreFailure) {
        didStore(through: min(sequence, Self.highestSequence))
        try setMeta("last_sequence", String(lastSequence))
        try reserve(behind: lastSequence)
    }

    /// The times of the oldest and the newest event by the wall clock.
    func endTimes() throws(StoreFailure) -> (oldest: Int64?, newest: Int64?) {
        try (
            database.integer("SELECT wall_ns FROM events ORDER BY seq LIMIT 1"),
            database.integer("SELECT wall_ns FROM events ORDER BY seq DESC LIMIT 1")
        )
    }

    /// The sequence numbers and times of the oldest events after a sequence number.
    func oldestEvents(behind sequence: Int64, limit: Int) throws(StoreFailure) -> [(sequence: Int64, wall: Int64?)] {
        try database.rows(
            "SELECT seq, wall_ns FROM events WHERE seq > ? ORDER BY seq LIMIT ?", .integer(sequence),
            .integer(Int64(limit))
        ) { row in row.integer(0).map { ($0, row.integer(1)) } }
    }

    func removeOldestEvents(_ count: Int) throws(StoreFailure) -> Int {
        try removeEvents("seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)", .integer(Int64(count)))
    }

    /// Removes the events up to a sequence number; returns how many they were.
    func removeEvents(through last: Int64) throws(StoreFailure) -> Int {
        try removeEvents("seq <= ?", .integer(last))
    }

    private func removeEvents(_ condition: String, _ values: Database.Value...) throws(StoreFailure) -> Int {
        try transaction { () throws(StoreFailure) in
            // The last number is kept after the removal of its event.
            try skip(through: lastSequence)
            return try database.run("DELETE FROM events WHERE " + condition, values)
        }
    }

    // MARK: - Deliveries

    struct StoredDelivery {
        let ticket: Int64
        /// The event; `nil` when the row is unreadable.
        let event: Event?
    }

    /// All handlers that ever had deliveries, with the number of rows of each.
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

    /// The number of a handler, assigned on demand.
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
        // SQLite's sequence also knows it when no row is left; its value may be of any type.
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

    /// Records the newest event that a handler has acknowledged.
    func setPrevious(_ number: EventNumber, of handler: String) throws(StoreFailure) {
        try setMeta(Self.previousKey + handler, "\(number.sequence) \(number.identity ?? "")")
    }

    /// The newest event that a handler has acknowledged; `nil` when none is recorded.
    func previous(of handler: String) throws(StoreFailure) -> EventNumber? {
        let words = (try database.value(Self.previousKey + handler) ?? "").split(separator: " ")
        guard let number = words.first.flatMap({ UInt64($0) }) else { return nil }
        return EventNumber(number, of: words.dropFirst().first.map(String.init))
    }

    /// The prefix of a handler's name in the key of that record.
    private static let previousKey = "previous "

    /// Reads deliveries of a handler after a ticket, in order.
    func deliveries(for handler: String, behind ticket: Int64?, limit: Int) throws(StoreFailure) -> [StoredDelivery] {
        let row = try (Database.Value.integer(number(of: handler)), ticket.map { $0 + ticketShift } ?? .min)
        do throws(StoreFailure) {
            return try database.rows(
                "SELECT id, body FROM deliveries WHERE handler = ? AND id > ? ORDER BY id LIMIT ?",
                row.0, .integer(row.1), .integer(Int64(limit))
            ) { row throws(StoreFailure) in
                guard let id = row.integer(0) else { return nil }
                var event = row.text(1).flatMap { try? Event(json: $0) }
                // Earlier versions stored events without it.
                if event?.identity == nil { event?.identity = self.identity }
                return StoredDelivery(ticket: try self.ticket(id), event: event)
            }
        } catch {
            // SQLite does not give such a row. The rows before it are read one by one.
            guard error.isTooLarge else { throw error }
            guard limit == 1 else { return try deliveries(for: handler, behind: ticket, limit: 1) }
            let id = try database.integer(
                "SELECT min(id) FROM deliveries WHERE handler = ? AND id > ?", row.0, .integer(row.1))
            return try id.map { id throws(StoreFailure) in [StoredDelivery(ticket: try self.ticket(id), event: nil)] }
                ?? []
        }
    }

    /// The oldest deliveries of a handler, or of all handlers, with their times.
    func oldestDeliveries(
        of handler: String? = nil, limit: Int
    ) throws(StoreFailure) -> [(ticket: Int64, handler: String, wall: Int64?)] {
        // CROSS JOIN keeps the order of the tables, so that no more rows are read than requested.
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
