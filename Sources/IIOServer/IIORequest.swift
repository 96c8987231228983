import Glibc

/// Why a request is refused, or a device has no samples: an error number, as a client of iiod expects it.
package struct IIOFailure: Error, Equatable, Sendable {
    /// The number, above zero.
    package let code: Int32
    /// The reason for the server's messages; `nil` where the number says all.
    package let reason: String?

    package init(_ code: Int32, _ reason: String? = nil) {
        (self.code, self.reason) = (code, reason)
    }

    /// A request, a mask or a number that is not one.
    package static let malformed = IIOFailure(EINVAL)
    /// No such device, or it is gone.
    package static let noDevice = IIOFailure(ENODEV)
    /// Everything that would change something.
    package static let readOnly = IIOFailure(EROFS)
    /// The end of a recording.
    package static let ended = IIOFailure(ENODATA)
}

/// A request of iiod's text protocol, as libiio 0.2x sends it.
package enum IIORequest: Equatable, Sendable {
    /// What an attribute belongs to.
    package enum Owner: Equatable, Sendable {
        case device
        case channel(String)
        /// Attributes of the driver or of its buffer, of which there are none.
        case other
    }

    case help, exit, version, print
    /// How long a READBUF waits for a sample, in milliseconds; 0 is without limit.
    case timeout(Int)
    /// Of as many samples as the client reads at a time, which has no meaning here.
    case open(device: String, mask: UInt32)
    case close(device: String)
    case readBuffer(device: String, bytes: Int)
    case read(device: String, Owner, attribute: String)
    /// A value of so many bytes follows the line.
    case write(bytes: Int)
    case writeBuffer
    case trigger(device: String)
    case setTrigger
    /// The number of the kernel's buffers, which has no meaning here.
    case buffers(device: String)

    /// Parses a line without its end; `nil` for an empty one.
    package init?(parsing line: some Sequence<UInt8>) throws(IIOFailure) {
        var words: [String] = []
        for word in Array(line).split(whereSeparator: { $0 == 32 || $0 == 9 || $0 == 13 }) {
            guard words.count < 7, word.allSatisfy({ $0 > 32 && $0 < 127 }) else { throw .malformed }
            words.append(String(decoding: word, as: UTF8.self))
        }
        guard let name = words.first?.uppercased() else { return nil }
        let rest = Array(words.dropFirst())
        switch (name, rest.count) {
        case ("HELP", 0): self = .help
        case ("EXIT", 0), ("QUIT", 0): self = .exit
        case ("VERSION", 0): self = .version
        case ("PRINT", 0): self = .print
        case ("TIMEOUT", 1): self = .timeout(try Self.number(rest[0], in: 0...IIOLimits.timeout))
        case ("OPEN", 3):
            _ = try Self.number(rest[1], in: 1...IIOLimits.samples)
            self = .open(device: rest[0], mask: try Self.mask(rest[2]))
        case ("CLOSE", 1): self = .close(device: rest[0])
        case ("READBUF", 2):
            self = .readBuffer(device: rest[0], bytes: try Self.number(rest[1], in: 1...IIOLimits.readBytes))
        case ("WRITEBUF", 2): self = .writeBuffer
        case ("READ", 1...4): self = try Self.reading(rest)
        case ("WRITE", 2...5): self = .write(bytes: try Self.number(rest[rest.count - 1], in: 0...Int(Int32.max)))
        case ("GETTRIG", 1): self = .trigger(device: rest[0])
        case ("SETTRIG", 1...2): self = .setTrigger
        case ("SET", 3) where rest[1].uppercased() == "BUFFERS_COUNT":
            _ = try Self.number(rest[2], in: 1...IIOLimits.samples)
            self = .buffers(device: rest[0])
        default: throw .malformed
        }
    }

    private static func reading(_ words: [String]) throws(IIOFailure) -> IIORequest {
        // All attributes at once, which libiio asks for in a function that none of its tools calls.
        guard words.count > 1 else { throw IIOFailure(ENOSYS) }
        switch (words[1].uppercased(), words.count) {
        case ("INPUT", 4): return .read(device: words[0], .channel(words[2]), attribute: words[3])
        case ("INPUT", 3), ("OUTPUT", 3): throw IIOFailure(ENOSYS)
        case ("OUTPUT", _), ("DEBUG", _), ("BUFFER", _):
            return .read(device: words[0], .other, attribute: words[words.count - 1])
        case (_, 2): return .read(device: words[0], .device, attribute: words[1])
        default: throw .malformed
        }
    }

    /// A number in decimal digits alone.
    private static func number(_ text: String, in range: ClosedRange<Int>) throws(IIOFailure) -> Int {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text), range.contains(number) else {
            throw .malformed
        }
        return number
    }

    /// One word of 32 bits, since no device here has more channels.
    private static func mask(_ text: String) throws(IIOFailure) -> UInt32 {
        guard text.utf8.count == 8, text.allSatisfy(\.isHexDigit), let mask = UInt32(text, radix: 16), mask != 0 else {
            throw .malformed
        }
        return mask
    }
}
