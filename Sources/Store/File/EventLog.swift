import Binnacle

/// Reads the events in a file, in pages.
enum EventLog {
    /// The most rows that are looked through for one page, so that nobody waits long for a page with little in it.
    private static let rowsPerPage = 2048
    static let selection = "SELECT seq, kind, sensor, wall_ns, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?"

    /// Reads a page.
    ///
    /// Lines that are no events are passed over.
    ///
    /// - Parameters:
    ///   - query: Which events.
    ///   - selection: ``selection``, prepared.
    ///   - ends: The numbers of the oldest and of the newest event.
    /// - Returns: The page, and how many lines were no events.
    /// - Throws: ``SQLiteError``.
    static func page(
        _ query: EventQuery, _ selection: Statement, ends: (first: UInt64, last: UInt64)
    ) throws(SQLiteError) -> (page: EventPage, unreadableCount: Int) {
        defer { selection.reset() }
        var page = EventPage(through: query.after, first: ends.first)
        var (rowCount, unreadableCount) = (0, 0)
        try selection.bind(.integer(Int64(clamping: query.after)), .integer(Int64(rowsPerPage)))
        while page.lines.count < max(1, query.limit), try selection.step() {
            rowCount += 1
            // A file may hold numbers that no event has.
            guard let sequence = selection.integer(0).flatMap({ UInt64(exactly: $0) }) else { continue }
            page.through = sequence
            guard isAsked(selection, by: query) else { continue }
            guard let json = selection.text(4), let event = try? Event(json: json), event.sequence == sequence,
                !json.utf8.contains(UInt8(ascii: "\n"))
            else {
                unreadableCount += 1
                continue
            }
            page.lines.append(EventLine(sequence: sequence, json: json))
        }
        page.isLast = page.through >= ends.last || (rowCount < rowsPerPage && page.lines.count < max(1, query.limit))
        return (page, unreadableCount)
    }

    /// The numbers of the oldest and of the newest event; 0 when there is none.
    static func ends(_ oldest: Statement, _ newest: Statement) throws(SQLiteError) -> (first: UInt64, last: UInt64) {
        func number(_ statement: Statement) throws(SQLiteError) -> UInt64 {
            defer { statement.reset() }
            return try statement.step() ? UInt64(clamping: statement.integer(0) ?? 0) : 0
        }
        return try (number(oldest), number(newest))
    }

    private static func isAsked(_ row: Statement, by query: EventQuery) -> Bool {
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

extension StoreFile {
    /// Reads a page of the events.
    func page(_ query: EventQuery) throws(SQLiteError) -> (page: EventPage, unreadableCount: Int) {
        try EventLog.page(query, statement(EventLog.selection), ends: ends())
    }

    /// The numbers of the oldest and of the newest event; 0 when there is none.
    func ends() throws(SQLiteError) -> (first: UInt64, last: UInt64) {
        try EventLog.ends(statement("SELECT min(seq) FROM events"), statement("SELECT max(seq) FROM events"))
    }

    /// When the oldest and the newest event happened, by the wall clock.
    func endTimes() throws(SQLiteError) -> (oldest: Int64?, newest: Int64?) {
        func time(_ order: String) throws(SQLiteError) -> Int64? {
            let statement = try statement("SELECT wall_ns FROM events ORDER BY seq \(order) LIMIT 1")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : nil
        }
        return try (time("ASC"), time("DESC"))
    }

    /// How many events there are behind a number, of a few at a time.
    ///
    /// - Returns: How many, and the number of the last of them; `nil` when there is none.
    func countEvents(behind sequence: Int64, limit: Int) throws(SQLiteError) -> (count: Int, last: Int64?) {
        let statement = try statement(
            "SELECT count(*), max(seq) FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)")
        defer { statement.reset() }
        try statement.bind(.integer(sequence), .integer(Int64(limit)))
        guard try statement.step() else { return (0, nil) }
        return (Int(statement.integer(0) ?? 0), statement.integer(1))
    }

    /// The oldest events' numbers and times.
    func oldestEvents(behind sequence: Int64, limit: Int) throws(SQLiteError) -> [(sequence: Int64, wall: Int64?)] {
        let statement = try statement("SELECT seq, wall_ns FROM events WHERE seq > ? ORDER BY seq LIMIT ?")
        defer { statement.reset() }
        try statement.bind(.integer(sequence), .integer(Int64(limit)))
        var found: [(sequence: Int64, wall: Int64?)] = []
        while try statement.step() {
            if let number = statement.integer(0) { found.append((number, statement.integer(1))) }
        }
        return found
    }

    /// Removes events; which number was the last stays known.
    func removeEvents(_ sequences: [Int64]) throws(SQLiteError) {
        let last = String(lastSequence)
        try database.transaction { () throws(SQLiteError) in
            for sequence in sequences { try statement("DELETE FROM events WHERE seq = ?").run(.integer(sequence)) }
            try setMeta("last_sequence", last)
        }
    }
}
