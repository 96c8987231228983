import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// Puts a damaged file out of the way, with what belongs to it, as it is.
enum DamagedFile {
    /// What lies beside a database of SQLite, and what it is called when it was set aside.
    ///
    /// The log keeps its place beside the file, because what it holds is read with it. A journal does not: it would be
    /// played back into the file, which is to stay as it is.
    private static let companions = [("-wal", "-wal"), ("-shm", ".shm"), ("-journal", ".journal")]

    /// Renames a file and what belongs to it.
    ///
    /// - Parameters:
    ///   - place: Where it lies.
    ///   - wallNanoseconds: What time it is.
    /// - Returns: Where it lies now.
    /// - Throws: ``SystemError`` when nothing was renamed.
    static func setAside(_ place: FilePlace, at wallNanoseconds: Int64) throws(SystemError) -> FilePlace {
        let stamp = WallTime.text(wallNanoseconds).prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" }
        var name = "\(place.path).damaged-\(stamp)Z"
        var number = 2
        while try isTaken(name) {
            name = "\(place.path).damaged-\(stamp)Z-\(number)"
            number += 1
        }
        // The log goes first: without it the file is what it was at the last checkpoint, and with somebody else's it is
        // nothing.
        for (suffix, newSuffix) in companions.reversed() {
            let old = place.path + suffix
            if try FilePlace.status(old) != nil { try rename(old, name + newSuffix) }
        }
        if try place.status != nil { try rename(place.path, name) }
        return FilePlace(resolved: name)
    }

    /// Undoes ``setAside(_:at:)`` as far as it goes.
    static func putBack(_ aside: FilePlace, to place: FilePlace) {
        for (suffix, newSuffix) in companions + [("", "")] {
            _ = Glibc.rename(aside.path + newSuffix, place.path + suffix)
        }
    }

    private static func isTaken(_ name: String) throws(SystemError) -> Bool {
        if try FilePlace.status(name) != nil { return true }
        for (_, suffix) in companions where try FilePlace.status(name + suffix) != nil { return true }
        return false
    }

    private static func rename(_ old: String, _ new: String) throws(SystemError) {
        try systemCall("rename", path: old) { Glibc.rename(old, new) }
    }
}
