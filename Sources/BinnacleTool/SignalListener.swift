import Glibc
import Station
import Synchronization

/// The process's signal handlers, and the received signals.
///
/// A signal handler has no context, so its state is static; everything else reads it through ``interruption``.
struct SignalListener {
    private static let received = Atomic<Int32>(0)
    private static let isReloadWanted = Atomic<Bool>(false)
    /// An eventfd that ends the event thread's wait; −1 without one.
    private static let wakeDescriptor = Atomic<Int32>(-1)

    /// The received signals, for the rest of the program.
    let interruption = Interruption(
        signal: { received.load(ordering: .relaxed) },
        takeReload: { isReloadWanted.load(ordering: .relaxed) && isReloadWanted.exchange(false, ordering: .relaxed) })

    /// Handles SIGINT and SIGTERM as requests to end; a second one kills the process.
    ///
    /// - Parameter descriptor: An eventfd that is written to when a signal comes; it stays open as long as the process.
    func listen(waking descriptor: Int32? = nil) {
        // The first access initialises the static storage, which a signal handler must not do.
        Self.received.store(0, ordering: .relaxed)
        Self.wakeDescriptor.store(descriptor ?? -1, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            SignalListener.received.store(signal, ordering: .relaxed)
            SignalListener.wake()
        }
        // Without SA_RESTART a blocking call returns when the signal comes.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        Self.unblock([SIGINT, SIGTERM])
    }

    /// Handles SIGHUP as a request to read the configuration again.
    func listenForReload() {
        Self.isReloadWanted.store(false, ordering: .relaxed)
        _ = Self.wakeDescriptor.load(ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            SignalListener.isReloadWanted.store(true, ordering: .relaxed)
            SignalListener.wake()
        }
        sigaction(SIGHUP, &action, nil)
        Self.unblock([SIGHUP])
    }

    /// Called in signal handlers, where little more than a load and a write is allowed.
    private static func wake() {
        let descriptor = wakeDescriptor.load(ordering: .relaxed)
        var one: UInt64 = 1
        if descriptor >= 0 { _ = write(descriptor, &one, 8) }
    }

    /// The parent process may have left the signals blocked.
    private static func unblock(_ wanted: [Int32]) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in wanted { sigaddset(&signals, signal) }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }
}
