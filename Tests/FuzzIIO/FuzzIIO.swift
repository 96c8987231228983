import Binnacle
import FuzzDriver
import Glibc
import IIOServer
import LinuxSystem

/// The package manager calls an executable's main by this name.
@_cdecl("FuzzIIO_main")
public func fuzzMain(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    runFuzzer(argumentCount, arguments) { fuzzOne($0, $1) }
}

/// Feeds one input: what a client sends until it leaves.
///
/// Whatever traps, or answers more than was asked for, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    for line in UnsafeBufferPointer(start: bytes, count: count).split(separator: 10) {
        guard case .open(_, let mask)? = try? IIORequest(parsing: line) else { continue }
        precondition(mask != 0)
        for device in PlayedDevices.all {
            guard let (places, size) = try? device.layout(mask) else { continue }
            precondition(places.allSatisfy { $1 % $0.size == 0 && $1 + $0.size <= size } && size <= 32)
        }
    }
    var pair: [Int32] = [-1, -1]
    guard pipe(&pair) == 0 else { return 0 }
    let reading = Descriptor(owning: pair[0])
    _ = write(pair[1], bytes, count)  // Inputs are shorter than what a pipe holds.
    _ = close(pair[1])
    let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard sink >= 0 else { return 0 }
    let output = Descriptor(owning: sink)
    IIOSession(PeerStream(input: reading.raw, output: output.raw), PlayedDevices()) { _ in }.serve()
    return 0
}

/// Devices that have some scans, and then none.
private final class PlayedDevices: IIOSource, IIOFeed {
    static let all = [
        IIODevice("lid", .samples(.accelerometer)), IIODevice("a \"<&>\u{1}", .samples(.magnetometer)),
        IIODevice("hull", .attitude),
    ]
    let summary = "played"
    private var left = 100

    func devices() throws(IIOFailure) -> [IIODevice] { Self.all }
    func open(_ device: IIODevice) throws(IIOFailure) -> any IIOFeed { self }
    func latest(_ device: IIODevice, until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> IIOScan {
        device.scan(Sample(timeNanoseconds: .max, x: .infinity, y: -1e30, z: .nan))
    }
    func attribute(_ name: String, of device: IIODevice) throws(IIOFailure) -> String { name }
    func next(until deadline: Int64) throws(IIOFailure) -> [IIOScan] {
        guard left > 0 else { throw .ended }
        left -= 7
        return Array(repeating: Self.all[0].scan(Sample(timeNanoseconds: .min, x: 1, y: 2, z: 3)), count: 7)
    }
    func removeLost() -> Int { left % 2 }
}
