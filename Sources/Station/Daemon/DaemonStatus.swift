import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// The answer to `binnacle status`.
extension Daemon {
    /// Order of the members in the answer.
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
        add(key, raw: number.map { Figure.Value.number($0, decimals: decimals).description } ?? "null")
    }
}
