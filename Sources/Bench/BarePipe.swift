import CLinux
import Glibc
import LinuxSystem

/// A pipe whose bytes are read and forgotten: what the system itself takes for the way of live samples.
final class BarePipe {
    private let input: Descriptor
    private let output: Descriptor
    private let epoll: Epoll
    private var bytes = [UInt8](repeating: 0, count: 65_536)

    /// Makes a pipe.
    ///
    /// - Throws: ``BenchError`` when the system refuses it.
    init() throws(BenchError) {
        do throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            try systemCall("pipe2") { clinux_pipe(&ends) }
            input = Descriptor(owning: ends[0])
            output = Descriptor(owning: ends[1])
            epoll = try Epoll()
            try epoll.add(input.raw, token: 0)
        } catch {
            throw BenchError(error)
        }
    }

    /// Work that writes scans and takes the time of reading them.
    ///
    /// - Parameters:
    ///   - label: Which one it is.
    ///   - batch: How many scans at once.
    ///   - waits: Whether epoll is asked before, as who reads several devices has to.
    ///   - clock: What the clock takes.
    /// - Returns: The work.
    func variant(_ label: String, batch: Int, waits: Bool, clock: ClockCost) -> Variant {
        let writer = ScanWriter(descriptor: output.raw, batch: batch)
        return Variant(timed: label) { times in
            var batches = BatchTimes(count: times, clock: clock)
            for _ in 0..<times {
                writer.write()
                let start = SystemClock.monotonic()
                if waits { _ = self.epoll.wait(timeoutMilliseconds: 1000) { _ in } }
                _ = self.bytes.withUnsafeMutableBytes { read(self.input.raw, $0.baseAddress, $0.count) }
                batches.add(SystemClock.monotonic() - start)
            }
            return batches.usual
        }
    }
}
