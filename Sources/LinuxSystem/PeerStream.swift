import Glibc

/// The two ends of one client's connection, for a thread that may block: bounded reads, and writes with a deadline.
///
/// A pipe or a file may stand in place of a socket, as in tests.
package final class PeerStream {
    /// What the client sends.
    package let input: Int32
    /// What the client reads.
    package let output: Int32
    /// Whether a write ended because the client had read nothing for too long.
    package private(set) var hasStalled = false

    /// Uses descriptors, which the caller keeps open.
    package init(input: Int32, output: Int32) {
        (self.input, self.output) = (input, output)
    }

    /// Whether there is input, or its end, before a time on CLOCK_MONOTONIC; `nil` waits without limit.
    package func isReady(until deadline: Int64?) -> Bool {
        (try? waitUntilReady(input, milliseconds: deadline.map { SystemClock.milliseconds(until: $0) } ?? -1)) == true
    }

    /// Whether the client has closed its end, or the connection has failed.
    package var isGone: Bool { isHungUp(input) }

    /// Reads what has arrived; 0 at the end, also that of a connection that has failed.
    package func read(_ piece: inout [UInt8], atMost most: Int) -> Int {
        (try? systemCall("read") { Glibc.read(input, &piece, most) }) ?? 0
    }

    /// Writes bytes; `false` if the client is gone, or has not read them all within a time in nanoseconds.
    package func write(_ bytes: [UInt8], within nanoseconds: Int64) -> Bool {
        var rest = bytes[...]
        let deadline = SystemClock.monotonic() + nanoseconds
        do throws(SystemError) {
            while !rest.isEmpty {
                let hasRoom = try waitUntilReady(
                    output, for: POLLOUT, milliseconds: SystemClock.milliseconds(until: deadline))
                guard hasRoom else {
                    hasStalled = true
                    return false
                }
                // MSG_DONTWAIT: sends only what there is room for, even on a blocking descriptor.
                rest = rest.dropFirst(try put(rest))
            }
            return true
        } catch {
            return false
        }
    }

    /// Writes as much as there is room for.
    private func put(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        do throws(SystemError) {
            return try systemCallOnce("send") {
                bytes.withUnsafeBytes {
                    send(output, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                }
            } ?? 0
        } catch {
            guard error.code == ENOTSOCK else { throw error }
            return try systemCallOnce("write") {
                bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            } ?? 0
        }
    }
}
