import CMappedFile
import Glibc
import PosixCalls

/// A file mapped into memory at the size that it had when it was opened.
///
/// The memory is read-only and stays mapped while this object lives, so pointers into it are always valid. Parts that the file
/// loses meanwhile read as NaN, or as zeros up to the end of a page; check ``hasShrunk`` before you use what was read.
final class MappedFile {
    let path: String
    let bytes: UnsafeRawBufferPointer

    private let file: InputFile
    private var mapping: cmappedfile
    private var released = 0

    private static let pieceSize = 64 << 20

    /// Maps a file of `count` bytes, at least one; throws ``TraceError`` when that fails.
    init(_ file: InputFile, count: Int) throws(TraceError) {
        path = file.path
        mapping = cmappedfile()
        let code = cmappedfile_map(file.descriptor, count, &mapping)
        guard code == 0 else {
            let error = SystemError(code: code, call: "mmap")
            throw TraceError(.inputOutput, path: path, "cannot be mapped into memory: \(error.reason)")
        }
        bytes = UnsafeRawBufferPointer(start: mapping.bytes, count: count)
        self.file = file
    }

    deinit {
        cmappedfile_unmap(&mapping)
    }

    /// Whether the file has become shorter, so that values already read may not be the file's.
    var hasShrunk: Bool {
        cmappedfile_is_torn(&mapping) || file.currentSize.map { $0 < Int64(bytes.count) } ?? true
    }

    /// The error of a reader whose file has shrunk, which explains any other.
    static func shrunk(_ path: String) -> TraceError {
        TraceError(.inputOutput, path: path, "the file shrank while it was read: the rest is not used")
    }

    /// Releases the pages before an offset; they can still be read again.
    func release(upTo offset: Int) {
        guard offset - released >= Self.pieceSize else { return }
        cmappedfile_release(&mapping, released, offset)
        released = offset
    }
}
