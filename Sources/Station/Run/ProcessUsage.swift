import Glibc
import LinuxSystem

/// Memory and processor time of this process.
struct ProcessUsage {
    /// Resident memory in bytes; `nil` when the kernel does not report it.
    let residentBytes: Int?
    /// Processor time of all threads, in seconds.
    let processorSeconds: Double

    /// The kernel has both in memory, so this does not block.
    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        processorSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        let pages = SmallFile.kernelText("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap {
            Int($0)
        }
        residentBytes = pages.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
    }
}
