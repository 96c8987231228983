/// Raw scans one behind the other, as a device gave them: what its samples were decoded from.
///
/// All of them are of one layout, and so of one size.
package struct ScanColumn: Sendable {
    /// How the scans are laid out, as their reader describes it; empty without scans.
    package private(set) var layout = ""
    /// The bytes of one scan; 0 without scans.
    package private(set) var scanByteCount = 0
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var isEmpty: Bool { bytes.isEmpty }
    /// The number of scans.
    package var count: Int { isEmpty ? 0 : bytes.count / scanByteCount }

    /// Appends whole scans; those that are there have the same layout.
    package mutating func append(_ scans: UnsafeRawBufferPointer, of scanByteCount: Int, layout: String) {
        guard !scans.isEmpty else { return }
        precondition(scans.count % scanByteCount == 0, "the last scan is not whole")
        precondition(isEmpty || self.layout == layout, "scans of another layout")
        self.layout = layout
        self.scanByteCount = scanByteCount
        bytes.append(contentsOf: scans)
    }

    /// Appends a range of another column's scans.
    ///
    /// - Precondition: The range lies within the other column, whose layout is that of the scans that are there.
    package mutating func append(_ other: ScanColumn, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= other.count, "range outside the column")
        let size = other.scanByteCount
        other.bytes.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[range.lowerBound * size..<range.upperBound * size])
            append(part, of: size, layout: other.layout)
        }
    }

    /// Removes every scan and keeps the room.
    package mutating func removeAll() {
        layout = ""
        scanByteCount = 0
        bytes.removeAll(keepingCapacity: true)
    }
}
