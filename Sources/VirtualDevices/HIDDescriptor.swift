/// Writes a HID report descriptor item by item.
///
/// Short items as in the Device Class Definition for HID 1.11, section 6.2.2.2: a tag with the number of bytes in its
/// lowest two bits, and 0, 1, 2 or 4 bytes of little-endian data.
struct HIDDescriptor {
    /// The items of a sensor hub; the raw value is the tag of an item without data.
    enum Item: UInt8 {
        case usagePage = 0x04
        case usage = 0x08
        case logicalMinimum = 0x14
        case logicalMaximum = 0x24
        case unitExponent = 0x54
        case unit = 0x64
        case reportSize = 0x74
        case input = 0x80
        case reportNumber = 0x84
        case reportCount = 0x94
        case collection = 0xA0
        case feature = 0xB0
        case endCollection = 0xC0
    }

    enum Collection: Int {
        case physical = 0
        case application = 1
        case logical = 2
    }

    /// The contents of a main item's field.
    enum Field: Int {
        /// The index of one of the usages of its collection.
        case choice = 0
        case number = 2
    }

    private(set) var bytes: [UInt8] = []

    /// Adds an item with as few bytes of data as its value needs.
    mutating func add(_ item: Item, _ value: Int) {
        let isSigned = item == .logicalMinimum || item == .logicalMaximum
        let size = Self.size(of: value, isSigned: isSigned)
        // A size of four bytes is encoded as 3.
        bytes.append(item.rawValue | UInt8(size == 4 ? 3 : size))
        for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }

    mutating func add(usage: UInt16) { add(.usage, Int(usage)) }

    /// Adds an exponent: the lower four bits of a byte, in two's complement.
    mutating func add(exponent: Int) { add(.unitExponent, exponent & 0xF) }

    /// Adds the range of the fields that follow.
    mutating func add(range: ClosedRange<Int>) {
        add(.logicalMinimum, range.lowerBound)
        add(.logicalMaximum, range.upperBound)
    }

    mutating func add(_ collection: Collection, _ body: (inout HIDDescriptor) -> Void) {
        add(.collection, collection.rawValue)
        body(&self)
        bytes.append(Item.endCollection.rawValue)
    }

    private static func size(of value: Int, isSigned: Bool) -> Int {
        if isSigned ? Int8(exactly: value) != nil : UInt8(exactly: value) != nil { return 1 }
        if isSigned ? Int16(exactly: value) != nil : UInt16(exactly: value) != nil { return 2 }
        return 4
    }
}
