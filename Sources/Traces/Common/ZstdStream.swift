import CZstd

/// Unpacks zstd, a piece at a time, with libzstd, which is loaded for it.
///
/// Memory is bounded by the format's window, at most 128 MB, and a recording's is a few. How much comes out is bounded
/// by what went in: ``mostRatio``.
final class ZstdStream {
    /// The first bytes of a frame.
    static let mark: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// More than samples can be compressed, and less than a bomb unpacks to.
    static let mostRatio = 1000
    /// Whatever the ratio, so much may come out.
    private static let alwaysAllowed = 64 << 20

    private let library: UnsafePointer<czstd>
    private let stream: OpaquePointer
    /// Whether the last frame is complete.
    private(set) var isComplete = true
    /// What comes out, before it is handed over; confined to this object, which frees it.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 64)

    /// Loads the library; throws ``TraceError`` with what to do when it is missing.
    init(path: String) throws(TraceError) {
        var reason: UnsafePointer<CChar>?
        guard let library = czstd_load(&reason), let stream = library.pointee.ZSTD_createDStream() else {
            let words = reason.map { String(cString: $0) } ?? ""
            throw TraceError(
                .data, path: path,
                "is compressed with zstd, and \(words.isEmpty ? "there is no memory for it" : words): install libzstd1, or "
                    + "unpack it first (unzstd)", remedy: ForeignFormat.unzstd(path))
        }
        self.library = library
        self.stream = stream
    }

    deinit {
        _ = library.pointee.ZSTD_freeDStream(stream)
        room.deallocate()
    }

    /// How many bytes may come out of some.
    static func limit(for count: Int) -> Int {
        let most = count.multipliedReportingOverflow(by: mostRatio)
        return (most.overflow ? .max / 2 : most.partialValue) + alwaysAllowed
    }

    /// Forgets an incomplete frame.
    func begin() {
        _ = library.pointee.ZSTD_initDStream(stream)
        isComplete = true
    }

    /// Unpacks all of some bytes, and hands over what comes out.
    ///
    /// - Throws: What `take` throws, and the ``TraceError`` that `damage` makes with the library's words when they are no zstd.
    func unpack(
        _ bytes: UnsafeRawBufferPointer, damage: (String) -> TraceError,
        _ take: (UnsafeRawBufferPointer) throws(TraceError) -> Void
    ) throws(TraceError) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isFull = false
        while input.pos < input.size || isFull {
            var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
            let code = library.pointee.ZSTD_decompressStream(stream, &output, &input)
            guard library.pointee.ZSTD_isError(code) == 0 else {
                throw damage(String(cString: library.pointee.ZSTD_getErrorName(code)))
            }
            isComplete = code == 0
            // With its room full it may hold back more.
            isFull = output.pos == room.count && !isComplete
            try take(UnsafeRawBufferPointer(rebasing: room[..<output.pos]))
        }
    }
}
