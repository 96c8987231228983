import LinuxSystem

/// The clocks that a store goes by.
package struct StoreClock: Sendable {
    /// The wall clock, in nanoseconds since 1970; it may be set to anything at any time.
    package let wall: @Sendable () -> Int64
    /// A clock that is never set.
    package let monotonic: @Sendable () -> Int64

    /// The system's clocks, or others for a test.
    package init(
        wall: @escaping @Sendable () -> Int64 = SystemClock.realtime,
        monotonic: @escaping @Sendable () -> Int64 = SystemClock.monotonic
    ) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
