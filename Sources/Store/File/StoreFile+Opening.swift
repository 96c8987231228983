import Binnacle
import Glibc
import LinuxSystem

extension StoreFile {
    /// What a file says when it is opened.
    struct Contents {
        let identity: String
        let lastSequence: UInt64
    }

    /// How long another process may have the file before that is told: `binnacle events` has it for milliseconds.
    private static let patienceMilliseconds: Int32 = 500
    /// Memory for pages, which is held as long as the file is open.
    private static let cacheKilobytes = 512
    /// More events than can get lost with a power cut: what was handed on within about a second.
    ///
    /// Whoever has seen them knows their numbers, so those are not given to others.
    private static let powerCutMargin: UInt64 = 100_000

    // MARK: - Before SQLite

    /// Finds out whether a file may be opened.
    ///
    /// - Returns: Whether there is one.
    static func inspect(_ place: FilePlace) throws(StoreFailure) -> Bool {
        let path = place.path
        let status = try mapError(StoreFailure.system) { () throws(SystemError) in try place.status }
        let log = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace.status(place.log) }
        if status?.size ?? 0 == 0, let log, log.isRegular, log.size > 0 {
            // SQLite would throw the log of an empty file away, and with it all that is left.
            throw .damaged(
                status == nil ? "the file is gone and its log is not" : "the file is empty and its log is not")
        }
        guard let status else { return false }
        guard status.isRegular else {
            throw .foreign(
                path: path, reason: status.isLink ? "this is a symbolic link" : "this is no regular file",
                remedy: "it is left alone; set another path, or remove it")
        }
        guard status.size > 0 else { return true }
        let beginning = try mapError(StoreFailure.system) { () throws(SystemError) in
            try place.beginning(DatabaseHeader.length)
        }
        switch DatabaseHeader.verdict(on: beginning, size: status.size) {
        case .ours: break
        case .damaged(let reason): throw .damaged(reason)
        case .foreign:
            throw .foreign(
                path: path, reason: "this is no event store",
                remedy: "it is left alone; set another path, or move it away")
        case .newer(let version): throw newer(version, path: path)
        }
        return true
    }

    static func newer(_ version: Int64, path: String) -> StoreFailure {
        .foreign(
            path: path,
            reason:
                "version \(version) of the event store is newer than this program, which knows \(StoreSchema.version)",
            remedy: "it is left alone; install the newer program again, or set another path")
    }

    // MARK: - With SQLite

    /// Finds out what a file holds without leaving a trace, when it has no log that would have a say in it.
    ///
    /// Otherwise only opening it tells, which may leave an empty log beside a file that is not ours.
    static func inspectContents(_ place: FilePlace) throws(StoreFailure) {
        for companion in [place.log, place.path + "-journal"] {
            let status = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace.status(companion) }
            guard status?.size ?? 0 == 0 else { return }
        }
        let database = try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try Database(path: place.path, access: .readImmutable)
        }
        _ = try checkContents(database)
    }

    /// Finds out whether a file holds what it should.
    ///
    /// - Returns: Whether it holds anything.
    static func checkContents(_ database: Database) throws(StoreFailure) -> Bool {
        let (objectCount, owner, version) = try mapError(StoreFailure.init) { () throws(SQLiteError) in
            (
                try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0,
                try database.integer("PRAGMA application_id") ?? 0, try database.integer("PRAGMA user_version") ?? 0
            )
        }
        if objectCount == 0 && owner == 0 { return false }
        if version > StoreSchema.version { throw newer(version, path: database.path) }
        let isOurs = try mapError(StoreFailure.init) { () throws(SQLiteError) in try StoreSchema.isOurs(database) }
        guard isOurs && owner == StoreSchema.applicationID else {
            throw .foreign(
                path: database.path, reason: "it holds other tables, views or triggers than an event store",
                remedy: "it is left alone; remove them, or set another path")
        }
        return true
    }

    /// Connects to a file that is there.
    ///
    /// In the locking mode EXCLUSIVE the file stays locked, so that a second daemon does not get it, and the log has no
    /// index in a shared file, which would end this process with SIGBUS if somebody cut it.
    static func connect(to place: FilePlace) throws(StoreFailure) -> Database {
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            let database = try Database(path: place.path, access: .change)
            database.setBusyTimeout(milliseconds: patienceMilliseconds)
            for pragma in [
                "locking_mode = EXCLUSIVE", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY",
                "secure_delete = OFF", "cache_size = -\(cacheKilobytes)",
            ] { try database.execute("PRAGMA \(pragma)") }
            return database
        }
    }

    /// Makes the tables when there are none, and reads what is needed to go on.
    static func contents(
        of database: Database, synchronous: EventStoreSettings.Synchronous, succeeding past: Past
    ) throws(StoreFailure) -> Contents {
        if try !checkContents(database) {
            try mapError(StoreFailure.init) { () throws(SQLiteError) in
                try StoreSchema.create(
                    in: database, identity: past.identity ?? randomIdentity(), lastSequence: past.lastSequence)
            }
        }
        return try mapError(StoreFailure.init) { () throws(SQLiteError) in
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
                throw SQLiteError(
                    extendedCode: SQLiteError.cannotOpen, operation: "PRAGMA journal_mode = WAL",
                    message: "the file system does not allow it", path: database.path)
            }
            try database.execute("PRAGMA synchronous = \(synchronous.rawValue)")
            return try read(database, synchronous: synchronous)
        }
    }

    private static func read(
        _ database: Database, synchronous: EventStoreSettings.Synchronous
    ) throws(SQLiteError) -> Contents {
        func meta(_ key: String) throws(SQLiteError) -> String? {
            try database.text("SELECT value FROM meta WHERE key = '\(key)'")
        }
        func number(_ sql: String) throws(SQLiteError) -> UInt64 {
            let number = UInt64(clamping: try database.integer(sql) ?? 0)
            return try checked(number, number <= highestSequence, sql)
        }
        func checked<Number>(_ number: Number, _ isOurs: Bool, _ operation: String) throws(SQLiteError) -> Number {
            guard isOurs else { throw .strangeNumber("\(number)", operation, path: database.path) }
            return number
        }
        let known = try meta("last_sequence").flatMap { UInt64($0) } ?? 0
        var last = try max(
            number("SELECT max(seq) FROM events"), checked(known, known <= highestSequence, "the last number"))
        // What follows is reckoned from these; those that are higher, or below the first, nobody of us has written.
        _ = try number("SELECT max(seq) FROM sqlite_sequence")
        _ = try number("SELECT max(id) FROM deliveries")
        let lowest = try database.integer("SELECT min(id) FROM deliveries") ?? 1
        _ = try checked(lowest, lowest > 0, "SELECT min(id) FROM deliveries")
        // With NORMAL, what was committed before a power cut, and known to others, may be gone.
        if let before = try meta("running"), before.hasPrefix("normal "), before != running(.normal) {
            last = min(last + powerCutMargin, highestSequence)
        }
        let identity = try meta("identity") ?? randomIdentity()
        let statement = try Statement("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", on: database)
        try database.transaction { () throws(SQLiteError) in
            try statement.run(.text("identity"), .text(identity))
            try statement.run(.text("last_sequence"), .text(String(last)))
            try statement.run(.text("running"), .text(running(synchronous)))
        }
        return Contents(identity: identity, lastSequence: last)
    }

    /// What says which start of the machine a run belongs to: a file that is not closed by then, and was opened by another
    /// one, met a power cut, or something like it.
    static func running(_ synchronous: EventStoreSettings.Synchronous) -> String {
        let boot = SmallFile.kernelText("/proc/sys/kernel/random/boot_id") ?? ""
        // Where nothing says it, any end without a closing counts as a power cut.
        return "\(synchronous.rawValue) \(boot.isEmpty ? randomIdentity() : boot)"
    }

    /// 128 random bits in hexadecimal.
    static func randomIdentity() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension FilePlace {
    /// The log that SQLite keeps beside the file.
    var log: String { path + "-wal" }

    /// Which files the file and its log are.
    struct Identities: Equatable {
        let file: Identity?
        let log: Identity?
    }

    /// What lies at the paths of the file and its log.
    var identities: Identities {
        Identities(file: (try? Self.status(path))??.identity, log: (try? Self.status(log))??.identity)
    }
}
