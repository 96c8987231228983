import CLinux
import Glibc

/// Waits for many descriptors at once; every one has a number by which it is known.
package final class Epoll {
    private let descriptor: Descriptor
    private let ready: UnsafeMutablePointer<clinux_ready>
    private static let capacity = 16

    /// Creates an epoll without descriptors.
    package init() throws(SystemError) {
        descriptor = Descriptor(owning: try systemCall("epoll_create1") { clinux_epoll_create() })
        ready = .allocate(capacity: Self.capacity)
    }

    deinit {
        ready.deallocate()
    }

    /// Waits for something to read from a descriptor.
    ///
    /// - Throws: ``SystemError``; EPERM for what cannot be waited for, a regular file or `/dev/null` for instance.
    package func add(_ other: Int32, token: UInt64) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_add(epoll, other, token) }
    }

    /// Forgets a descriptor; one that it does not know is no matter.
    package func remove(_ other: Int32) {
        _ = clinux_epoll_remove(descriptor.raw, other)
    }

    /// Waits.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: The longest wait; −1 has no end.
    ///   - body: Called with the number of each descriptor that has something to read, or to complain about.
    /// - Returns: How many were ready; 0 also when a signal came.
    package func wait(timeoutMilliseconds: Int32, _ body: (UInt64) -> Void) -> Int {
        let count = clinux_epoll_wait(descriptor.raw, ready, timeoutMilliseconds)
        guard count > 0 else { return 0 }
        for index in 0..<Int(count) { body(ready[index].token) }
        return Int(count)
    }
}
