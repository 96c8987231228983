import Glibc
import PosixCalls

/// An unnamed file for unpacked data or the data of a pipe, so that it can be mapped and read like any other file.
///
/// It is in $TMPDIR, or else in /var/tmp, which by custom is on a disk and costs no memory.
final class SpoolFile {
    /// The path that messages name: the file or pipe from which the bytes come.
    let path: String
    private(set) var count = 0

    private let file: Descriptor
    private let folder: String
    private var pending: [UInt8] = []

    /// Small pieces are buffered up to this size.
    private static let pieceSize = 262_144
    /// What is kept free of the disk for other programs: a twentieth of it, at most this many bytes.
    private static let mostReserve: UInt64 = 1 << 30

    init(for path: String) throws(TraceError) {
        self.path = path
        let folder = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp"
        self.folder = folder
        file = try mapError({
            TraceError(
                .cannotCreate, path: path,
                "cannot be unpacked into \(folder): \($0.reason); name another folder in TMPDIR")
        }) { () throws(SystemError) in
            var template = Array("\(folder)/binnacle-XXXXXX".utf8CString)
            let file = Descriptor(owning: try systemCall("mkstemp", path: folder) { mkstemp(&template) })
            unlink(template)
            _ = fcntl(file.raw, F_SETFD, FD_CLOEXEC)
            return file
        }
    }

    /// Appends bytes in pieces, so that memory does not grow with them; throws ``TraceError`` when the disk is full.
    func append(_ bytes: UnsafeRawBufferPointer) throws(TraceError) {
        for start in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
            try add(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + Self.pieceSize)]))
        }
    }

    /// Appends bytes; throws ``TraceError`` when the disk is full.
    func append(_ bytes: some Collection<UInt8>) throws(TraceError) { try add(bytes) }

    private func add(_ bytes: some Collection<UInt8>) throws(TraceError) {
        pending += bytes
        count += bytes.count
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// The file, to be read from its start.
    func input() throws(TraceError) -> InputFile {
        try flush()
        lseek(file.raw, 0, SEEK_SET)
        return InputFile(path: path, size: Int64(count), file: file)
    }

    /// Throws ``TraceError`` when the disk would be as good as full; an endless pipe would take the last byte of it.
    private func requireRoom() throws(TraceError) {
        var disk = statvfs()
        guard fstatvfs(file.raw, &disk) == 0 else { return }
        let unit = UInt64(disk.f_frsize)
        let reserve = min(UInt64(disk.f_blocks) / 20 * unit, Self.mostReserve)
        guard UInt64(disk.f_bavail) * unit < reserve + UInt64(pending.count) else { return }
        throw TraceError(
            .inputOutput, path: path,
            "does not fit into \(folder): it has \(count >> 20) MiB so far, and \(reserve >> 20) MiB of that disk are kept free; name "
                + "another folder in TMPDIR")
    }

    private func flush() throws(TraceError) {
        try requireRoom()
        let (bytes, file) = (pending, file)
        try mapError({ TraceError(.inputOutput, path: path, "cannot be unpacked into \(folder): \($0.reason)") }) {
            () throws(SystemError) in try writeAll(bytes, to: file.raw, path: folder)
        }
        pending.removeAll(keepingCapacity: true)
    }
}
