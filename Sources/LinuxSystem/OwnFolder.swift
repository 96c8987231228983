package import Glibc

/// The user's own folders, closed to other users unless the mode permits them.
package enum OwnFolder {
    /// Makes the missing folders on the path of a file, all with the same mode; existing ones stay unchanged.
    package static func make(for path: String, mode: mode_t = 0o700) throws(SystemError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            do throws(SystemError) {
                try systemCall("mkdir", path: folder) { mkdir(folder, mode) }
            } catch {
                // A folder without write permission may contain the next one.
                guard [EEXIST, EACCES, EROFS, EPERM].contains(error.code), access(folder, F_OK) == 0 else {
                    throw error
                }
            }
        }
    }
}
