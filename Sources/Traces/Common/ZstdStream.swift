import CZstd

/// Unpacks zstd piece by piece with libzstd, which is loaded on demand.
///
/// Memory is bounded by the format's window, at most 128 MB, and a few for a recording. The output is bounded by the input, see
/// ``mostRatio``.
final class ZstdStream {
    /// The first bytes of a frame.
    static let mark: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// The maximum ratio of output to input: more than samples compress, and less than a decompression bomb.
    static let mostRatio = 1000
    /// More than the format can shorten: four bytes make a block of at most 128 KiB.
    static let mostPossibleRatio = 1 << 16
    /// The output that is allowed whatever the ratio, in bytes.
    ///
    /// A dead sensor repeats one value, which zstd shortens more than any ratio allows.
    private static let alwaysAllowed = 1 << 30

    private let library: UnsafePointer<czstd>
    private let stream: OpaquePointer
    private(set) var isComplete = true
    /// The output buffer; confined to this object, which frees it.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 64)

    /// Loads the library; throws ``TraceError`` with the remedy when it is missing.
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

    /// The maximum output for an input of `count` bytes.
    static func limit(for count: Int) -> Int {
        let most = count.multipliedReportingOverflow(by: mostRatio)
        return (most.overflow ? .max / 2 : most.partialValue) + alwaysAllowed
    }

    func begin() {
        _ = library.pointee.ZSTD_initDStream(stream)
        isComplete = true
    }

    /// Unpacks all of some bytes, and passes the output to `take`.
    ///
    /// - Throws: Errors of `take`, and the ``TraceError`` that `damage` makes from the library's message when the bytes are not
    ///   zstd.
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
            // With a full output buffer, the library may hold back more.
            isFull = output.pos == room.count && !isComplete
            try take(UnsafeRawBufferPointer(rebasing: room[..<output.pos]))
        }
    }
}
