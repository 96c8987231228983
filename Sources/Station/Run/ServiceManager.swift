import Glibc
import LinuxSystem

/// Reports the daemon's state to the service manager by the protocol of sd_notify(3), where there is one.
///
/// A library for these datagrams would be larger than the daemon's own code.
final class ServiceManager {
    private let socket: Descriptor?
    private let watchdogNanoseconds: Int64?
    private var fedNanoseconds: Int64 = .min
    /// The messages without room in the service manager's queue, in their order.
    private var unsent: [String] = []
    /// How long to wait before it is tried again.
    private static let retryMilliseconds: Int32 = 100

    /// Reads the service manager's address from the environment.
    init() {
        socket = getenv("NOTIFY_SOCKET").flatMap { try? DatagramSocket.connected(to: String(cString: $0)) }
        watchdogNanoseconds = Self.watchdog()
    }

    /// The interval of watchdog messages: half of what the service manager allows, or less while messages wait.
    var lifeSignMilliseconds: Int32? {
        let pause = watchdogNanoseconds.map { Int32(min(max(1, $0 / 2_000_000), 3_600_000)) }
        return unsent.isEmpty ? pause : min(pause ?? .max, Self.retryMilliseconds)
    }

    /// Everything is set up.
    func sayReady() { notify("READY=1") }

    /// The configuration is read again, until ``sayReady()``.
    func sayReloading(_ nowNanoseconds: Int64) {
        notify("RELOADING=1\nMONOTONIC_USEC=\(nowNanoseconds / 1000)")
    }

    /// The daemon has begun to stop.
    func sayStopping() { notify("STOPPING=1") }

    /// Sets the status text of `systemctl status`.
    func say(_ status: String) {
        unsent.removeAll { $0.hasPrefix("STATUS=") }
        notify("STATUS=" + status)
    }

    /// Sends a watchdog message when it is due; called only where the event thread's loop turns.
    func giveLifeSign(_ nowNanoseconds: Int64) {
        if !unsent.isEmpty { sendUnsent() }
        guard let watchdogNanoseconds else { return }
        guard fedNanoseconds == .min || nowNanoseconds - fedNanoseconds >= watchdogNanoseconds / 3 else { return }
        fedNanoseconds = nowNanoseconds
        // Without room for earlier messages there is none for this one; the next one comes soon.
        if unsent.isEmpty { notify("WATCHDOG=1") }
    }

    private func notify(_ text: String) {
        guard socket != nil else { return }
        unsent.append(text)
        sendUnsent()
    }

    /// Sends the waiting messages; a busy service manager, as at boot, gets them later.
    private func sendUnsent() {
        while let text = unsent.first, send(text) { unsent.removeFirst() }
    }

    /// Sends a message; returns whether it was taken, or will never be.
    private func send(_ text: String) -> Bool {
        guard let socket else { return true }
        let bytes = Array(text.utf8)
        do throws(SystemError) {
            return try systemCallOnce("send") {
                Glibc.send(socket.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            } != nil
        } catch {
            // A service manager that has gone is no reason to stop.
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
