import CLinux

/// Waits for a few descriptors, to the nanosecond.
package enum Readiness {
    /// Waits for something to read.
    ///
    /// - Parameters:
    ///   - descriptors: At most eight; `nil` is not waited for. Also files that epoll refuses, which are always readable.
    ///   - timeoutNanoseconds: The longest wait; `nil` has no end.
    /// - Returns: For each, whether it can be read or has ended; none when the time was over or a signal came.
    package static func wait(for descriptors: [Int32?], timeoutNanoseconds: Int64?) -> [Bool] {
        let ready = clinux_wait(descriptors.map { $0 ?? -1 }, Int32(descriptors.count), timeoutNanoseconds ?? -1)
        return descriptors.indices.map { ready > 0 && ready >> Int32($0) & 1 == 1 }
    }
}
