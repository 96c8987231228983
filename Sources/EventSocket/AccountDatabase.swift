import Glibc

/// Numbers of accounts and groups, by name.
enum AccountDatabase {
    /// The number of an account; `nil` when there is none of that name.
    static func user(_ name: String) -> uid_t? {
        var entry = passwd()
        return find { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwnam_r(name, &entry, buffer, size, &found)
            return (code, found == nil ? nil : entry.pw_uid)
        }
    }

    /// The number of a group; `nil` when there is none of that name.
    static func group(_ name: String) -> gid_t? {
        var entry = Glibc.group()
        return find { buffer, size in
            var found: UnsafeMutablePointer<Glibc.group>?
            let code = getgrnam_r(name, &entry, buffer, size, &found)
            return (code, found == nil ? nil : entry.gr_gid)
        }
    }

    /// Calls a function with ever more room, until that is enough.
    private static func find<Number>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, number: Number?)
    ) -> Number? {
        var size = 4096
        while size <= 1 << 22 {
            // The room is for the strings of the entry, of which only numbers are taken.
            var room = [CChar](repeating: 0, count: size)
            let (code, number) = body(&room, size)
            switch code {
            case ERANGE: size *= 4
            case EINTR: continue
            default: return number
            }
        }
        return nil
    }
}
