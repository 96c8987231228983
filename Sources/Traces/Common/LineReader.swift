import Binnacle
import Glibc
import Kernels
import PosixCalls

/// Splits a file into lines, in one buffer of fixed size, or in chunks that other threads read ahead.
///
/// The buffer's memory is confined to this class, which also has exclusive use of a chunk until it requests the next one. A line
/// points into one of them and is valid until the next line is read.
final class LineReader: RowInput {
    struct Line {
        let bytes: UnsafeBufferPointer<UInt8>
        /// The line's number in the file, from 1.
        let number: Int
        /// Whether a line end follows; an unterminated line may be incomplete.
        let isTerminated: Bool
    }

    /// The maximum length of a line of samples.
    static let longestLine = 65_536
    /// The number of readable bytes after the text.
    static let padding = MarkKernel.blockSize + DecimalScanner.padding
    private static let bufferSize = 262_144

    let path: String
    let size: Int64?
    /// A file that shrinks is an error of read(2).
    let hasShrunk = false
    /// The number of bytes returned as lines.
    private(set) var consumed: Int64 = 0
    private(set) var lineNumber = 0

    private let file: InputFile
    private let isCancelled: () -> Bool
    private let ownBuffer: UnsafeMutablePointer<UInt8>
    /// The memory of the text: this reader's buffer, or a chunk.
    private var buffer: UnsafeMutablePointer<UInt8>
    /// Reads ahead; `nil` while this reader fills its buffer from the file.
    private var chunks: CSVChunks?
    private var start = 0
    private var end = 0
    private var lastTaken = 0
    private var isAtEnd = false
    private var isAtStart = true

    init(_ file: InputFile, isCancelled: @escaping () -> Bool) {
        self.isCancelled = isCancelled
        self.file = file
        path = file.path
        size = file.size
        ownBuffer = .allocate(capacity: Self.bufferSize + Self.padding)
        buffer = ownBuffer
    }

    deinit {
        ownBuffer.deallocate()
    }

    /// Decodes the remaining text on several threads, if it is long enough.
    func readAhead(_ head: CSVHead, _ chunking: Chunking) {
        guard size != nil else { return }
        let position = lseek(file.descriptor, 0, SEEK_CUR)
        guard position >= 0 else { return }
        chunks = CSVChunks(head, chunking, file: file, from: Int64(position) - Int64(end - start))
        guard chunks != nil else { return }
        // The first chunk begins with the buffered text.
        start = 0
        end = 0
        isAtEnd = false
        buffer[0] = UInt8(ascii: "\n")
    }

    /// Appends rows that were read ahead to a window, see ``CSVChunk/take(at:after:into:)``; `nil` when the next row has to be
    /// read.
    func appendRows(after time: Int64?, into window: [SampleBatch]) throws(TraceError) -> PlainRows? {
        while chunks != nil, start == end { try refill() }
        guard let rows = chunks?.current?.appendRows(at: start, after: time, into: window) else { return nil }
        advance(lineCount: rows.rowCount, byteCount: rows.byteCount)
        return rows
    }

    /// The first bytes of the text, before any line is read; without a byte-order mark, and fewer if the file is shorter.
    func firstBytes(_ count: Int) throws(TraceError) -> [UInt8] {
        while end - start < count, !isAtEnd { try refill() }
        return Array(UnsafeBufferPointer(start: buffer + start, count: min(count, end - start)))
    }

    /// The first lines, before any is read, without their ends, and whether the file has no others.
    ///
    /// Waits for a pipe; returns fewer lines when they do not fit into the buffer.
    func firstLines(_ count: Int) throws(TraceError) -> (lines: [[UInt8]], isWhole: Bool) {
        var lines: [[UInt8]] = []
        var place = start
        while lines.count < count {
            guard let found = memchr(buffer + place, Int32(UInt8(ascii: "\n")), end - place) else {
                let isFull = start == 0 && end == Self.bufferSize
                if isAtEnd || isFull || end - place > Self.longestLine {
                    let isWhole = isAtEnd
                    if isWhole, place < end, !isCancelled() { lines.append(line(place, end)) }
                    return (lines, isWhole)
                }
                let offset = place - start
                try refill()
                place = start + offset
                continue
            }
            let stop = found.assumingMemoryBound(to: UInt8.self) - buffer
            lines.append(line(place, stop))
            place = stop + 1
        }
        return (lines, false)
    }

    private func line(_ first: Int, _ end: Int) -> [UInt8] {
        let isReturned = end > first && buffer[end - 1] == UInt8(ascii: "\r")
        return Array(UnsafeBufferPointer(start: buffer + first, count: end - first - (isReturned ? 1 : 0)))
    }

    /// Passes the text not returned as lines to `take`, up to the end of the file.
    func drain(_ take: (UnsafeRawBufferPointer) throws(TraceError) -> Void) throws(TraceError) {
        while true {
            try take(UnsafeRawBufferPointer(start: buffer + start, count: end - start))
            start = end
            guard !isAtEnd else { return }
            try refill()
        }
    }

    /// The next line without its end (LF or CR LF); `nil` at the end of the file.
    func next() throws(TraceError) -> Line? {
        guard let line = try peek() else { return nil }
        lastTaken = line.bytes.count + (line.isTerminated ? 1 : 0)
        start += lastTaken
        consumed += Int64(lastTaken)
        lineNumber += 1
        guard let last = line.bytes.last, last == UInt8(ascii: "\r") else { return line }
        return Line(
            bytes: UnsafeBufferPointer(rebasing: line.bytes.dropLast()), number: line.number,
            isTerminated: line.isTerminated)
    }

    /// Whether the next line can be read without waiting for the writer of a pipe.
    var isLineReady: Bool {
        size != nil || isAtEnd || memchr(buffer + start, Int32(UInt8(ascii: "\n")), end - start) != nil
    }

    /// The text of the file that was read and not returned as lines.
    ///
    /// The ``padding`` bytes after it are readable; the first of them is a line end, the others are undefined.
    var text: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: buffer + start, count: end - start) }

    /// Consumes whole lines at the beginning of ``text``; they cannot be put back.
    func advance(lineCount: Int, byteCount: Int) {
        precondition(byteCount <= end - start, "more was taken than was read")
        start += byteCount
        consumed += Int64(byteCount)
        lineNumber += lineCount
        lastTaken = 0
    }

    /// Returns the last line again at the next ``next()``; allowed once after each.
    func putBack() {
        start -= lastTaken
        consumed -= Int64(lastTaken)
        lineNumber -= 1
        lastTaken = 0
    }

    /// Finds the next line, including a final CR, without consuming it.
    private func peek() throws(TraceError) -> Line? {
        var searched = 0
        while true {
            if let found = memchr(buffer + start + searched, Int32(UInt8(ascii: "\n")), end - start - searched) {
                let length = found.assumingMemoryBound(to: UInt8.self) - (buffer + start)
                guard length <= Self.longestLine else { throw tooLong() }
                return Line(
                    bytes: UnsafeBufferPointer(start: buffer + start, count: length), number: lineNumber + 1,
                    isTerminated: true)
            }
            searched = end - start
            guard searched <= Self.longestLine else { throw tooLong() }
            guard !isAtEnd else {
                // A line that was incomplete when the reader was cancelled is dropped.
                guard searched > 0, !isCancelled() else { return nil }
                return Line(
                    bytes: UnsafeBufferPointer(start: buffer + start, count: searched), number: lineNumber + 1,
                    isTerminated: false)
            }
            try refill()
        }
    }

    private func tooLong() -> TraceError {
        TraceError(
            .data, path: path, line: lineNumber + 1,
            end > start && buffer[start] == 0
                ? "zero bytes, as a power failure leaves them: "
                    + (lineNumber > 0
                        ? "head -n \(lineNumber) writes what is before them" : "there is nothing before them")
                : "the line is longer than \(Self.longestLine) bytes: this is no trace of samples")
    }

    private func refill() throws(TraceError) {
        if let chunks {
            // Chunks consist of whole lines, so all of this one were returned.
            if let chunk = chunks.next() {
                buffer = chunk.memory
                start = chunk.text.lowerBound
                end = chunk.text.upperBound
                return
            }
            try endChunks(at: chunks.offset)
        }
        if start > 0 {
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
        }
        // A pipe may deliver its first bytes singly; the byte-order mark has three.
        repeat {
            let count = try file.read(into: buffer + end, count: Self.bufferSize - end, isCancelled: isCancelled)
            isAtEnd = count == 0
            end += count
        } while isAtStart && !isAtEnd && end < 3
        // Old bytes after an unterminated last line must not be parsed as more of its digits.
        buffer[end] = UInt8(ascii: "\n")
        // The byte-order mark of UTF-8 is not part of the first column's name.
        if isAtStart, end >= 3, buffer[0] == 0xEF, buffer[1] == 0xBB, buffer[2] == 0xBF { start = 3 }
        isAtStart = false
    }

    /// Continues with this reader's buffer at an offset of the file.
    private func endChunks(at offset: Int64) throws(TraceError) {
        chunks = nil
        buffer = ownBuffer
        start = 0
        end = 0
        isAtEnd = false
        try mapError({ TraceError(.inputOutput, path: path, "reading failed: \($0.reason)") }) {
            () throws(SystemError) in
            try systemCall("lseek") { lseek(file.descriptor, off_t(offset), SEEK_SET) }
        }
    }
}

/// An open file that is read sequentially with read(2).
///
/// If a mapped file shrinks, SIGBUS kills the process, unless it is handled as in ``MappedFile``; read(2) reports the end, which
/// is an error before the size that the file had.
struct InputFile {
    let path: String
    /// The size when it was opened; `nil` for a pipe or a device.
    let size: Int64?
    /// Whether ``ArrowUnpacking`` wrote the record batches: they claim to be compressed with zstd, and are not.
    var hasUnpackedBatches = false
    /// It is read from its current position.
    let file: Descriptor

    /// Valid while this value or a copy of it lives.
    var descriptor: Int32 { file.raw }

    static func isRegular(_ path: String) -> Bool {
        (try? fileStatus(path))?.isRegular == true
    }

    static func open(path: String) throws(TraceError) -> InputFile {
        let file: Descriptor
        do throws(SystemError) {
            // ``read`` waits for a writer or a device, and can be cancelled.
            file = try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            if error.code == ENOTDIR, let entry = try ZipArchive.entry(at: path) { return entry }
            throw Self.error(opening: path, error)
        }
        let status = try mapError({ TraceError(.inputOutput, path: path, "cannot be examined: \($0.reason)") }) {
            () throws(SystemError) in try fileStatus(of: file.raw)
        }
        guard !status.isFolder else {
            throw TraceError(
                .noInput, path: path,
                "is a directory: name the trace files in it, for example \(path)/Accelerometer.csv")
        }
        return InputFile(path: path, size: status.isRegular ? Int64(status.st_size) : nil, file: file)
    }

    /// The same file, to be read from its start beside this one; a duplicate of the descriptor would share its position.
    func reopened() throws(TraceError) -> InputFile {
        let again = try mapError({ TraceError(.inputOutput, path: path, "cannot be opened again: \($0.reason)") }) {
            () throws(SystemError) in try Descriptor(path: "/proc/self/fd/\(descriptor)", flags: O_RDONLY)
        }
        return InputFile(path: path, size: size, hasUnpackedBatches: hasUnpackedBatches, file: again)
    }

    /// The current size; `nil` when it is unknown.
    var currentSize: Int64? {
        (try? fileStatus(of: descriptor)).map { Int64($0.st_size) }
    }

    /// The file's first bytes, without moving the read position; fewer if it is shorter, none for a pipe.
    func firstBytes(_ count: Int) -> [UInt8] { bytes(count, at: 0) }

    /// Bytes from a place in the file, as ``firstBytes(_:)``.
    func bytes(_ count: Int, at offset: Int) -> [UInt8] {
        guard size != nil else { return [] }
        var bytes = Array(repeating: UInt8(0), count: count)
        let result = try? systemCall("pread") { pread(descriptor, &bytes, count, off_t(offset)) }
        return Array(bytes.prefix(result ?? 0))
    }

    /// Reads up to `count` bytes, and waits for the first; returns 0 at the end of the file, and when the wait was cancelled.
    ///
    /// - Throws: ``TraceError`` also when the file ends before the size that it had when it was opened.
    func read(
        into buffer: UnsafeMutableRawPointer, count: Int, isCancelled: () -> Bool
    ) throws(TraceError) -> Int {
        while true {
            if size == nil, !isReady() {
                if isCancelled() { return 0 }
                continue
            }
            let result: Int
            do throws(SystemError) {
                result = try systemCall("read", path: path) { Glibc.read(descriptor, buffer, count) }
            } catch {
                // A regular file that cannot be read without waiting is the kernel's, such as /proc/kmsg.
                guard error.code == EAGAIN, size == nil else {
                    throw TraceError(.inputOutput, path: path, "reading failed: \(error.reason)")
                }
                continue
            }
            if result == 0, count > 0, let size, lseek(descriptor, 0, SEEK_CUR) < size {
                throw TraceError(
                    .inputOutput, path: path,
                    "the file shrank while it was read, from \(size) to \(currentSize ?? 0) bytes: samples are missing")
            }
            return result
        }
    }

    /// Waits at most half a second for a pipe, because a signal just before the wait would not end it.
    private func isReady() -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        do throws(SystemError) {
            return try systemCallOnce("poll") { poll(&input, 1, 500) } ?? 0 > 0
        } catch {
            // read(2) reports the failure.
            return true
        }
    }

    private static func error(opening path: String, _ error: SystemError) -> TraceError {
        switch error.code {
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP:
            TraceError(.noInput, path: path, "no such file (\(error.reason))")
        case EACCES, EPERM:
            TraceError(.noPermission, path: path, "may not be read by this user (\(error.reason))")
        default:
            TraceError(.inputOutput, path: path, "cannot be opened: \(error.reason)")
        }
    }
}
