/// Copies compressed data, or data that cannot be mapped, into an unnamed file.
enum Unpacking {
    private static let pieceSize = 262_144

    /// A file, unpacked if it is compressed as a whole with zstd; with the defect at its end, if any.
    static func file(_ file: InputFile, isCancelled: () -> Bool) throws(TraceError) -> (
        file: InputFile, notice: TraceNotice?
    ) {
        guard file.firstBytes(ZstdStream.mark.count) == ZstdStream.mark, let size = file.size else {
            return (file, nil)
        }
        let stream = try ZstdStream(path: file.path)
        let spool = try SpoolFile(for: file.path)
        let limit = ZstdStream.limit(for: Int(size))
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        defer { piece.deallocate() }
        var consumed = 0
        while let base = piece.baseAddress, !isCancelled() {
            let count = try file.read(into: base, count: piece.count, isCancelled: isCancelled)
            guard count > 0 else { break }
            let damage = { [consumed] (words: String) in
                TraceError(
                    .data, path: file.path,
                    "is compressed with zstd, and damaged between byte \(consumed) and \(consumed + count): \(words)")
            }
            try stream.unpack(UnsafeRawBufferPointer(rebasing: piece[..<count]), damage: damage) {
                bytes throws(TraceError) in
                guard spool.count + bytes.count <= limit else { throw tooLarge(file.path) }
                try spool.append(bytes)
            }
            consumed += count
        }
        guard stream.isComplete || spool.count > 0 || isCancelled() else {
            throw TraceError(
                .data, path: file.path,
                "is compressed with zstd, and ends before anything can be unpacked: copy or record it again")
        }
        let notice = TraceNotice(
            path: file.path, line: nil, column: nil,
            message: "its last frame of zstd was not written to its end: what could be unpacked of it is used")
        return (try spool.input(), stream.isComplete || isCancelled() ? nil : notice)
    }

    /// All bytes of a pipe, including those that were read already.
    static func pipe(_ lines: LineReader) throws(TraceError) -> InputFile {
        let spool = try SpoolFile(for: lines.path)
        try lines.drain { bytes throws(TraceError) in try spool.append(bytes) }
        return try spool.input()
    }

    static func tooLarge(_ path: String) -> TraceError {
        TraceError(
            .data, path: path,
            "unpacks to more than \(ZstdStream.mostRatio) times its size and 1 GiB: this is no recording; if it is one, unpack it "
                + "first (unzstd, or write it again with compression=None)")
    }
}
