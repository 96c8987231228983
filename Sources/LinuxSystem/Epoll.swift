import CLinux
import Glibc

/// Waits for many descriptors at once, each identified by a token, and for the waker of its thread.
package final class Epoll {
    private let descriptor: Descriptor
    private let ready: UnsafeMutablePointer<clinux_ready>
    private let waker: Waker?
    private static let capacity = 16
    private static let wakerToken = UInt64.max

    /// Creates an epoll without descriptors; a waker ends ``wait(until:_:)``, which clears it.
    package init(waker: Waker? = nil) throws(SystemError) {
        self.waker = waker
        descriptor = Descriptor(owning: try systemCall("epoll_create1") { clinux_epoll_create() })
        ready = .allocate(capacity: Self.capacity)
        if let waker { try add(waker.descriptor, token: Self.wakerToken) }
    }

    deinit {
        ready.deallocate()
    }

    /// Registers a descriptor for reading; throws EPERM for files that do not support it, such as `/dev/null`.
    package func add(_ other: Int32, token: UInt64) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_add(epoll, other, token) }
    }

    /// Changes the events of a registered descriptor; a hang-up is always reported.
    package func change(_ other: Int32, token: UInt64, reads: Bool, writes: Bool) throws(SystemError) {
        let epoll = descriptor.raw
        try systemCall("epoll_ctl") { clinux_epoll_change(epoll, other, token, reads ? 1 : 0, writes ? 1 : 0) }
    }

    /// Removes a descriptor, if it is registered.
    package func remove(_ other: Int32) {
        _ = clinux_epoll_remove(descriptor.raw, other)
    }

    /// Waits for events or a signal, at −1 without limit; `isHungUp` means that the other end is closed.
    package func wait(timeoutMilliseconds: Int32, _ body: (_ token: UInt64, _ isHungUp: Bool) -> Void) {
        let count = clinux_epoll_wait(descriptor.raw, ready, timeoutMilliseconds)
        for index in 0..<max(0, Int(count)) { body(ready[index].token, ready[index].is_hung_up != 0) }
    }

    /// Waits for events, for the waker, or until a time on CLOCK_MONOTONIC; `nil` is without limit.
    package func wait(until deadline: Int64?, _ body: (_ token: UInt64, _ isHungUp: Bool) -> Void) {
        wait(timeoutMilliseconds: deadline.map { SystemClock.milliseconds(until: $0) } ?? -1) { token, isHungUp in
            if token == Self.wakerToken { waker?.clear() } else { body(token, isHungUp) }
        }
    }
}

/// Waits for a few descriptors, with nanosecond precision.
package enum Readiness {
    /// Waits until one of at most eight descriptors is readable or hung up; all false after the timeout or a signal.
    package static func wait(for descriptors: [Int32?], timeoutNanoseconds: Int64?) -> [Bool] {
        let ready = clinux_wait(descriptors.map { $0 ?? -1 }, Int32(descriptors.count), timeoutNanoseconds ?? -1)
        return descriptors.indices.map { ready > 0 && ready >> Int32($0) & 1 == 1 }
    }
}
