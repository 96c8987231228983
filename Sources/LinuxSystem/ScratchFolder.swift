import Glibc

/// A folder in `TMPDIR` or `/tmp` that is removed with its contents together with this object.
package final class ScratchFolder: Sendable {
    package let path: String

    /// Creates an empty folder whose name begins with the prefix.
    package init(prefix: String) throws(SystemError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        _ = try systemPointer("mkdtemp", path: parent) { mkdtemp(&template) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeAll(path)
    }

    /// Removes a folder with its contents, without following symbolic links.
    private static func removeAll(_ path: String) {
        for name in (try? folderNames(path)) ?? [] {
            let entry = "\(path)/\(name)"
            if (try? fileStatus(entry, followsLink: false))?.isFolder == true {
                removeAll(entry)
            } else {
                unlink(entry)
            }
        }
        rmdir(path)
    }

    /// Writes a file, creates the folders in its name, and returns its path.
    @discardableResult
    package func put(_ name: String, _ text: String) throws(SystemError) -> String {
        try makeFolders(for: name)
        let path = "\(path)/\(name)"
        let raw = try systemCall("open", path: path) { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        let file = Descriptor(owning: raw)
        try writeAll(Array(text.utf8), to: file.raw, path: path)
        return path
    }

    package func makeFolders(for name: String) throws(SystemError) {
        try OwnFolder.make(for: "\(path)/\(name)", mode: 0o755)
    }
}
