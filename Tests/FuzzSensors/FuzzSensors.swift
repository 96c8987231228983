import FuzzDriver
import LinuxSensors

/// The package manager calls an executable's main by this name.
@_cdecl("FuzzSensors_main")
public func fuzzMain(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    runFuzzer(argumentCount, arguments) { fuzzOne($0, $1) }
}

/// Feeds one input: its first byte chooses what gets the rest.
///
/// Whatever traps, or breaks one of the promises below, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let rest = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    switch bytes[0] % 4 {
    case 0: fuzzType(rest)
    case 1: fuzzScan(rest)
    case 2: fuzzText(String(decoding: rest, as: UTF8.self))
    default: fuzzStamps(rest)
    }
    return 0
}

/// The grammar of types: what is accepted describes bits that are there, and is read back from its own text.
private func fuzzType(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let type = ScanType(String(decoding: bytes, as: UTF8.self)) else { return }
    precondition(type.bits >= 1 && type.shift >= 0 && type.bits + type.shift <= type.storageBytes * 8)
    let text =
        "\(type.isBigEndian ? "be" : "le"):\(type.isSigned ? "s" : "u")\(type.bits)/\(type.storageBytes * 8)"
        + "X\(type.repeatCount)>>\(type.shift)"
    precondition(ScanType(text) == type)
    check(type, Array(repeating: 0xA5, count: 8))
}

/// Layouts and scans: no channel reaches beyond the scan, and every value fits into its bits.
private func fuzzScan(_ bytes: UnsafeBufferPointer<UInt8>) {
    var rest = bytes[...]
    var channels: [ScanLayout.Channel] = []
    while channels.count < 8, rest.count >= 6 {
        let head = Array(rest.prefix(6))
        rest = rest.dropFirst(6)
        guard
            let type = ScanType(
                isBigEndian: head[0] & 1 == 1, isSigned: head[0] & 2 == 2, bits: Int(head[1]),
                storageBits: Int(head[2]) * 8, repeatCount: Int(head[3]), shift: Int(head[4]))
        else { continue }
        channels.append(.init(name: "channel\(channels.count)", index: Int(head[5]), type: type))
    }
    let layout = ScanLayout(channels)
    var end = 0
    for place in layout.places {
        precondition(place.offset >= end && place.offset % place.channel.type.byteCount == 0)
        end = place.offset + place.channel.type.byteCount
        precondition(end <= layout.byteCount)
    }
    // The scan is exactly as long as the layout says: an address sanitizer sees what is read beyond it.
    let scan = (0..<layout.byteCount).map { rest.isEmpty ? UInt8($0 & 0xFF) : rest[rest.startIndex + $0 % rest.count] }
    for place in layout.places { check(place.channel.type, Array(scan[place.offset...])) }
}

private func check(_ type: ScanType, _ bytes: [UInt8]) {
    let value = Array(bytes.prefix(type.storageBytes)).withUnsafeBytes { bytes in
        bytes.baseAddress.map { type.value(at: $0) } ?? 0
    }
    // The limits of 63 bits and more are no numbers of 64.
    guard type.bits < 63 else { return }
    let limit = Int64(1) << Int64(type.isSigned ? type.bits - 1 : type.bits)
    precondition(value < limit && value >= (type.isSigned ? -limit : 0))
}

/// Texts of sysfs and of recordings: numbers are finite, matrices can be undone, a chosen rate is one, a layout is read back
/// from its own text.
private func fuzzText(_ text: String) {
    if let number = SysfsNumber.parse(text) { precondition(number.isFinite) }
    if let matrix = try? MountMatrix(text) {
        precondition(abs(matrix.determinant) > 0)
        precondition((try? MountMatrix(matrix.description)) != nil)
    }
    if let description = ScanDescription(text) {
        precondition(ScanDescription(description.text)?.text == description.text)
        let decoder = description.decoder
        let scan = [UInt8](repeating: 0xA5, count: decoder.scanByteCount)
        for stream in description.streams.indices {
            scan.withUnsafeBytes { bytes in if let first = bytes.baseAddress { _ = decoder.sample(stream, of: first) } }
        }
    }
    precondition(SamplingFrequency.nearest(to: 100, in: text) > 0)
    let identity = DeviceIdentity.text(path: text, name: "x")
    precondition(identity.hasSuffix("x"))
}

/// Stamps: whatever a device says, they never fall.
private func fuzzStamps(_ bytes: UnsafeBufferPointer<UInt8>) {
    var stamper = ScanStamper(rateHz: Double(bytes[0]))
    var counter = MicrosecondCounter()
    var last = Int64.min
    var arrival: Int64 = 1_000_000_000_000
    for start in stride(from: 1, to: bytes.count - 8, by: 9) {
        let raw = (0..<8).reduce(into: Int64(0)) { $0 = $0 << 8 | Int64(bytes[start + $1]) }
        arrival += Int64(bytes[start + 8]) << 16
        let isCounted = bytes[start + 8] & 1 == 1
        let stamp = isCounted ? counter.stamp(UInt32(truncatingIfNeeded: raw), eventNanoseconds: raw) : raw
        var time = stamp
        stamper.stamp(
            &time, count: 1, isStamped: true, arrival: arrival, behind: Int(bytes[start + 8] & 3),
            realtime: { 1_700_000_000_000_000_000 }, found: { _, _ in })
        precondition(time >= last)
        last = time
    }
}
