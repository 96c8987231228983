package import Glibc

/// The status of a file, or of the symbolic link itself.
package func fileStatus(_ path: String, followsLink: Bool = true) throws(SystemError) -> stat {
    var status = stat()
    try systemCall("stat", path: path) { followsLink ? stat(path, &status) : lstat(path, &status) }
    return status
}

/// The status of an open file.
package func fileStatus(of descriptor: Int32, path: @autoclosure () -> String? = nil) throws(SystemError) -> stat {
    var status = stat()
    try systemCall("fstat", path: path()) { fstat(descriptor, &status) }
    return status
}

/// The path with symbolic links resolved; `nil` when there is no such file.
package func resolvedPath(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
}

/// Throws when this process may not make a file at a path, or when its folder is absent.
package func requireWritableFolder(of path: String) throws(SystemError) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    try systemCall("access", path: folder) { access(folder, W_OK | X_OK) }
}

extension stat {
    /// The type of the file, as in `S_IFREG`.
    package var kind: mode_t { st_mode & S_IFMT }
    package var isRegular: Bool { kind == S_IFREG }
    package var isFolder: Bool { kind == S_IFDIR }
    /// Whether both belong to the same file.
    package func isSameFile(as other: stat?) -> Bool { st_dev == other?.st_dev && st_ino == other?.st_ino }
}

/// The names in a folder, unordered, without `.` and `..`.
package func folderNames(_ path: String) throws(SystemError) -> [String] {
    let folder = try systemPointer("opendir", path: path) { opendir(path) }
    defer { closedir(folder) }
    var names: [String] = []
    while true {
        // Only errno distinguishes the end of the list from a failure.
        let (entry, code) = withErrno { readdir(folder) }
        guard let entry else {
            guard code == 0 else { throw SystemError(code: code, call: "readdir", path: path) }
            return names
        }
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { names.append(name) }
    }
}
