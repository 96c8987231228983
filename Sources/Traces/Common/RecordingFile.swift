import Glibc
import PosixCalls

/// The output file of a recording, or standard output; it keeps the first write error and writes nothing after it.
package final class RecordingFile {
    private(set) var failure: TraceError?
    /// Whether the failure was that the reading end of a pipe was closed.
    package private(set) var isReaderGone = false

    private let path: String
    private let replacing: Bool
    /// `nil` for standard output, which is not closed, and before ``begin()``.
    private var file: Descriptor?
    /// What was written before ``begin()``; `nil` behind it.
    private var held: [UInt8]?

    /// Creates the file, where `-` is standard output; throws if it exists and `replacing` is false.
    ///
    /// With `waitsForSamples` a file is created, or emptied, by ``begin()``: without samples it stays as it was, or there is none.
    package init(path: String, replacing: Bool, waitsForSamples: Bool = false) throws(TraceError) {
        self.path = path
        self.replacing = replacing
        guard path != "-" else { return }
        let present = try? fileStatus(path, followsLink: false)
        guard waitsForSamples, present?.isRegular ?? true else {
            try open()
            return
        }
        _ = try ResultFile(path: path, replacing: replacing)
        if present != nil {
            try mapError({ Self.error(creating: path, $0) }) { () throws(SystemError) in
                try systemCall("access", path: path) { access(path, W_OK) }
            }
        }
        held = []
    }

    /// Whether nothing is written yet, because there was no sample.
    var isWaiting: Bool { held != nil }

    /// Creates the file that waits for samples, and writes what stands before them.
    func begin() throws(TraceError) {
        guard let bytes = held, failure == nil else { return }
        held = nil
        do throws(TraceError) {
            try open()
        } catch {
            try refuse(error)
        }
        try write(bytes)
    }

    /// Opens the file to write; a link is not followed, because in a folder of another user it may lead to any file.
    private func open() throws(TraceError) {
        // A recording cannot be repeated, so an existing one is not truncated by mistake. O_NONBLOCK: opening a FIFO without a reader
        // would wait, also beyond a signal. Writing waits for the reader.
        let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_CREAT | (replacing ? O_TRUNC : O_EXCL)
        let ownFlags = flags | (Self.followsLink(path) ? 0 : O_NOFOLLOW)
        file = try mapError({ Self.error(creating: path, $0) }) { () throws(SystemError) in
            let file = Descriptor(owning: try systemCall("open", path: path) { Glibc.open(path, ownFlags, 0o644) })
            try systemCall("fcntl", path: path) { fcntl(file.raw, F_SETFL, 0) }
            return file
        }
    }

    /// Writes all bytes; throws ``TraceError`` at the first failure only.
    package func write(_ bytes: [UInt8]) throws(TraceError) {
        guard failure == nil else { return }
        guard held == nil else {
            held? += bytes
            return
        }
        try requireKept()
        do throws(SystemError) {
            try writeAll(bytes, to: file?.raw ?? STDOUT_FILENO)
        } catch {
            isReaderGone = error.isReaderGone
            let name = file == nil ? "standard output" : path
            let failure = TraceError(.inputOutput, path: name, "writing failed: \(error.reason)")
            self.failure = failure
            throw failure
        }
    }

    /// Throws if another program deleted the file or made it shorter: what was written is lost then, without an error of the kernel.
    private func requireKept() throws(TraceError) {
        guard let file, let status = try? fileStatus(of: file.raw), status.isRegular else { return }
        let loss: String
        if status.st_nlink == 0 {
            loss = "was deleted while it was written: what it held is lost"
        } else if status.st_size < lseek(file.raw, 0, SEEK_CUR) {
            loss = "was made shorter while it was written: a part of it is lost"
        } else {
            return
        }
        try refuse(TraceError(.inputOutput, path: path, loss))
    }

    /// Keeps a failure of what is to be written, and throws it; nothing is written after it.
    func refuse(_ failure: TraceError) throws(TraceError) {
        self.failure = failure
        throw failure
    }

    /// /dev/stdout and the /dev/fd/63 of a shell are links of the kernel's.
    fileprivate static func followsLink(_ path: String) -> Bool {
        path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
    }

    fileprivate static func error(creating path: String, _ error: SystemError) -> TraceError {
        switch error.code {
        case ELOOP:
            TraceError(
                .cannotCreate, path: path,
                "is a symbolic link, which is not written through: name the file that it leads to, or remove the link")
        case EEXIST:
            TraceError(
                .cannotCreate, path: path, "is there already: choose another name, or overwrite it with --force")
        case ENXIO:
            TraceError(.cannotCreate, path: path, "is a pipe that no program reads: start its reader first")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be written by this user (\(error.reason))")
        default:
            TraceError(.cannotCreate, path: path, "cannot be created: \(error.reason)")
        }
    }
}

/// A picture or a report, which is written as a whole when it is known; `-` is standard output.
///
/// A failure leaves the file as it was, or none.
package struct ResultFile {
    private let path: String
    private let replacing: Bool

    /// Checks, before minutes of work, that the file can be written; throws if it exists and `replacing` is false.
    package init(path: String, replacing: Bool) throws(TraceError) {
        self.path = path
        self.replacing = replacing
        guard path != "-", try existing == nil else { return }
        try mapError({ RecordingFile.error(creating: path, $0) }) { () throws(SystemError) in
            try requireWritableFolder(of: path)
        }
    }

    /// The file that is there now; throws if it must not be replaced.
    private var existing: stat? {
        get throws(TraceError) {
            guard let status = try? fileStatus(path, followsLink: false) else { return nil }
            func refuse(_ code: Int32) -> TraceError {
                RecordingFile.error(creating: path, SystemError(code: code, call: "open"))
            }
            guard replacing else { throw refuse(EEXIST) }
            guard status.kind != S_IFLNK || RecordingFile.followsLink(path) else { throw refuse(ELOOP) }
            return status
        }
    }

    package func write(_ bytes: [UInt8]) throws(TraceError) {
        let status = path == "-" ? nil : try existing
        guard path != "-", status?.isRegular ?? true else {
            // A pipe, a terminal or a device cannot be replaced.
            return try RecordingFile(path: path, replacing: true).write(bytes)
        }
        try mapError({ RecordingFile.error(creating: path, $0) }) { () throws(SystemError) in
            try SmallFile.replace(path, with: bytes, mode: status.map { $0.st_mode & 0o777 })
        }
    }
}
