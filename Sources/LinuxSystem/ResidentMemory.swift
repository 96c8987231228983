import CLinux

/// The memory that a process occupies.
package enum ResidentMemory {
    /// Returns to the kernel what only the start needed: memory that was freed, and the pages of code.
    ///
    /// Code that is used again comes back from the page cache in blocks of 64 kB, at some microseconds each.
    package static func giveBack() {
        clinux_trim_heap()
        clinux_unmap_code()
    }
}
