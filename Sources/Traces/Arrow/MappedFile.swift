import CMappedFile
import Glibc
import PosixCalls

/// A file in memory, as long as it was when it was opened.
///
/// The memory is read-only and stays mapped as long as this object lives. What the file loses meanwhile reads as NaN, or
/// as zeros up to the end of a page; ``hasShrunk`` tells of it, and is asked before anything that was read is believed.
/// That is why pointers into it may be handed out: they never point to nothing.
final class MappedFile {
    let path: String
    /// All bytes.
    let bytes: UnsafeRawBufferPointer

    private let file: InputFile
    private var mapping: cmappedfile
    /// Up to where the pages were let go.
    private var released = 0

    /// So much is let go at a time.
    private static let pieceSize = 64 << 20

    /// - Parameters:
    ///   - file: A file with at least one byte.
    ///   - count: Its size.
    /// - Throws: ``TraceError`` when it cannot be mapped.
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

    /// Whether the file has lost bytes since it was opened, so that what was read may be none of it.
    var hasShrunk: Bool {
        cmappedfile_is_torn(&mapping) || file.currentSize.map { $0 < Int64(bytes.count) } ?? true
    }

    /// Lets go of the pages up to a place; they can be read again all the same.
    func release(upTo offset: Int) {
        guard offset - released >= Self.pieceSize else { return }
        cmappedfile_release(&mapping, released, offset)
        released = offset
    }
}
