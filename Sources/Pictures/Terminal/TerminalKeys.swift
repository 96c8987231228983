/// Parses keys from the bytes of a terminal; an incomplete sequence waits for more.
package struct TerminalKeys {
    private var waiting: [UInt8] = []

    package init() {}

    /// The keys in further bytes; unknown ones are ignored.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [WatchState.Key] {
        waiting += bytes
        var keys: [WatchState.Key] = []
        var rest = waiting[...]
        while let first = rest.first {
            guard first == 0x1B else {
                rest.removeFirst()
                if let key = Self.key(Unicode.Scalar(first)) { keys.append(key) }
                continue
            }
            guard let kind = rest.dropFirst().first else { break }
            guard kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else {
                rest.removeFirst(1)
                continue
            }
            // An escape sequence ends with a byte from @ on.
            guard let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { break }
            switch rest[end] {
            case UInt8(ascii: "C"), UInt8(ascii: "B"): keys.append(.nextSensor)
            case UInt8(ascii: "D"), UInt8(ascii: "A"), UInt8(ascii: "Z"): keys.append(.previousSensor)
            default: break
            }
            rest = rest[(end + 1)...]
        }
        // No key has a longer sequence.
        waiting = rest.count > 16 ? [] : Array(rest)
        return keys
    }

    private static func key(_ character: Unicode.Scalar) -> WatchState.Key? {
        switch character {
        case "q", "Q", "\u{3}": .quit
        case "\t", "l", "j": .nextSensor
        case "h", "k": .previousSensor
        case "+", "=": .larger
        case "-": .smaller
        case "0": .resetScale
        case "p": .resetPeaks
        case " ": .hold
        default: nil
        }
    }
}
