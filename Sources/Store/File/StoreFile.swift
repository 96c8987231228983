import Binnacle
import LinuxSystem

/// A store's file, open for change; no other process has it meanwhile.
final class StoreFile {
    /// Where it lies.
    let place: FilePlace
    /// The connection.
    let database: Database
    /// What the numbers of its events belong to.
    let identity: String
    /// The number behind which counting goes on: the highest that an event in it ever had, or one that is surely higher.
    private(set) var lastSequence: UInt64
    private let identities: FilePlace.Identities
    private var statements: [String: Statement] = [:]

    /// The highest number of an event: not all readers of JSON agree on what is higher (RFC 8259, section 6).
    static let highestSequence: UInt64 = 1 << 53
    /// The longest line of an event, in bytes, with room for the rest of its row.
    static let longestLine = Database.longestValue - 4096

    /// What is known of a file that another one takes the place of.
    struct Past {
        /// What the numbers of its events belonged to; `nil` when its last number is not known.
        var identity: String?
        /// Its last number.
        var lastSequence: UInt64 = 0
    }

    /// Opens a file, and makes it when it is missing.
    ///
    /// - Parameters:
    ///   - settings: Which, and how safely.
    ///   - past: What a file that is made goes on with, in place of one that was lost.
    /// - Throws: ``StoreFailure``; what is not ours is left as it was.
    init(
        _ settings: EventStoreSettings, succeeding past: Past = Past()
    ) throws(StoreFailure) {
        if let problem = Database.libraryProblem {
            throw .foreign(
                path: settings.path, reason: "SQLite cannot be loaded: \(problem)",
                remedy: "install it (Debian: libsqlite3-0) and restart")
        }
        place = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace(settings.path) }
        let place = place
        if try StoreFile.inspect(place) {
            try StoreFile.inspectContents(place)
            // SQLite would open it for reading, and find no words for what it cannot do then.
            try mapError(StoreFailure.system) { () throws(SystemError) in try place.checkWriting() }
        } else {
            try mapError(StoreFailure.system) { () throws(SystemError) in try place.create() }
        }
        database = try StoreFile.connect(to: place)
        let contents = try StoreFile.contents(of: database, synchronous: settings.synchronous, succeeding: past)
        identity = contents.identity
        lastSequence = contents.lastSequence
        identities = place.identities
    }

    /// Where the file is that is open here.
    enum Whereabouts {
        /// In its place, with its log.
        case inPlace
        /// In its place; the log is gone or another one.
        case logGone
        /// Removed, or elsewhere.
        case gone
    }

    /// Where the file is: one that was removed or replaced is lost with the end of this process, and nothing of SQLite says
    /// so.
    var whereabouts: Whereabouts {
        let now = place.identities
        if now == identities { return .inPlace }
        return now.file == identities.file ? .logGone : .gone
    }

    /// Sets how safely commits are made.
    ///
    /// NORMAL: a commit is in the kernel's hands, so that it survives the end of this process; the disk has it a second later,
    /// and a power cut costs what is newer than that. FULL: each commit waits until the disk has it.
    func setSynchronous(_ synchronous: EventStoreSettings.Synchronous) throws(SQLiteError) {
        try database.execute("PRAGMA synchronous = \(synchronous.rawValue)")
        try setMeta("running", StoreFile.running(synchronous))
    }

    /// Has the end leave nothing but the file itself: what is in the log is merged, and it is said that all is well.
    func prepareToClose() throws(SQLiteError) {
        try setMeta("running", "")
        try database.checkpoint(truncates: true)
        database.mergesAtEnd = true
    }

    /// Closes the file, whoever still holds this object.
    func close() {
        statements = [:]
        database.close()
    }

    /// How many pages the log gets before it is merged into the file, which holds up the store.
    ///
    /// Each commit writes all the pages that it touches into the log, and in the file many of them are one: a long log is less
    /// work. It may be an eighth of what the file may be, between 1 MB and 16 MB.
    static func logLength(for settings: EventStoreSettings) -> Int {
        Int(min(max(settings.keepMegabytes * 1e6 / 4096 / 8, 256), 4096))
    }

    // MARK: - Statements

    /// A statement, prepared when it is first used.
    func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, on: database)
        statements[sql] = statement
        return statement
    }

    /// Writes something down that is no event.
    func setMeta(_ key: String, _ value: String) throws(SQLiteError) {
        try statement("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)").run(.text(key), .text(value))
    }

    // MARK: - Appending

    /// Appends an event, within a transaction.
    ///
    /// - Returns: Whether it is in the file now: not when there is one of its number, or when it has none that fits.
    func append(_ published: PublishedEvent) throws(SQLiteError) -> Bool {
        let event = published.event
        guard event.sequence <= Self.highestSequence, published.json.utf8.count <= Self.longestLine else {
            return false
        }
        let insertion = try statement(
            "INSERT INTO events(seq, kind, sensor, wall_ns, body) VALUES(?, ?, ?, ?, ?) ON CONFLICT(seq) DO NOTHING")
        let count = try insertion.run(
            .integer(Int64(event.sequence)), .text(event.kind.rawValue), .text(optional: event.sensor),
            .integer(optional: event.wallNanoseconds), .text(published.json))
        lastSequence = max(lastSequence, event.sequence)
        return count > 0
    }

    /// How many bytes the file's pages have that are in use.
    ///
    /// What is free within the file is not counted: it is used again, and given back to the disk bit by bit.
    func usedBytes() throws(SQLiteError) -> Int64 {
        let size = try pragma("page_size")
        return try (pragma("page_count") - pragma("freelist_count")) * size
    }

    /// Gives free pages at the file's end back to the disk, when there are so many that they will not be used again soon.
    ///
    /// - Returns: Whether there may be more of them.
    func giveBack() throws(SQLiteError) -> Bool {
        let (free, all) = try (pragma("freelist_count"), pragma("page_count"))
        guard free > max(256, all / 4) else { return false }
        try database.execute("PRAGMA incremental_vacuum(128)")
        return try pragma("freelist_count") < free
    }

    private func pragma(_ name: String) throws(SQLiteError) -> Int64 {
        let pragma = try statement("PRAGMA \(name)")
        defer { pragma.reset() }
        return try pragma.step() ? pragma.integer(0) ?? 0 : 0
    }
}
