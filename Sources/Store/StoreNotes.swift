import Binnacle

/// The metadata of a store's file about its numbers: the identity, and the number after which they continue.
struct StoreNotes {
    /// The key of the number up to which a run has reserved sequence numbers.
    static let reservedKey = "reserved_sequence"

    /// The identity of the sequence; a new one when the file has none.
    let identity: String
    /// The highest sequence number that an event may have.
    let lastSequence: UInt64
    /// Reserved sequence numbers that, as far as the file knows, no event has, in order.
    let gaps: [ClosedRange<UInt64>]
    /// The defect; `nil` when nothing was missing.
    let repair: String?

    /// Reads the metadata of an open file; `knownIdentity` is that of the file that this run had open, and whose numbers it
    /// knows.
    ///
    /// Numbers never decrease: if the metadata is missing although the file has its tables, they continue after everything in the
    /// file plus a margin, with a new identity. Throws also for numbers that no store has written, because other numbers are
    /// computed from them.
    init(_ database: Database, knownIdentity: String) throws(StoreFailure) {
        func check(_ number: Int64, atLeast least: Int64 = 0, _ operation: String) throws(StoreFailure) -> UInt64 {
            guard number >= least, number <= StoreFile.highestDelivery else {
                throw .strangeNumber(number, operation, path: database.path)
            }
            return UInt64(number)
        }
        func highest(_ sql: String) throws(StoreFailure) -> UInt64 {
            try check(max(0, database.integer(sql) ?? 0), sql)
        }
        let identity = try database.value("identity").flatMap { Self.isIdentity($0) ? $0 : nil }
        let known = try database.value("last_sequence").flatMap { UInt64($0) }
        let running = try database.value("running")
        var last = try max(
            highest("SELECT max(seq) FROM events"), check(Int64(clamping: known ?? 0), "the last number"))
        _ = try highest("SELECT max(seq) FROM sqlite_sequence")
        _ = try highest("SELECT max(id) FROM deliveries")
        let lowest = "SELECT min(id) FROM deliveries"
        _ = try check(database.integer(lowest) ?? 1, atLeast: 1, lowest)
        var gaps = Self.gaps(in: try database.value("gaps") ?? "")
        if identity != nil, known != nil {
            // A run that did not end properly may have used its whole reservation.
            let reserved = try database.value(Self.reservedKey).flatMap { UInt64($0) } ?? 0
            if running != "", reserved > last, identity != knownIdentity {
                let number = try check(Int64(clamping: reserved), "the reserved numbers")
                gaps = (gaps + [last + 1...number]).suffix(StoreFile.mostGaps)
                last = number
            }
            // With NORMAL, a power cut may have lost committed events that others know.
            if let running, running.hasPrefix("normal "), running != StoreFile.runningMark(.normal) {
                last = min(last + StoreFile.powerCutMargin, StoreFile.highestSequence)
            }
            self.identity = identity ?? ""
            repair = nil
        } else {
            // Deliveries may be newer than the remaining events.
            last = max(last, try Self.highestDelivered(database))
            last = min(last + StoreFile.reservation, StoreFile.highestSequence)
            self.identity = StoreFile.randomIdentity()
            repair = "its identity or its last number is missing; it continues with a new identity after number \(last)"
        }
        lastSequence = last
        self.gaps = gaps
    }

    /// The highest sequence number among the events of waiting deliveries.
    private static func highestDelivered(_ database: Database) throws(StoreFailure) -> UInt64 {
        let bodies = try database.rows("SELECT body FROM deliveries ORDER BY id DESC LIMIT 1024") { $0.text(0) }
        return bodies.compactMap { try? Event(json: $0).sequence }.filter { $0 <= StoreFile.highestSequence / 2 }.max()
            ?? 0
    }

    static func isIdentity(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    // MARK: - Gaps

    /// The text of the gaps in the file: `first-last`, separated by spaces.
    static func text(of gaps: [ClosedRange<UInt64>]) -> String {
        gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
    }

    static func gaps(in text: String) -> [ClosedRange<UInt64>] {
        text.split(separator: " ").compactMap { word in
            let ends = word.split(separator: "-").compactMap { UInt64($0) }
            guard ends.count == 2, ends[0] <= ends[1] else { return nil }
            return ends[0]...ends[1]
        }
    }
}

extension Database {
    /// The value of a key in a store's metadata.
    func value(_ key: String) throws(StoreFailure) -> String? {
        try text("SELECT value FROM meta WHERE key = ?", .text(key))
    }
}
