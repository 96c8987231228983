import Binnacle

/// Reading the events of a store, with and without a daemon.
extension Database {
    /// Maximum number of rows read for one page, so that the other readers do not wait long.
    private static let rowsPerPage = 2048

    func page(_ query: EventQuery) throws(StoreFailure) -> EventPage {
        func number(_ sql: String) throws(StoreFailure) -> UInt64 { UInt64(clamping: try integer(sql) ?? 0) }
        let last = try number("SELECT max(seq) FROM events")
        var page = EventPage(through: query.after, first: try number("SELECT min(seq) FROM events"))
        page.hasBegun = query.sinceNanoseconds == nil
        var rowCount = 0
        let limit = max(1, query.limit)
        do throws(StoreFailure) {
            try each(
                """
                SELECT seq, kind, sensor, wall_ns, body, json_valid(body) FROM events \
                WHERE seq > ? ORDER BY seq LIMIT ?
                """, [.integer(Int64(clamping: query.after)), .integer(Int64(Self.rowsPerPage))]
            ) { row in
                rowCount += 1
                guard let sequence = row.integer(0).flatMap({ UInt64(exactly: $0) }) else { return true }
                if page.hasBegun, page.through > 0, sequence > page.through + 1 {
                    page.missing.append(page.through + 1...sequence - 1)
                }
                page.through = sequence
                if !page.hasBegun {
                    // A clock may be set back behind it, so it is looked for once, and whatever the filter says.
                    guard let since = query.sinceNanoseconds, let wall = row.integer(3), wall >= since
                    else { return true }
                    page.hasBegun = true
                }
                guard Self.matches(row, query) else { return true }
                if let json = row.text(4), row.integer(5) == 1, Self.isEvent(json, sequence, row.text(1)) {
                    page.lines.append(EventLine(sequence: sequence, json: json))
                } else {
                    page.unreadableCount += 1
                }
                return page.lines.count < limit
            }
        } catch {
            // SQLite does not give such a row; the next page begins behind it.
            guard error.isTooLarge else { throw error }
            let next = try integer(
                "SELECT min(seq) FROM events WHERE seq > ?", .integer(Int64(clamping: page.through)))
            page.through = UInt64(clamping: next ?? .max)
            page.unreadableCount += 1
            rowCount = Self.rowsPerPage
        }
        page.isLast = page.through >= last || (rowCount < Self.rowsPerPage && page.lines.count < limit)
        return page
    }

    /// Whether JSON begins like the line of an event and is a single line.
    private static func isEvent(_ json: String, _ sequence: UInt64, _ kind: String?) -> Bool {
        json.hasPrefix("{\"seq\":\(sequence),\"kind\":\"\(kind ?? "")\"") && !json.utf8.contains(UInt8(ascii: "\n"))
    }

    private static func matches(_ row: Row, _ query: EventQuery) -> Bool {
        if let kinds = query.filter.kinds {
            guard let kind = row.text(1).flatMap(EventKind.init(rawValue:)), kinds.contains(kind) else { return false }
        }
        guard let sensors = query.filter.sensors else { return true }
        return row.text(2).map(sensors.contains) ?? false
    }
}
