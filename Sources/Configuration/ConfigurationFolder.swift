import Glibc
import TableReading

/// A folder such as /etc/binnacle: a file, and a folder of drop-ins that complete it.
struct ConfigurationFolder {
    /// The name of the file; it may be absent.
    static let mainName = "binnacle.toml"
    /// The name of the folder of drop-ins; it may be absent.
    static let dropInFolder = "conf.d"
    /// How a drop-in's name ends.
    static let suffix = ".toml"

    private let path: String

    /// Makes a folder's face; nothing is read yet.
    init(path: String) {
        self.path = path.hasSuffix("/") ? path : path + "/"
    }

    /// What relative paths in its files are relative to; ends with a slash.
    var base: String { path }

    /// The paths of its files in the order in which they are read: the file, then the drop-ins by the bytes of their
    /// names.
    ///
    /// - Throws: ``ConfigurationError`` when there is none, or when the drop-ins cannot be listed.
    func files() throws(ConfigurationError) -> [String] {
        var files: [String] = []
        let main = path + Self.mainName
        if !Self.isAbsent(main) { files.append(main) }
        let folder = path + Self.dropInFolder
        for name in try dropIns(folder).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            files.append(folder + "/" + name)
        }
        guard !files.isEmpty else { throw .file(path: String(path.dropLast()), .nothing) }
        guard files.count <= Configuration.mostFiles else {
            throw .file(path: folder, .tooMany(limit: Configuration.mostFiles))
        }
        return files
    }

    private func dropIns(_ folder: String) throws(ConfigurationError) -> [String] {
        guard let directory = opendir(folder) else {
            switch errno {
            case ENOENT: return []
            case ENOTDIR: throw .file(path: folder, .noDirectory)
            default: throw .file(path: folder, ConfigurationError.FileProblem(code: errno))
            }
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                // The kernel ends every name with a NUL within the field.
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            guard !name.hasPrefix("."), name.hasSuffix(Self.suffix) else { continue }
            // A link that leads nowhere is kept, and told of when it is opened; one to /dev/null masks a file.
            let kind = Self.kind(of: folder + "/" + name)
            if kind == S_IFREG || kind == nil { names.append(name) }
        }
        guard errno == 0 else { throw .file(path: folder, ConfigurationError.FileProblem(code: errno)) }
        return names
    }

    /// Whether there is nothing of a name, not even a link that leads nowhere.
    private static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && errno == ENOENT
    }

    /// The type of a file, after following links; `nil` when there is none, or nobody may say.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Whether a path leads to a folder.
    static func exists(at path: String) -> Bool {
        kind(of: path) == S_IFDIR
    }
}
