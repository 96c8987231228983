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

    /// Changes what is waited for; that the other end is gone is always told.
    ///
    /// - Parameters:
    ///   - other: A descriptor that was added.
    ///   - token: Its number.
    ///   - reads: Whether to wait for something to read.
    ///   - writes: Whether to wait for room to write.
    /// - Throws: ``SystemError``.
    package func change(_ other: Int32, token: UInt64, reads: Bool, writes: Bool) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_change(epoll, other, token, reads ? 1 : 0, writes ? 1 : 0) }
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
        wait(timeoutMilliseconds: timeoutMilliseconds) { token, _ in body(token) }
    }

    /// Waits.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: The longest wait; −1 has no end.
    ///   - body: Called with the number of each descriptor that is ready, and with whether its other end is gone.
    /// - Returns: How many were ready; 0 also when a signal came.
    package func wait(timeoutMilliseconds: Int32, _ body: (_ token: UInt64, _ isHungUp: Bool) -> Void) -> Int {
        let count = clinux_epoll_wait(descriptor.raw, ready, timeoutMilliseconds)
        guard count > 0 else { return 0 }
        for index in 0..<Int(count) { body(ready[index].token, ready[index].is_hung_up != 0) }
        return Int(count)
    }
}
