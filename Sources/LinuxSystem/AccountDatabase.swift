package import Glibc

/// Converts the names of accounts and groups to numbers, and back.
package enum AccountDatabase {
    /// The number of an account; `nil` when it does not exist.
    package static func user(_ name: String) -> uid_t? {
        find(passwd(), { getpwnam_r(name, $0, $1, $2, $3) }, take: { $0.pw_uid })
    }

    /// The number of a group; `nil` when it does not exist.
    package static func group(_ name: String) -> gid_t? {
        find(Glibc.group(), { getgrnam_r(name, $0, $1, $2, $3) }, take: { $0.gr_gid })
    }

    /// The name of an account; its number when it has none.
    package static func name(ofUser id: uid_t) -> String {
        find(passwd(), { getpwuid_r(id, $0, $1, $2, $3) }, take: { String(cString: $0.pw_name) }) ?? String(id)
    }

    /// The name of a group; its number when it has none.
    package static func name(ofGroup id: gid_t) -> String {
        find(Glibc.group(), { getgrgid_r(id, $0, $1, $2, $3) }, take: { String(cString: $0.gr_name) }) ?? String(id)
    }

    /// Arguments: the entry, a buffer for its strings with its size, and the result: the entry, or `nil` if there is none.
    private typealias Query<Entry> = (
        UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32

    /// Calls a query with increasing buffers until the entry's strings fit.
    private static func find<Entry, Value>(
        _ empty: Entry, _ body: Query<Entry>, take: (Entry) -> Value
    ) -> Value? {
        var (entry, size) = (empty, 4096)
        while size <= 1 << 22 {
            var room = [CChar](repeating: 0, count: size)
            let (code, value) = room.withUnsafeMutableBufferPointer { room -> (Int32, Value?) in
                guard let start = room.baseAddress else { return (ENOMEM, nil) }
                var found: UnsafeMutablePointer<Entry>?
                let code = body(&entry, start, room.count, &found)
                // The entry's strings are in the buffer.
                return (code, found == nil ? nil : take(entry))
            }
            switch code {
            case ERANGE: size *= 4
            case EINTR: continue
            default: return value
            }
        }
        return nil
    }
}
