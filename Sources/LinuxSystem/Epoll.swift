import CLinux
import Glibc

/// Waits for many descriptors at once, each identified by a token.
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

    /// Registers a descriptor for reading; throws EPERM for files that cannot be waited for, such as `/dev/null`.
    package func add(_ other: Int32, token: UInt64) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_add(epoll, other, token) }
    }

    /// Changes the events of a registered descriptor; that its other end is closed is always reported.
    package func change(_ other: Int32, token: UInt64, reads: Bool, writes: Bool) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_change(epoll, other, token, reads ? 1 : 0, writes ? 1 : 0) }
    }

    /// Removes a descriptor, if it is registered.
    package func remove(_ other: Int32) {
        _ = clinux_epoll_remove(descriptor.raw, other)
    }

    /// Waits for events, at −1 without end, and returns the number of ready descriptors; 0 also after a signal.
    package func wait(timeoutMilliseconds: Int32, _ body: (UInt64) -> Void) -> Int {
        wait(timeoutMilliseconds: timeoutMilliseconds) { token, _ in body(token) }
    }

    /// Waits for events like the above; `isHungUp` means that the other end is closed.
    package func wait(timeoutMilliseconds: Int32, _ body: (_ token: UInt64, _ isHungUp: Bool) -> Void) -> Int {
        let count = clinux_epoll_wait(descriptor.raw, ready, timeoutMilliseconds)
        guard count > 0 else { return 0 }
        for index in 0..<Int(count) { body(ready[index].token, ready[index].is_hung_up != 0) }
        return Int(count)
    }
}

/// Waits for a few descriptors, with nanosecond precision.
package enum Readiness {
    /// Waits until one of at most eight descriptors can be read or has ended; all false after the time-out or a signal.
    package static func wait(for descriptors: [Int32?], timeoutNanoseconds: Int64?) -> [Bool] {
        let ready = clinux_wait(descriptors.map { $0 ?? -1 }, Int32(descriptors.count), timeoutNanoseconds ?? -1)
        return descriptors.indices.map { ready > 0 && ready >> Int32($0) & 1 == 1 }
    }
}
