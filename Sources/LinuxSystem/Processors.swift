import CLinux

/// The machine's processors.
package enum Processors {
    /// How many of them the calling thread may use, at least 1.
    ///
    /// taskset(1), a cpuset or a unit's `CPUAffinity=` may leave it some; a control group's share of their time does not count.
    package static var availableCount: Int { max(1, Int(clinux_processors())) }
}
