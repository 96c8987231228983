import Binnacle
import PlainText
import PosixCalls

/// The export of an app as a folder: the files that belong to one recording, and those that are left out.
///
/// Of several files with the same kind of samples, an app's export has one that detectors are made for: the acceleration with
/// gravity rather than without, and what was calibrated rather than what was not.
package struct RecordingFolder {
    /// The files to play, in the order of their names.
    package let files: [String]
    /// What is left out, in one line; `nil` for nothing.
    package let notice: String?

    /// More names than any export has.
    private static let mostNames = 1000

    private struct Candidate {
        let path: String
        let kinds: Set<SampleKind>
        let rank: Int
    }

    /// Looks into a folder, and not into those in it; `nil` for what is no folder.
    ///
    /// Pipes and devices are left out unopened, so nothing is waited for.
    ///
    /// - Throws: ``TraceError`` when the folder has no recording, or several that do not belong together.
    package init?(path: String, hints: TraceHints) throws(TraceError) {
        guard (try? fileStatus(path))?.isFolder == true else { return nil }
        let names = try mapError({ TraceError(.noPermission, path: path, "cannot be read: \($0.reason)") }) {
            () throws(SystemError) in try folderNames(path)
        }.filter { !$0.hasPrefix(".") }.sorted()
        guard names.count <= Self.mostNames else {
            throw TraceError(
                .data, path: path,
                "has more than \(Self.mostNames) files, which no export has: name those that belong together")
        }
        var hints = hints
        hints.isOnlyFile = false
        let folder = path.hasSuffix("/") ? path : path + "/"
        var found: [Candidate] = []
        var refused: [TraceError] = []
        for name in names where InputFile.isRegular(folder + name) && Self.mayBeRecording(name) {
            do throws(TraceError) {
                let file = try TraceFile(path: folder + name, hints: hints)
                found.append(
                    Candidate(path: folder + name, kinds: Set(file.contents.map(\.kind)), rank: Self.rank(name)))
            } catch {
                // A file that should be a sensor's is not passed over.
                if error.remedy != .leftOut, TraceFileName(name).kind != nil { refused.append(error) }
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
        guard !files.isEmpty else {
            throw TraceError(
                .data, path: path,
                "is a directory without a recording: CSV files of sensors, Arrow streams or evemu recordings")
        }
        let left = names.filter { !chosen.contains(folder + $0) }
        notice =
            left.isEmpty
            ? nil
            : "\(path.printable): left out: \(left.prefix(12).map(\.printable).joined(separator: ", "))"
                + (left.count > 12 ? " and \(left.count - 12) more" : "")
    }

    private static func mayBeRecording(_ name: String) -> Bool {
        let lower = name.lowercased()
        return [".csv", ".txt", ".tsv", ".arrows", ".arrow", ".evemu", ".zst"].contains(where: lower.hasSuffix)
            && !name.hasSuffix(ForeignFormat.convertedSuffix)
    }

    /// The order of preference among files with one kind of samples; the smallest is the best.
    private static func rank(_ name: String) -> Int {
        let read = TraceFileName(name)
        if read.content != .usual { return 3 }
        if read.isUncalibrated { return 2 }
        return name.lowercased().hasPrefix("total") ? 0 : 1
    }
}
