import Glibc
import LinuxSystem

/// Tells the service manager what the daemon is doing, when one has asked to know.
///
/// The protocol is a datagram of a few words, documented and stable (sd_notify(3)); a library for it would be larger than
/// the daemon's own code.
final class ServiceManager {
    private let socket: Descriptor?
    private let watchdogNanoseconds: Int64?
    private var fedNanoseconds: Int64 = .min
    private var status = ""

    /// Reads from the environment who wants to know.
    init() {
        socket = getenv("NOTIFY_SOCKET").flatMap { try? DatagramSocket.connected(to: String(cString: $0)) }
        watchdogNanoseconds = Self.watchdog()
    }

    /// How long may pass from one life sign to the next: half of what the service manager allows.
    var lifeSignMilliseconds: Int32? {
        watchdogNanoseconds.map { Int32(min($0 / 2_000_000, 3_600_000)) }
    }

    /// Everything is set up.
    func sayReady() { tell("READY=1") }

    /// The configuration is read anew, until ``sayReady()``.
    func sayReloading(_ nowNanoseconds: Int64) {
        tell("RELOADING=1\nMONOTONIC_USEC=\(nowNanoseconds / 1000)")
    }

    /// The daemon has begun to stop.
    func sayStopping() { tell("STOPPING=1") }

    /// What `systemctl status` shows, when it is another text than before.
    func say(_ status: String) {
        guard socket != nil, status != self.status else { return }
        self.status = status
        tell("STATUS=" + status)
    }

    /// Gives a life sign when it is time for one; called each time the sensor loop turns, and by nobody else.
    func giveLifeSign(_ nowNanoseconds: Int64) {
        guard let watchdogNanoseconds else { return }
        guard fedNanoseconds == .min || nowNanoseconds - fedNanoseconds >= watchdogNanoseconds / 3 else { return }
        fedNanoseconds = nowNanoseconds
        tell("WATCHDOG=1")
    }

    private func tell(_ text: String) {
        guard let socket else { return }
        let bytes = Array(text.utf8)
        // A service manager that does not listen any more is no reason to stop.
        _ = send(socket.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    private static func watchdog() -> Int64? {
        guard let text = getenv("WATCHDOG_USEC"), let microseconds = Int64(String(cString: text)),
            (1...1_000_000_000_000).contains(microseconds)
        else { return nil }
        if let process = getenv("WATCHDOG_PID"), Int32(String(cString: process)) != getpid() { return nil }
        return microseconds * 1000
    }
}
