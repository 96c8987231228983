import Binnacle
import FuzzDriver
import Glibc
import Traces

/// The package manager calls an executable's main by this name.
@_cdecl("FuzzArrow_main")
public func fuzzMain(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    runFuzzer(argumentCount, arguments) { fuzzOne($0, $1) }
}

/// Reads one input as a trace file, in large deliveries and in small ones.
///
/// Whatever traps, reads outside the file, or breaks one of the promises below, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // Arrow streams and MCAP; anything else is CSV.
    guard count >= 8, [[0xFF, 0xFF, 0xFF, 0xFF], [0x89, 0x4D, 0x43, 0x41]].contains((0..<4).map { bytes[$0] }) else {
        return 0
    }
    let path = "/dev/shm/binnacle-fuzz-\(getpid())"
    let file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { preconditionFailure("no file to read from") }
    precondition(write(file, bytes, count) == count)
    close(file)
    precondition(read(path, capacity: 65_536, byteCount: count) == read(path, capacity: 3, byteCount: count))
    return 0
}

/// Reads a file to its end.
///
/// - Returns: A number that is the same for the same samples and the same failures.
private func read(_ path: String, capacity: Int, byteCount: Int) -> Int {
    guard let source = try? TraceSource(paths: [path]) else { return -1 }
    // One for each stream, because how the streams mix depends on the deliveries.
    var hashers = source.streams.map { _ in Hasher() }
    var hasher = Hasher()
    var sampleCount = 0
    let delivery = SampleDelivery(streams: source.streams, capacity: capacity)
    while true {
        delivery.removeAll()
        let answer = source.fill(delivery)
        sampleCount += check(delivery, &hashers)
        // A row takes a byte for its sensor at least; compressed, a thousandth of one, and a small file may be all of it.
        precondition(sampleCount <= byteCount * 1000 + (64 << 20))
        if case .failed(let streams, let reason) = answer {
            precondition(!streams.isEmpty)
            hasher.combine("\(reason)")
        }
        if answer.isEnd { break }
    }
    for notice in source.repairs.notices { precondition(!notice.description.isEmpty) }
    hasher.combine(sampleCount)
    for stream in hashers { hasher.combine(stream.finalize()) }
    return hasher.finalize()
}

/// Makes sure that a delivery is one: stamps never fall, and values are such as a sensor can give.
private func check(_ delivery: SampleDelivery, _ hashers: inout [Hasher]) -> Int {
    var count = 0
    for (stream, batch) in delivery.batches.enumerated() {
        var last = Int64.min
        for index in 0..<batch.count {
            let sample = batch[index]
            precondition(sample.timeNanoseconds >= last)
            last = sample.timeNanoseconds
            for axis in [sample.x, sample.y, sample.z] { precondition(axis.magnitude <= 1e7) }
            hashers[stream].combine(sample.timeNanoseconds)
            hashers[stream].combine(sample.x)
        }
        count += batch.count
    }
    return count
}
