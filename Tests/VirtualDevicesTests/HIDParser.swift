/// A reader of report descriptors, after the Device Class Definition for HID 1.11: what a kernel would make of one.
struct HIDParser {
    /// A main item with everything that holds for it.
    struct Field: Equatable {
        let isInput: Bool
        let report: Int
        /// The usages of the collections around it, with the page in the upper half.
        let path: [UInt32]
        let usages: [UInt32]
        let range: ClosedRange<Int>
        let bits: Int
        let count: Int
        let exponent: Int
        let unit: Int
        /// Whether it is a number, or else a choice among the usages.
        let isNumber: Bool
    }

    private(set) var fields: [Field] = []
    /// The usage and the kind of each collection, in their order.
    private(set) var collections: [(usage: UInt32, kind: Int)] = []
    private(set) var problems: [String] = []

    private var page = 0
    private var globals: [Int: Int] = [:]
    private var usages: [UInt32] = []
    private var path: [UInt32] = []

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let prefix = rest.popFirst() {
            let size = [0, 1, 2, 4][Int(prefix & 3)]
            guard rest.count >= size else {
                problems.append("an item is cut off")
                return
            }
            let data = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            let value = data.reversed().reduce(0) { $0 << 8 | Int($1) }
            let sign = size > 0 && data[size - 1] & 0x80 != 0
            take(prefix & 0xFC, value, signed: sign ? value - (1 << (8 * size)) : value)
        }
        if !path.isEmpty { problems.append("a collection is open") }
    }

    private mutating func take(_ tag: UInt8, _ value: Int, signed: Int) {
        switch tag {
        case 0x04: page = value
        case 0x08: usages.append(UInt32(page) << 16 | UInt32(value))
        case 0x14, 0x24: globals[Int(tag)] = signed
        case 0x54: globals[Int(tag)] = value > 7 ? value - 16 : value
        case 0x64, 0x74, 0x84, 0x94: globals[Int(tag)] = value
        case 0xA0:
            if usages.count != 1 { problems.append("a collection with \(usages.count) usages") }
            path.append(usages.first ?? 0)
            collections.append((usages.first ?? 0, value))
            usages = []
        case 0xC0:
            if path.popLast() == nil { problems.append("no collection to close") }
            usages = []
        case 0x80, 0xB0: addField(isInput: tag == 0x80, flags: value)
        default: problems.append("an unknown item \(tag)")
        }
    }

    private mutating func addField(isInput: Bool, flags: Int) {
        let low = globals[0x14] ?? 0
        let high = globals[0x24] ?? 0
        guard low <= high, globals[0x74] != nil, globals[0x94] != nil, globals[0x84] != nil else {
            problems.append("a field without a size or a range")
            return
        }
        fields.append(
            Field(
                isInput: isInput, report: globals[0x84] ?? 0, path: path, usages: usages, range: low...high,
                bits: globals[0x74] ?? 0, count: globals[0x94] ?? 0, exponent: globals[0x54] ?? 0,
                unit: globals[0x64] ?? 0, isNumber: flags & 2 != 0))
        usages = []
    }

    /// How many bytes a report has behind its number.
    func size(report: Int, isInput: Bool) -> Int {
        fields.filter { $0.report == report && $0.isInput == isInput }.reduce(0) { $0 + $1.bits * $1.count } / 8
    }
}
