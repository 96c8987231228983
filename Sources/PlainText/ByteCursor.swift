/// Writes bytes one behind the other into memory that has room for them: its maker says how many there are at most.
///
/// Each addition to an array asks whether the array is shared and has room; a line of JSON has a hundred additions.
struct ByteCursor {
    /// Where the next byte goes; valid only inside the closure that was given the cursor, as its memory is.
    var next: UnsafeMutablePointer<UInt8>

    @inline(__always)
    mutating func write(_ byte: Unicode.Scalar) {
        next.pointee = UInt8(ascii: byte)
        next += 1
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        next.update(from: start, count: bytes.count)
        next += bytes.count
    }

    /// Writes the UTF-8 of a text.
    @inline(__always)
    mutating func write(text: String) {
        _ = text.utf8.withContiguousStorageIfAvailable { write($0) }
    }
}

extension [UInt8] {
    /// Appends what a closure writes, at most so many bytes.
    @inline(__always)
    mutating func write(atMost room: Int, _ write: (inout ByteCursor) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { bytes in
            guard let start = bytes.baseAddress else { return }
            var cursor = ByteCursor(next: start)
            write(&cursor)
            append(contentsOf: UnsafeBufferPointer(start: start, count: cursor.next - start))
        }
    }
}
