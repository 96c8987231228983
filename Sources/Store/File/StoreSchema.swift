/// What stands in a store's file.
enum StoreSchema {
    /// Says in the header of a file whose it is: `BNCL`.
    static let applicationID: Int64 = 0x424E_434C
    /// The version of the schema that this program writes and reads.
    static let version: Int64 = 1

    /// The statements that make the tables.
    ///
    /// STRICT, so that a column holds what its type says, also in a file that somebody else has written.
    /// A delivery is found by its handler's number; the index has the delivery's own number behind that by itself.
    /// AUTOINCREMENT, so that a number never comes again.
    static let statements = [
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

    /// A part of a statement, by which a file is known whose header was overwritten.
    static let mark = "CREATE TABLE deliveries(id INTEGER PRIMARY KEY AUTOINCREMENT"

    /// Whether a file holds exactly what ``statements`` made.
    ///
    /// A view or a trigger in it would have its own say about what is written and read.
    static func isOurs(_ database: Database) throws(SQLiteError) -> Bool {
        let statement = try Statement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", on: database)
        var found: [String] = []
        while try statement.step() {
            guard let sql = statement.text(0), found.count <= statements.count + additions.count else { return false }
            found.append(sql)
        }
        return found.sorted() == (statements + additions).sorted()
    }

    /// Makes the tables in a file that holds none.
    ///
    /// All of it at once, and before the file has a log of its own: whoever looks at the header of a file that is not
    /// empty finds there whose it is.
    static func create(in database: Database, identity: String, lastSequence: UInt64) throws(SQLiteError) {
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try database.execute("PRAGMA synchronous = FULL")
        try database.transaction { () throws(SQLiteError) in
            for statement in statements { try database.execute(statement) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
            let meta = try Statement("INSERT INTO meta(key, value) VALUES(?, ?)", on: database)
            try meta.run(.text("identity"), .text(identity))
            try meta.run(.text("last_sequence"), .text(String(lastSequence)))
        }
    }
}
