/// What the beginning of a file says about whose it is, without SQLite, which might change a file that is not ours.
enum DatabaseHeader {
    /// Whose a file is.
    enum Verdict: Equatable {
        /// A store's, as far as the beginning tells.
        case ours
        /// A store's, and the beginning is damaged.
        case damaged(String)
        /// Somebody else's.
        case foreign
        /// A store's of a newer version.
        case newer(Int64)
    }

    /// How much of a file is looked at: a page.
    static let length = 4096

    /// Looks at a file's beginning.
    ///
    /// - Parameters:
    ///   - bytes: As many as ``length``, or all that there are, and at least one.
    ///   - size: The file's size.
    /// - Returns: Whose it is.
    static func verdict(on bytes: [UInt8], size: Int64) -> Verdict {
        let isDatabase = bytes.starts(with: Array("SQLite format 3\0".utf8))
        let isMarked = number(bytes, at: 68) == StoreSchema.applicationID
        if isDatabase && isMarked {
            guard let version = number(bytes, at: 60), version > StoreSchema.version else { return .ours }
            return .newer(version)
        }
        let hasSchema = contains(bytes, Array(StoreSchema.mark.utf8))
        if isMarked || hasSchema { return .damaged("its header is overwritten") }
        // What is left of a file that was cut off, or whose first page a disk has lost.
        if isDatabase && bytes.count < 100 { return .damaged("its header is cut off") }
        if size >= 2 * Int64(length), size % Int64(length) == 0, let first = bytes.first, first == 0 || first == 0xFF,
            bytes.allSatisfy({ $0 == first })
        {
            return .damaged("its first page is empty")
        }
        return .foreign
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int64? {
        guard bytes.count >= offset + 4 else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return bytes.indices.dropLast(part.count - 1).contains { bytes[$0...].starts(with: part) }
    }
}
