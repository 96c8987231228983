import LinuxSystem

/// A device of a sensor that has gone, until it is closed.
struct LeavingDevice {
    /// Its folder.
    let path: String
    /// When its driver should have answered, on CLOCK_MONOTONIC.
    let dueNanoseconds: Int64

    init(_ path: String) {
        self.path = path
        dueNanoseconds = SystemClock.monotonic() + LiveSource.longestOpening
    }
}
