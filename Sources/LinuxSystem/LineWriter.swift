import Glibc

/// Writes whole lines to a descriptor, so that a killed process leaves no partial line in a pipe.
///
/// Lines are collected up to `PIPE_BUF` bytes, which a pipe accepts atomically, and written when that size is reached or at a
/// flush. A longer line is written by itself.
package final class LineWriter {
    /// The first write error, after which nothing is written unless ``retry()`` is called.
    package private(set) var failure: SystemError?
    /// The number of lines that were not written, or only in part.
    package private(set) var lostLineCount = 0
    package private(set) var hasLines = false
    private var isTorn = false

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private static let pieceSize = Int(PIPE_BUF)

    /// Creates a writer on a descriptor, which the caller keeps open.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        buffer.reserveCapacity(Self.pieceSize)
    }

    package func write(_ line: String) { write(Array(line.utf8)) }

    /// Adds a line of UTF-8.
    package func write(_ line: [UInt8]) { write(line[...]) }

    package func write(_ line: ArraySlice<UInt8>) {
        hasLines = true
        guard failure == nil else {
            lostLineCount += 1
            return
        }
        let count = line.count + 1
        if buffer.count + count > Self.pieceSize {
            flush()
            guard failure == nil else { return write(line) }
        }
        buffer.append(contentsOf: line)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.pieceSize { flush() }
    }

    /// Whether everything is written.
    package var isEmpty: Bool { buffer.isEmpty }

    /// Writes what was collected.
    package func flush() {
        guard failure == nil, !buffer.isEmpty else { return }
        var written = 0
        do throws(SystemError) {
            try writeAll(buffer, from: &written, to: descriptor)
            isTorn = false
        } catch {
            failure = error
            let rest = buffer[written...]
            // The end of a line that was counted before does not count again.
            let endCount = rest.count { $0 == UInt8(ascii: "\n") }
            lostLineCount += written == 0 && isTorn ? endCount - 1 : endCount
            if written > 0 { isTorn = buffer[written - 1] != UInt8(ascii: "\n") }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes again after a failure, because the disk may have space now; unwritten lines are lost.
    package func retry() {
        guard failure != nil else { return }
        failure = nil
        if isTorn { buffer.append(UInt8(ascii: "\n")) }
    }
}
