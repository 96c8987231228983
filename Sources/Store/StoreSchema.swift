enum StoreSchema {
    /// The application id in the header of a store's file: `BNCL`.
    static let applicationID: Int64 = 0x424E_434C
    /// The version of the schema that this program writes and reads.
    static let version: Int64 = 1
    /// A part of a statement by which a store with an overwritten header is recognized.
    static let mark = "CREATE TABLE deliveries(id INTEGER PRIMARY KEY AUTOINCREMENT"

    /// The statements that create the tables.
    ///
    /// STRICT, so that columns have their types even in a file that another program has written. AUTOINCREMENT, so that the
    /// number of a delivery is never reused.
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

    /// The table that SQLite adds for AUTOINCREMENT.
    private static let additions = ["CREATE TABLE sqlite_sequence(name,seq)"]

    /// Throws when a database has anything but the tables of a store, because a view or a trigger would change reads and writes.
    ///
    /// Returns whether it has the tables; otherwise it is empty.
    static func check(_ database: Database) throws(StoreFailure) -> Bool {
        let owner = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        let found = try database.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT 20") {
            $0.text(0) ?? ""
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

    /// Creates the tables in an empty file.
    ///
    /// In one transaction and before the file has a log, so that a header that is not empty is complete.
    static func create(in database: Database, identity: String, lastSequence: UInt64) throws(StoreFailure) {
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try database.execute("PRAGMA synchronous = FULL")
        try database.transaction { () throws(StoreFailure) in
            for statement in statements { try database.execute(statement) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
            for (key, value) in [("identity", identity), ("last_sequence", String(lastSequence))] {
                try database.run("INSERT INTO meta(key, value) VALUES(?, ?)", .text(key), .text(value))
            }
        }
    }
}
