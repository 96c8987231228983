import CLinux

/// The machine's processors.
package enum Processors {
    /// The number of processors that the calling thread may use, at least 1.
    ///
    /// taskset(1), a cpuset or a unit's `CPUAffinity=` may restrict it; a control group's share of time does not count.
    package static var availableCount: Int { max(1, Int(clinux_processors())) }
}
