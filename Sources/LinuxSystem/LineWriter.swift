import Glibc

/// Writes whole lines to a descriptor, in pieces that a kill cannot tear.
///
/// Lines are collected up to `PIPE_BUF` bytes, which a pipe takes in one piece, and written when that is full or
/// when somebody flushes. A line longer than that is written by itself.
package final class LineWriter {
    /// The first error that a write met; nothing is written after it.
    package private(set) var failure: SystemError?

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private static let pieceSize = Int(PIPE_BUF)

    /// Creates a writer on an open descriptor, which stays the caller's.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        buffer.reserveCapacity(Self.pieceSize)
    }

    /// Adds a line and its end.
    package func write(_ line: String) {
        guard failure == nil else { return }
        let count = line.utf8.count + 1
        if buffer.count + count > Self.pieceSize { flush() }
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.pieceSize { flush() }
    }

    /// Whether nothing waits to be written.
    package var isEmpty: Bool { buffer.isEmpty }

    /// Writes what was collected.
    package func flush() {
        guard failure == nil, !buffer.isEmpty else { return }
        do throws(SystemError) {
            try writeAll(buffer, to: descriptor)
        } catch {
            failure = error
            return
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
