import Glibc
import LinuxSystem
import TableReading

/// A folder such as /etc/binnacle: `binnacle.toml` and drop-ins in `conf.d`, all of them optional.
enum ConfigurationFolder {
    /// The files in a folder whose path ends with a slash: `binnacle.toml`, then drop-ins in byte order of their names.
    static func files(in path: String) throws(ConfigurationError) -> [String] {
        var files: [String] = []
        let main = path + "binnacle.toml"
        if !isAbsent(main) { files.append(main) }
        let folder = path + "conf.d"
        for name in try dropIns(folder).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            files.append(folder + "/" + name)
        }
        guard !files.isEmpty else { throw .file(path: String(path.dropLast()), .nothing) }
        guard files.count <= Configuration.mostFiles else {
            throw .file(path: folder, .tooMany(limit: Configuration.mostFiles))
        }
        return files
    }

    /// Files that are not read, although their names or contents look like configurations, each with the remedy.
    static func unread(in path: String) -> [(path: String, hint: String)] {
        let leftovers = ["~", ".bak", ".new", ".old", ".orig", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".swp"]
        let folder = path + "conf.d/"
        let others = ((try? names(in: path + "conf.d")) ?? []).compactMap { name -> (path: String, hint: String)? in
            let kind = kind(of: folder + name)
            if name.hasSuffix(".toml") {
                // A device, which is /dev/null, masks a file.
                return kind == S_IFDIR || kind == S_IFIFO || kind == S_IFSOCK
                    ? (folder + name, "it has to be a file") : nil
            }
            guard kind == S_IFREG, !name.hasPrefix("README"), !leftovers.contains(where: name.hasSuffix) else {
                return nil
            }
            return (folder + name, "its name has to end with .toml")
        }
        let sections = ConfigurationReader.headers
        let beside = ((try? names(in: path)) ?? []).filter { name in
            guard name.hasSuffix(".toml"), name != "binnacle.toml", kind(of: path + name) == S_IFREG,
                let bytes = try? ConfigurationFile.contents(of: path + name, mayWait: false)
            else { return false }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            return lines.contains { line in sections.contains(where: line.hasPrefix) }
        }.map { (path: path + $0, hint: "it has to be in conf.d") }
        return (others + beside).sorted { $0.path < $1.path }
    }

    /// The service's files and folders that its account may not read, also where root asks.
    static func denied(_ folder: String, _ files: [String]) -> [(path: String, message: String, hint: String)] {
        guard folder == Configuration.standardPath else { return [] }
        return ([folder, folder + "/conf.d"] + files).compactMap { path in
            guard let status = try? fileStatus(path),
                let (message, hint) = TableReader.denial(path, status, needing: status.isFolder ? 0o5 : 0o4)
            else { return nil }
            return (path, message, hint)
        }
    }

    private static func dropIns(_ folder: String) throws(ConfigurationError) -> [String] {
        try names(in: folder).filter { name in
            guard name.hasSuffix(".toml") else { return false }
            // A dangling link is reported when it is opened; a link to /dev/null masks a file.
            let kind = kind(of: folder + "/" + name)
            return kind == S_IFREG || kind == nil
        }
    }

    /// The names in a folder, except hidden ones; empty when there is no folder.
    private static func names(in folder: String) throws(ConfigurationError) -> [String] {
        do throws(SystemError) {
            return try folderNames(folder).filter { !$0.hasPrefix(".") }
        } catch {
            switch error.code {
            case ENOENT where isAbsent(folder): return []
            case ENOTDIR: throw .file(path: folder, .noDirectory)
            default: throw .file(path: folder, ConfigurationError.FileProblem(code: error.code))
            }
        }
    }

    /// Whether the path does not exist, not even as a dangling link.
    private static func isAbsent(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try fileStatus(path, followsLink: false)
            return false
        } catch {
            return error.code == ENOENT
        }
    }

    /// The type of a file behind links; `nil` when it is unknown.
    private static func kind(of path: String) -> mode_t? {
        (try? fileStatus(path))?.kind
    }

    static func exists(at path: String) -> Bool {
        kind(of: path) == S_IFDIR
    }
}
