import Glibc
import LinuxSystem

/// What this process takes of the machine.
struct ProcessUsage {
    /// Resident memory in bytes; `nil` when the kernel does not say.
    let residentBytes: Int?
    /// Processor time in seconds, of all threads.
    let processorSeconds: Double

    /// Asks the kernel, which has both in memory.
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
