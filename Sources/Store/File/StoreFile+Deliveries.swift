import Binnacle

extension StoreFile {
    /// A delivery as it lies in the file.
    struct StoredDelivery {
        /// Its number.
        let id: Int64
        /// Its event; `nil` when the row cannot be read.
        let event: Event?
    }

    /// A handler that the file knows.
    struct StoredHandler {
        /// Its number.
        let number: Int64
        /// Its name.
        let name: String
        /// The number of the delivery up to which it was done with everything.
        let position: Int64
    }

    /// The handlers that ever had deliveries.
    func handlers() throws(SQLiteError) -> [StoredHandler] {
        let statement = try statement("SELECT handler, name, position FROM cursors")
        defer { statement.reset() }
        var found: [StoredHandler] = []
        while try statement.step() {
            guard let number = statement.integer(0), let name = statement.text(1), let position = statement.integer(2)
            else { continue }
            found.append(
                StoredHandler(number: number, name: name, position: min(max(0, position), Self.highestDelivery)))
        }
        return found
    }

    /// The number of a handler, which it gets when it has none.
    func handlerNumber(_ name: String) throws(SQLiteError) -> Int64 {
        try statement("INSERT INTO cursors(name, position) VALUES(?, 0) ON CONFLICT(name) DO NOTHING").run(.text(name))
        let statement = try statement("SELECT handler FROM cursors WHERE name = ?")
        defer { statement.reset() }
        try statement.bind(.text(name))
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// How many deliveries lie there, by their handlers' numbers.
    func deliveryCounts() throws(SQLiteError) -> [Int64: Int] {
        let statement = try statement("SELECT handler, count(*) FROM deliveries GROUP BY handler")
        defer { statement.reset() }
        var counts: [Int64: Int] = [:]
        while try statement.step() {
            if let handler = statement.integer(0), let count = statement.integer(1) { counts[handler] = Int(count) }
        }
        return counts
    }

    /// The highest number that a delivery ever had.
    func lastDelivery() throws(SQLiteError) -> Int64 {
        // The sequence says it also when nothing waits any more; it may be of any type.
        var last: Int64 = 0
        for sql in ["SELECT max(id) FROM deliveries", "SELECT max(seq) FROM sqlite_sequence"] {
            let statement = try statement(sql)
            defer { statement.reset() }
            guard try statement.step(), let number = statement.integer(0), number > 0 else { continue }
            last = max(last, try deliveryNumber(number))
        }
        return last
    }

    /// The highest number of a delivery that is believed: far from where reckoning with it ends.
    static let highestDelivery = Int64(highestSequence)

    /// A delivery's number, when it can be one.
    ///
    /// - Throws: ``SQLiteError`` when it cannot: the file is damaged.
    private func deliveryNumber(_ number: Int64) throws(SQLiteError) -> Int64 {
        guard (1...Self.highestDelivery).contains(number) else {
            throw .strangeNumber("\(number)", "read deliveries", path: database.path)
        }
        return number
    }

    /// Whether there is a delivery of this number.
    func holdsDelivery(_ id: Int64) throws(SQLiteError) -> Bool {
        let statement = try statement("SELECT 1 FROM deliveries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(.integer(id))
        return try statement.step()
    }

    /// Adds a delivery, within a transaction.
    func insert(_ id: Int64, of handler: Int64, _ published: PublishedEvent) throws(SQLiteError) {
        try statement("INSERT OR REPLACE INTO deliveries(id, handler, wall_ns, body) VALUES(?, ?, ?, ?)").run(
            .integer(id), .integer(handler), .integer(optional: published.event.wallNanoseconds), .text(published.json))
    }

    /// Removes a delivery.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func removeDelivery(_ id: Int64) throws(SQLiteError) -> Bool {
        try statement("DELETE FROM deliveries WHERE id = ?").run(.integer(id)) > 0
    }

    /// Writes down how far a handler is.
    func setPosition(_ position: Int64, of handler: Int64) throws(SQLiteError) {
        try statement("UPDATE cursors SET position = ? WHERE handler = ?").run(.integer(position), .integer(handler))
    }

    /// Reads deliveries of a handler in the order of their numbers.
    ///
    /// - Parameters:
    ///   - handler: The handler's number.
    ///   - id: The number behind which to begin.
    ///   - limit: The most.
    /// - Returns: The deliveries.
    /// - Throws: ``SQLiteError``.
    func deliveries(of handler: Int64, behind id: Int64, limit: Int) throws(SQLiteError) -> [StoredDelivery] {
        let statement = try statement(
            "SELECT id, body FROM deliveries WHERE handler = ? AND id > ? ORDER BY id LIMIT ?")
        defer { statement.reset() }
        try statement.bind(.integer(handler), .integer(id), .integer(Int64(limit)))
        var found: [StoredDelivery] = []
        while try statement.step() {
            guard let id = statement.integer(0) else { continue }
            found.append(
                StoredDelivery(id: try deliveryNumber(id), event: statement.text(1).flatMap { try? Event(json: $0) }))
        }
        return found
    }

    /// The numbers of the oldest deliveries, with their handlers' numbers and times.
    ///
    /// - Parameters:
    ///   - handler: Of this handler alone; `nil` is all.
    ///   - limit: The most.
    /// - Returns: The numbers.
    /// - Throws: ``SQLiteError``.
    func oldestDeliveries(
        of handler: Int64? = nil, limit: Int
    ) throws(SQLiteError) -> [(id: Int64, handler: Int64, wallNanoseconds: Int64?)] {
        let condition = handler == nil ? "" : "WHERE handler = ?1"
        let statement = try statement(
            "SELECT id, handler, wall_ns FROM deliveries \(condition) ORDER BY id LIMIT ?2")
        defer { statement.reset() }
        try statement.bind(.integer(optional: handler), .integer(Int64(limit)))
        var found: [(id: Int64, handler: Int64, wallNanoseconds: Int64?)] = []
        while try statement.step() {
            guard let id = statement.integer(0), let handler = statement.integer(1) else { continue }
            found.append((try deliveryNumber(id), handler, statement.integer(2)))
        }
        return found
    }
}
