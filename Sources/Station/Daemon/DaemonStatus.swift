import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// Memory and processor time of this process.
private struct ProcessUsage {
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

/// The answer to `binnacle status`.
extension Daemon {
    private static let statusOrder = [
        "events_total", "configuration", "sensors", "detectors", "handlers", "store", "socket", "dbus",
    ]

    /// The answer: one line of JSON.
    ///
    /// `state` is `ok`, or `degraded` when there are `problems`. Ages are in seconds; an unknown figure is null.
    func statusLine() -> String {
        let now = SystemClock.monotonic()
        let problems = problems
        var status = JSONObject()
        status.add("version", Version.current)
        status.add("pid", raw: String(getpid()))
        status.add("state", problems.isEmpty ? "ok" : "degraded")
        status.add("problems", list: problems.map(JSONObject.quoted))
        status.add("uptime_s", seconds: now - startNanoseconds)
        status.add("seq", raw: String(router.sequence))
        let usage = ProcessUsage()
        status.add("resident_bytes", raw: usage.residentBytes.map { String($0) } ?? "null")
        status.add("cpu_s", number: usage.processorSeconds, decimals: 3)
        for member in Self.ordered(statusMembers(at: now)) { status.add(member.key, raw: member.json) }
        return status.text
    }

    /// Orders members: the listed ones (null if absent), then the others.
    package static func ordered(_ members: [(key: String, json: String)]) -> [(key: String, json: String)] {
        precondition(Set(members.map(\.key)).count == members.count, "two members of the status have the same key")
        return statusOrder.map { key in members.first { $0.key == key } ?? (key, "null") }
            + members.filter { !statusOrder.contains($0.key) }
    }
}

extension JSONObject {
    mutating func add(_ key: String, seconds nanoseconds: Int64?) {
        add(key, number: nanoseconds.map { Double($0) * 1e-9 }, decimals: 3)
    }

    mutating func add(_ key: String, number: Double?, decimals: Int) {
        add(key, raw: number?.text(decimals) ?? "null")
    }
}
