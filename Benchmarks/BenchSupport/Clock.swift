import Glibc
import LinuxSystem

/// CLOCK_MONOTONIC, in nanoseconds.
package func monotonic() -> Int64 { SystemClock.monotonic() }

/// The processor time that this process has had, in nanoseconds.
package func processorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Sleeps until a time on CLOCK_MONOTONIC.
package func sleepUntil(_ nanoseconds: Int64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
}

/// Ends the benchmark: without this it cannot go on.
package func fail(_ what: String) -> Never {
    perror("bench: \(what)")
    exit(1)
}
