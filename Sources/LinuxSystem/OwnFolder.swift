package import Glibc

/// Folders of the user's own, which no other user may look into unless the mode says so.
package enum OwnFolder {
    /// Makes the folder of a file, with the folders above it that are missing, each with the same mode.
    ///
    /// Those that are there stay as they are.
    package static func make(for path: String, mode: mode_t = 0o700) throws(SystemError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            do throws(SystemError) {
                try systemCall("mkdir", path: folder) { mkdir(folder, mode) }
            } catch {
                // A folder that may not be written to may hold the next one.
                guard [EEXIST, EACCES, EROFS, EPERM].contains(error.code), access(folder, F_OK) == 0 else {
                    throw error
                }
            }
        }
    }
}
