import Glibc
import LinuxSystem

/// Reports the daemon's state by the protocol of sd_notify(3), if there is a service manager.
///
/// libsystemd would be larger than this code.
final class ServiceManager {
    private let socket: Descriptor?
    private let watchdogNanoseconds: Int64?
    private var fedNanoseconds: Int64 = .min
    /// Messages for which the service manager's queue had no room.
    private var unsent: [String] = []
    /// Interval of attempts to send them.
    private static let retryMilliseconds: Int32 = 100

    /// Whether one has started the program: it starts a program that ends at once a few times, and then no more.
    static var isThere: Bool { connected() != nil }

    private static func connected() -> Descriptor? {
        getenv("NOTIFY_SOCKET").flatMap { try? DatagramSocket.connected(to: String(cString: $0)) }
    }

    init() {
        socket = Self.connected()
        watchdogNanoseconds = Self.watchdog()
    }

    /// Interval of watchdog messages: half of the limit, or less while messages wait.
    var lifeSignMilliseconds: Int32? {
        let pause = watchdogNanoseconds.map { Int32(min(max(1, $0 / 2_000_000), 3_600_000)) }
        return unsent.isEmpty ? pause : min(pause ?? .max, Self.retryMilliseconds)
    }

    func sayReady() { notify("READY=1") }

    /// Reports a reload, which ends with ``sayReady()``.
    func sayReloading(_ nowNanoseconds: Int64) {
        notify("RELOADING=1\nMONOTONIC_USEC=\(nowNanoseconds / 1000)")
    }

    func sayStopping() { notify("STOPPING=1") }

    /// Sets the status text of `systemctl status`.
    func say(_ status: String) {
        unsent.removeAll { $0.hasPrefix("STATUS=") }
        notify("STATUS=" + status)
    }

    /// Sends a watchdog message when it is due; called only in the event thread's loop, which it proves to run.
    func giveLifeSign(_ nowNanoseconds: Int64) {
        if !unsent.isEmpty { sendUnsent() }
        guard let watchdogNanoseconds else { return }
        guard fedNanoseconds == .min || nowNanoseconds - fedNanoseconds >= watchdogNanoseconds / 3 else { return }
        fedNanoseconds = nowNanoseconds
        // If earlier messages do not fit, neither does this one; the next one follows soon.
        if unsent.isEmpty { notify("WATCHDOG=1") }
    }

    private func notify(_ text: String) {
        guard socket != nil else { return }
        unsent.append(text)
        sendUnsent()
    }

    /// Sends waiting messages; a service manager that is busy, as at boot, gets them later.
    private func sendUnsent() {
        while let text = unsent.first, send(text) { unsent.removeFirst() }
    }

    /// Sends a message; returns whether it was sent or never can be.
    private func send(_ text: String) -> Bool {
        guard let socket else { return true }
        let bytes = Array(text.utf8)
        do throws(SystemError) {
            return try systemCallOnce("send") {
                Glibc.send(socket.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            } != nil
        } catch {
            // If the service manager is gone, the daemon still runs.
            return error.code != ENOBUFS
        }
    }

    private static func watchdog() -> Int64? {
        guard let text = getenv("WATCHDOG_USEC"), let microseconds = Int64(String(cString: text)),
            (1...1_000_000_000_000).contains(microseconds)
        else { return nil }
        if let process = getenv("WATCHDOG_PID"), Int32(String(cString: process)) != getpid() { return nil }
        return microseconds * 1000
    }
}
