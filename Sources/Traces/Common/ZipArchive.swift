import CArchive
import Glibc
import PlainText

/// A zip archive with a recording, read with libarchive, which is loaded on demand.
///
/// Nothing is written under a name from the archive: an entry, named `ARCHIVE/ENTRY`, is unpacked into an unnamed file.
struct ZipArchive {
    /// The names of its files, in the archive's order, without hidden ones.
    private(set) var names: [String] = []
    /// What is in it and no file that could be read, with the reason.
    private(set) var others: [String] = []

    /// More than any export has.
    private static let mostEntries = 1000
    private static let mostEntryBytes = 2 << 30
    private static let mostBytes = 4 << 30
    /// The greatest ratio of what is unpacked to the archive, above ``alwaysAllowed`` bytes; tables of numbers have a tenth of it.
    private static let mostRatio = 200
    private static let alwaysAllowed = 64 << 20
    /// libarchive reads the directory at the archive's end into memory; this many bytes of it have 40,000 names.
    private static let mostDirectoryBytes = 4 << 20
    /// libarchive looks for the record at the end in as many bytes.
    private static let tailBytes = 16_384
    private static let endBytes = 22

    /// Lists an archive; `nil` for another file, and for a workbook, which is one by its format alone.
    init?(path: String) throws(TraceError) {
        guard InputFile.isRegular(path) else { return nil }
        let file = try InputFile.open(path: path)
        let first = file.firstBytes(ForeignFormat.markCount)
        guard Self.begins(with: first), ForeignFormat.workbook(path) == nil else { return nil }
        var seen: Set<String> = []
        var (count, total) = (0, 0)
        let most = Self.mostBytes(of: file)
        try Self.walk(file) { entry throws(TraceError) in
            count += 1
            total += min(max(entry.size, 0), Self.mostBytes + 1)
            guard count <= Self.mostEntries, entry.size <= Self.mostEntryBytes, total <= most else {
                throw Self.excess("\(path)/\(entry.name)")
            }
            let isHidden = entry.name.split(separator: "/").last?.hasPrefix(".") ?? true
            if let reason = entry.fault {
                others.append("\(entry.name) (\(reason))")
            } else if entry.isFile, !isHidden {
                guard seen.insert(entry.name).inserted else {
                    throw TraceError(.data, path: "\(path)/\(entry.name)", "is in the archive twice: unpack it first")
                }
                names.append(entry.name)
            }
            return true
        }
    }

    /// The regular file at the begin of a path, and the rest of the path; `nil` if there is none.
    static func split(_ path: String) -> (archive: String, entry: String)? {
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/"), slash > path.startIndex {
            rest = path[..<slash]
            if InputFile.isRegular(String(rest)) { return (String(rest), String(path[path.index(after: slash)...])) }
        }
        return nil
    }

    /// Unpacks the entry that a path names; `nil` for a path that leads into no archive.
    static func entry(at path: String) throws(TraceError) -> InputFile? {
        guard let (archive, name) = split(path) else { return nil }
        let file = try InputFile.open(path: archive)
        guard begins(with: file.firstBytes(ForeignFormat.markCount)) else { return nil }
        var found: InputFile?
        try walk(file) { entry throws(TraceError) in
            guard entry.name == name, entry.isFile, entry.fault == nil else { return true }
            guard entry.size <= min(mostEntryBytes, mostBytes(of: file)) else { throw excess(path) }
            found = try entry.unpack(path)
            return false
        }
        guard let found else { throw TraceError(.noInput, path: path, "no such entry in the archive") }
        return found
    }

    /// How much of an archive is unpacked at most, in bytes.
    private static func mostBytes(of file: InputFile) -> Int {
        min(mostBytes, min(Int(file.size ?? 0), mostBytes) * mostRatio + alwaysAllowed)
    }

    private static func excess(_ path: String) -> TraceError {
        TraceError(
            .data, path: path,
            "is more than a recording has (\(mostEntries) entries, 2 GiB in one, 4 GiB in all, \(mostRatio) times the "
                + "archive's size): if it is one, unpack it first")
    }

    static func begins(with first: [UInt8]) -> Bool {
        first.starts(with: "PK\u{3}\u{4}".utf8) || first.starts(with: "PK\u{5}\u{6}".utf8)
    }

    /// Visits each entry until the visitor returns false.
    private static func walk(_ file: InputFile, _ visit: (Entry) throws(TraceError) -> Bool) throws(TraceError) {
        let path = file.path
        try requireEnd(file)
        // libarchive reads names in the characters of the thread's locale; those of "C", with which a program begins, are ASCII.
        let characters = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
        let previous = uselocale(characters)
        defer {
            uselocale(previous)
            if let characters { freelocale(characters) }
        }
        var reason: UnsafePointer<CChar>?
        guard let library = carchive_load(&reason)?.pointee, let archive = library.archive_read_new() else {
            throw TraceError(
                .data, path: path,
                "is a zip archive, and cannot be read (\(String(text: reason))): install libarchive13, or unpack it first (unzip "
                    + "\(ShellText.quoted(path)))")
        }
        defer { _ = library.archive_read_free(archive) }
        _ = library.archive_read_support_format_zip_seekable(archive)
        func require(_ result: Int32) throws(TraceError) {
            guard result < CARCHIVE_WARN else { return }
            let words = String(text: library.archive_error_string(archive))
            throw TraceError(.data, path: path, "is a damaged zip archive: \(words)")
        }
        try require(library.archive_read_open_fd(archive, file.descriptor, 65_536))
        var pointer: OpaquePointer?
        while true {
            let result = library.archive_read_next_header(archive, &pointer)
            try require(result)
            guard result != CARCHIVE_EOF, let pointer else { return }
            guard try visit(Entry(library, archive, pointer)) else { return }
        }
    }

    /// Throws unless the directory at the end is there and small, because libarchive reads all of it into memory.
    private static func requireEnd(_ file: InputFile) throws(TraceError) {
        let size = Int(file.size ?? 0)
        let tail = file.bytes(min(tailBytes, size), at: max(0, size - tailBytes))
        func value(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(tail[place + $1]) << (8 * $1) } }
        guard
            let place = stride(from: tail.count - endBytes, through: 0, by: -1).first(where: {
                tail[$0...].starts(with: "PK\u{5}\u{6}".utf8)
            })
        else {
            throw TraceError(.data, path: file.path, "is a zip archive whose end is missing: copy it again")
        }
        guard place > 0 || size > endBytes else { throw TraceError(.data, path: file.path, "is an empty zip archive") }
        let end = size - tail.count + place
        guard value(place + 12) <= mostDirectoryBytes, end - value(place + 16) <= mostDirectoryBytes,
            place < 20 || !tail[(place - 20)...].starts(with: "PK\u{6}\u{7}".utf8)
        else {
            throw TraceError(
                .data, path: file.path,
                "is a zip archive with a longer list of contents than any export has, or of more than 4 GiB: unpack it first"
            )
        }
    }

    /// An entry whose header was read; valid until the next.
    private struct Entry {
        let name: String
        /// In bytes, as the archive states; unpacking ends with an error after them.
        let size: Int
        let isFile: Bool
        /// Why it is not looked at.
        let fault: String?
        private let isEncrypted: Bool
        private let library: carchive
        private let archive: OpaquePointer

        init(_ library: carchive, _ archive: OpaquePointer, _ entry: OpaquePointer) {
            self.library = library
            self.archive = archive
            name = String(text: library.archive_entry_pathname_utf8(entry) ?? library.archive_entry_pathname(entry))
            size = Int(library.archive_entry_size(entry))
            let kind = library.archive_entry_filetype(entry)
            isFile = kind == S_IFREG && !name.hasSuffix("/")
            isEncrypted = library.archive_entry_is_encrypted(entry) != 0
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            fault =
                switch kind {
                case _ where name.isEmpty: "its name is empty or in another encoding"
                case S_IFLNK: "a link"
                case S_IFREG, S_IFDIR:
                    name.hasPrefix("/") || parts.contains("..") ? "its name leads out of the archive" : nil
                default: "no file"
                }
        }

        func unpack(_ path: String) throws(TraceError) -> InputFile {
            func refusal(_ words: String) -> TraceError { TraceError(.data, path: path, words) }
            guard !isEncrypted else { throw refusal("is encrypted: unpack the archive with its password first") }
            // Others need memory that the archive chooses.
            let method = String(text: library.archive_format_name(archive))
            guard method.contains("(deflation)") || method.contains("(uncompressed)") else {
                throw refusal("is packed as \(method), and not as zip programs do by default: unpack the archive first")
            }
            let spool = try SpoolFile(for: path)
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 64)
            defer { room.deallocate() }
            while let base = room.baseAddress {
                let count = library.archive_read_data(archive, base, room.count)
                guard count >= 0 else {
                    let words = String(text: library.archive_error_string(archive))
                    throw refusal(
                        "cannot be unpacked: \(words.isEmpty ? "no reason is known" : words); copy the archive again")
                }
                guard count > 0 else { break }
                guard spool.count + count <= size else { throw refusal("has more bytes than its archive states") }
                try spool.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
            guard spool.count == size else { throw refusal("has fewer bytes than its archive states") }
            return try spool.input()
        }
    }
}

/// Entries of archives and compressed files that were unpacked, so that each is unpacked once.
package struct UnpackedEntries: Sendable {
    private var files: [String: InputFile] = [:]

    package init() {}

    mutating func add(_ entry: InputFile) { files[entry.path] = entry }

    mutating func remove(_ path: String) { files[path] = nil }

    package mutating func formUnion(_ other: UnpackedEntries) {
        files.merge(other.files) { _, new in new }
    }

    /// Unpacks a compressed file or an entry of an archive; returns the defect at its end, if any.
    package mutating func unpack(_ path: String, isCancelled: () -> Bool) throws(TraceError) -> TraceNotice? {
        let container = RecordingFolder.file(path)
        // A pipe is opened once, when it is played.
        guard InputFile.isRegular(container) else { return nil }
        let packed = try open(path: path)
        let (file, notice) = try Unpacking.file(packed, isCancelled: isCancelled)
        let unpacked = try ArrowTrace.unpacked(file)
        if container != path || unpacked.descriptor != packed.descriptor { add(unpacked) }
        return notice
    }

    /// Opens an entry or a file that was unpacked, or any other file.
    func open(path: String) throws(TraceError) -> InputFile {
        if let file = files[path] { try file.reopened() } else { try InputFile.open(path: path) }
    }
}

extension String {
    /// A text of libarchive's, which it may not have; some of its messages end a line.
    fileprivate init(text: UnsafePointer<CChar>?) {
        self = text.map { String(cString: $0) } ?? ""
        if last == "\n" { removeLast() }
    }
}
