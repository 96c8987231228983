/// The bytes of a trace that are not written yet; numbers are put into them without allocating.
struct TraceText {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: So many bytes it holds without growing.
    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    var count: Int { bytes.count }

    /// Removes everything and keeps the room.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a whole number.
    mutating func append(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var low = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        // The lowest digit came first.
        var high = bytes.count - 1
        while low < high {
            bytes.swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Appends the shortest text that reads back to the same value.
    mutating func append(_ value: Float) {
        // A NaN may describe itself with its payload, which no reader knows.
        guard !value.isNaN else { return append("nan") }
        // At most fifteen bytes (-1.17549435e-38), which a string holds without allocating.
        bytes.append(contentsOf: value.description.utf8)
        guard bytes.count >= 2, bytes[bytes.count - 1] == UInt8(ascii: "0") else { return }
        if bytes[bytes.count - 2] == UInt8(ascii: ".") { bytes.removeLast(2) }
    }
}
