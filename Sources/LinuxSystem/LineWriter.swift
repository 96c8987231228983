import Glibc

/// Writes whole lines to a descriptor, so that a killed process leaves no partial line in a pipe.
///
/// Lines are collected up to `PIPE_BUF` bytes, which a pipe takes atomically, and written when that is reached or at a
/// flush.
/// A longer line is written by itself.
package final class LineWriter {
    /// The first write error; nothing is written after it.
    package private(set) var failure: SystemError?

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private static let pieceSize = Int(PIPE_BUF)

    /// Creates a writer on a descriptor, which the caller keeps open.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        buffer.reserveCapacity(Self.pieceSize)
    }

    /// Adds a line.
    package func write(_ line: String) {
        guard failure == nil else { return }
        let count = line.utf8.count + 1
        if buffer.count + count > Self.pieceSize { flush() }
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.pieceSize { flush() }
    }

    /// Whether everything is written.
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
