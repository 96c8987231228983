import Glibc

/// Folders of the user's own, which nobody else may look into.
package enum OwnFolder {
    /// Makes the folder of a file, with the folders above it that are missing, each with the mode 0700.
    ///
    /// Those that are there stay as they are.
    package static func make(for path: String) throws(SystemError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            do throws(SystemError) {
                try systemCall("mkdir", path: folder) { mkdir(folder, 0o700) }
            } catch {
                // A folder that may not be written to may hold the next one.
                guard [EEXIST, EACCES, EROFS, EPERM].contains(error.code), access(folder, F_OK) == 0 else {
                    throw error
                }
            }
        }
    }
}
