import Glibc

/// Reads whole small files, up to a limit.
package enum SmallFile {
    /// The kinds of files to accept.
    package enum Kind {
        /// Regular files, and what the shell has opened, as in `<(cat FILE)`, which may be waited for.
        case given
        /// Any; a FIFO without a writer is empty.
        case present
        case regular
    }

    /// Whether a path names what this process was started with, so that a pipe has a writer.
    package static func isOpenedByShell(_ path: String) -> Bool {
        ["/dev/fd/", "/proc/self/fd/"].contains(where: path.hasPrefix) || path == "/dev/stdin"
    }

    /// Why a file was not read.
    package enum Failure: Error, Equatable {
        case system(SystemError)
        case directory
        case irregular
        /// Its contents are not what is wanted of it; for callers.
        case malformed
        /// It is larger than the limit.
        case tooLarge

        package var reason: String {
            switch self {
            case .system(let error): error.reason
            case .directory: "it is a directory"
            case .irregular: "it is a pipe or a device and no file"
            case .malformed: "its contents make no sense"
            case .tooLarge: "it is too large"
            }
        }

        /// Whether the file does not exist.
        package var isMissing: Bool { if case .system(let error) = self { error.isMissing } else { false } }
    }

    /// Reads a file of at most `limit` bytes; throws ``Failure``.
    package static func bytes(_ path: String, limit: Int, kind: Kind) throws(Failure) -> [UInt8] {
        let mayWait = kind == .given && isOpenedByShell(path)
        let file = try mapError(Failure.system) { () throws(SystemError) in
            try Descriptor(path: path, flags: O_RDONLY | (mayWait ? 0 : O_NONBLOCK))
        }
        if kind != .present, !mayWait {
            guard let status = try? fileStatus(of: file.raw), !status.isFolder else { throw .directory }
            guard status.isRegular else { throw .irregular }
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit + 1, 65_536))
        while bytes.count <= limit {
            let count = try mapError(Failure.system) { () throws(SystemError) in
                try systemCall("read", path: path) { read(file.raw, &piece, piece.count) }
            }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
        throw .tooLarge
    }

    /// Writes a file atomically: a reader sees the old or the new file, and a failure keeps the old one.
    ///
    /// A symbolic link is replaced, and not followed. The file gets the mode, whatever the umask; `nil` is that of a new file.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32?) throws(SystemError) {
        // In the same folder, because rename(2) works within one file system. Random, because threads share the number of their
        // process, and containers with a common folder may have processes of the same number.
        let temporary = "\(path).\(String(UInt32.random(in: 0...UInt32.max), radix: 36)).new"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = Descriptor(owning: try systemCall("open", path: temporary) { open(temporary, flags, mode ?? 0o644) })
        do throws(SystemError) {
            try writeAll(bytes, to: file.raw, path: temporary)
            if let mode { try systemCall("fchmod", path: temporary) { fchmod(file.raw, mode) } }
            // Without this, a power failure may leave an empty file under the new name.
            try systemCall("fsync", path: temporary) { fsync(file.raw) }
            try systemCall("rename", path: path) { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The text of a kernel file without surrounding white space; `nil` when it is unreadable.
    package static func kernelText(_ path: String) -> String? {
        guard let bytes = try? bytes(path, limit: 1 << 20, kind: .present) else { return nil }
        let blanks: Set<UInt8> = [9, 10, 13, 32, 0]
        guard let first = bytes.firstIndex(where: { !blanks.contains($0) }),
            let last = bytes.lastIndex(where: { !blanks.contains($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
