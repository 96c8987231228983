package import TableReading

extension Configuration {
    /// Where the daemon's configuration is, unless somebody names another place.
    package static let standardPath = "/etc/binnacle"

    /// Reads and checks a file, or a folder with its drop-ins.
    ///
    /// A folder is read as its `binnacle.toml`, which may be absent, and its `conf.d/*.toml` in the order of the bytes
    /// of their names. A later file completes the sections of the earlier ones key by key, and replaces what they say.
    ///
    /// Nothing is kept open.
    ///
    /// - Parameters:
    ///   - path: The file or the folder.
    ///   - mayWait: Whether in place of a file a pipe will do, which is waited for.
    /// - Returns: What all files say together.
    /// - Throws: ``ConfigurationError`` when a file cannot be read, or with everything that is wrong with them.
    package static func read(path: String, mayWait: Bool = true) throws(ConfigurationError) -> Configuration {
        // The system would end the path at a NUL, and open another file than the one that was named.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .file(path: path, .missing) }
        guard ConfigurationFolder.exists(at: path) else {
            let text = ConfigurationText(path: path, bytes: try ConfigurationFile.contents(of: path, mayWait: mayWait))
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            return try parse([text], path: path, folder: folder)
        }
        let folder = ConfigurationFolder(path: path)
        var texts: [ConfigurationText] = []
        for file in try folder.files() {
            texts.append(ConfigurationText(path: file, bytes: try ConfigurationFile.contents(of: file, mayWait: false)))
        }
        return try parse(texts, path: path, folder: folder.base)
    }
}
