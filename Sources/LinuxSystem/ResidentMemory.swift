import CLinux

/// The memory that a process occupies.
package enum ResidentMemory {
    /// Returns memory to the kernel that was needed only for the start: freed memory, and the pages of code.
    ///
    /// Code that is used again is loaded from the page cache in blocks of 64 kB, at some microseconds each.
    package static func giveBack() {
        clinux_trim_heap()
        clinux_unmap_code()
    }
}
