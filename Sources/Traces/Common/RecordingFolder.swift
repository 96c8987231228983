import Binnacle
import PlainText
import PosixCalls

/// The export of an app as a folder or a zip archive: the files that belong to one recording, and those that are left out.
///
/// Of several files with the same kind of samples, an app's export has one that detectors are made for: the acceleration with
/// gravity rather than without, and what was calibrated rather than what was not.
package struct RecordingFolder {
    /// The files to play, in the order of their names.
    package let files: [String]
    /// Those of an archive, unpacked.
    package private(set) var entries = UnpackedEntries()
    /// What is left out, in one line; `nil` for nothing.
    package let notice: String?

    /// More names than any export has.
    private static let mostNames = 1000

    private struct Candidate {
        let path: String
        let kinds: Set<SampleKind>
        let rank: Int
    }

    /// Looks into a folder or an archive, and not into folders in it; `nil` for what is neither.
    ///
    /// Pipes and devices are left out unopened, so nothing is waited for. A folder that has all of an archive is looked into.
    ///
    /// `isCancelled` is called as by ``TraceFile``.
    ///
    /// - Throws: ``TraceError`` when the folder has no recording, or several that do not belong together, and when an entry of an
    ///   archive cannot be unpacked.
    package init?(path: String, hints: TraceHints, isCancelled: @escaping () -> Bool) throws(TraceError) {
        var folder = path.hasSuffix("/") ? path : path + "/"
        var names: [String] = []
        let archive = try ZipArchive(path: path)
        var others = archive?.others ?? []
        if let archive {
            names = archive.names.sorted()
            while let top = Self.top(of: names) {
                folder += top
                others += names.filter { !$0.hasPrefix(top) }
                names = names.filter { $0.hasPrefix(top) }.map { String($0.dropFirst(top.count)) }
            }
        } else {
            guard (try? fileStatus(path))?.isFolder == true else { return nil }
            names = try mapError({ TraceError(.noPermission, path: path, "cannot be read: \($0.reason)") }) {
                () throws(SystemError) in try folderNames(path)
            }.filter { !$0.hasPrefix(".") }.sorted()
        }
        guard names.count <= Self.mostNames else {
            throw TraceError(
                .data, path: path,
                "has more than \(Self.mostNames) files, which no export has: name those that belong together")
        }
        var hints = hints
        hints.isOnlyFile = false
        var found: [Candidate] = []
        var refused: [TraceError] = []
        var doubtful: [TraceError] = []
        var empty: Set<String> = []
        // A file that was converted takes the place of the one that could not be read.
        let converted = Set(names.filter { $0.hasSuffix(ForeignFormat.convertedSuffix) })
        for name in names where Self.mayBeRecording(name) && !isCancelled() {
            guard !converted.contains(ForeignFormat.beside(name, ForeignFormat.convertedSuffix)) else { continue }
            guard archive != nil ? !name.contains("/") : InputFile.isRegular(folder + name) else { continue }
            // An entry that cannot be unpacked is not passed over.
            let path = folder + name
            if archive != nil { entries.add(try InputFile.open(path: path)) }
            do throws(TraceError) {
                // An app makes a file also for a sensor that the device does not have.
                if Self.isTable(name), try CSVHead.isAlone(in: entries.open(path: path)) {
                    empty.insert(name)
                    continue
                }
                let file = try TraceFile(path: path, entries: entries, hints: hints, isCancelled: isCancelled)
                found.append(
                    Candidate(path: path, kinds: Set(file.contents.map(\.kind)), rank: Self.rank(name)))
            } catch {
                guard error.remedy != .leftOut else { continue }
                // A file that should be a sensor's is not passed over.
                if TraceFileName(name).kind != nil {
                    refused.append(error)
                } else if !Self.isText(name) {
                    doubtful.append(error)
                }
            }
        }
        var chosen: Set<String> = []
        for kind in SampleKind.allCases {
            let having = found.filter { $0.kinds.contains(kind) }
            guard let best = having.map(\.rank).min() else { continue }
            let equals = having.filter { $0.rank == best }
            guard equals.count == 1 else {
                let words = equals.prefix(3).map { String($0.path.dropFirst(folder.count)).printable }
                throw TraceError(
                    .data, path: path,
                    "has \(equals.count) files with a recording of the \(kind.rawValue) (\(words.joined(separator: ", "))"
                        + "\(equals.count > 3 ? " …" : "")): name those that belong together, or replay each with --each"
                )
            }
            chosen.formUnion(equals.map(\.path))
        }
        if let error = refused.first(where: { error in
            let kind = TraceFileName(error.path).kind
            return !found.contains { chosen.contains($0.path) && $0.kinds.contains { $0 == kind } }
        }) {
            throw error
        }
        files = found.map(\.path).filter(chosen.contains)
        for name in names where !chosen.contains(folder + name) { entries.remove(folder + name) }
        let left =
            names.filter { !chosen.contains(folder + $0) }.map { empty.contains($0) ? $0 + " (no sample)" : $0 }
            + others
        guard !files.isEmpty else {
            if doubtful.count == 1, empty.isEmpty { throw doubtful[0] }
            throw TraceError(
                .data, path: path,
                "is \(archive == nil ? "a directory" : "a zip archive") without a recording: CSV files of sensors, Arrow streams, MCAP "
                    + "files or evemu recordings"
                    + (left.isEmpty ? "" : " (left out: \(Self.list(left)))"))
        }
        notice = left.isEmpty ? nil : "\(path.printable): left out: \(Self.list(left))"
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { name in
            name.printable + (name.unicodeScalars.contains("\u{FFFD}") ? " (its name is not UTF-8)" : "")
        }
        return shown.joined(separator: ", ") + (names.count > 12 ? " and \(names.count - 12) more" : "")
    }

    /// The folder with a slash that has all files of an archive but for notes beside it; `nil` if there is none.
    private static func top(of names: [String]) -> String? {
        let tops = Set(names.compactMap { name in name.firstIndex(of: "/").map { String(name[...$0]) } })
        let loose = names.filter { !$0.contains("/") && mayBeRecording($0) && !isText($0) }
        return tops.count == 1 && loose.isEmpty ? tops.first : nil
    }

    /// Whether a name is that of notes as well as of a recording.
    private static func isText(_ name: String) -> Bool { name.lowercased().hasSuffix(".txt") }

    /// The file that a path leads to: the archive for an entry of one.
    package static func file(_ path: String) -> String { ZipArchive.split(path)?.archive ?? path }

    /// Whether a name is that of a sensor's table.
    private static func isTable(_ name: String) -> Bool {
        TraceFileName(name).kind != nil && [".csv", ".txt", ".tsv"].contains(where: name.lowercased().hasSuffix)
    }

    private static func mayBeRecording(_ name: String) -> Bool {
        let lower = name.lowercased()
        return [".csv", ".txt", ".tsv", ".arrows", ".arrow", ".mcap", ".evemu", ".zst"].contains(where: lower.hasSuffix)
    }

    /// The order of preference among files with one kind of samples; the smallest is the best.
    private static func rank(_ name: String) -> Int {
        let read = TraceFileName(name)
        if read.content != .usual { return 3 }
        if read.isUncalibrated { return 2 }
        return name.lowercased().hasPrefix("total") ? 0 : 1
    }
}
