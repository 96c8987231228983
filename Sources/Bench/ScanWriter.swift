import Glibc
import LinuxSystem

/// Writes scans of 16 bytes into a pipe, so many at once, as a device with a watermark does.
///
/// The bytes are raw memory that never leaves this class; it is allocated once, with room for a batch.
final class ScanWriter {
    private let descriptor: Int32
    private let batch: Int
    private let scans: UnsafeMutablePointer<Scan>
    private var time: Int64
    private var written = 0

    /// Three axes, what fills up to eight bytes, and the stamp.
    private struct Scan {
        var x: Int16 = 3
        var y: Int16 = -2
        var z: Int16 = 981
        var padding: Int16 = 0
        var time: Int64 = 0
    }

    /// So far samples lie apart: a device faster than any, because nothing here waits for the time to pass.
    private static let intervalNanoseconds: Int64 = 2_000
    /// A blow each so many samples: 0.01 % of the samples change the side.
    static let usualPeriod = 20_000

    /// - Parameters:
    ///   - descriptor: The pipe.
    ///   - batch: How many scans at once.
    init(descriptor: Int32, batch: Int) {
        self.descriptor = descriptor
        self.batch = batch
        scans = .allocate(capacity: batch)
        scans.initialize(repeating: Scan(), count: batch)
        time = SystemClock.monotonic()
    }

    deinit {
        scans.deallocate()
    }

    /// Writes the next scans; one in `period` is a blow.
    ///
    /// - Parameters:
    ///   - period: At least 2.
    ///   - earliest: No stamp lies before this.
    /// - Returns: The last stamp.
    @discardableResult
    func write(period: Int = usualPeriod, notBefore earliest: Int64 = 0) -> Int64 {
        time = max(time, earliest)
        for index in 0..<batch {
            time += Self.intervalNanoseconds
            written += 1
            scans[index].z = written.isMultiple(of: period) ? 4_000 : 981
            scans[index].time = time
        }
        let count = batch * MemoryLayout<Scan>.stride
        // Everything written before was read, so there is room.
        _ = Glibc.write(descriptor, scans, count)
        return time
    }
}
