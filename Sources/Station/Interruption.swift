import Glibc
import Synchronization

/// Ctrl-C and a polite kill, as a flag that long work looks at between two steps.
package enum Interruption {
    /// Set by the signal handler; an atomic store is all that a handler may safely do here.
    private static let received = Atomic<Int32>(0)

    /// Whether SIGINT or SIGTERM has come.
    package static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

    /// The signal that has come; 0 before one has.
    package static var signal: Int32 { received.load(ordering: .relaxed) }

    /// Whether it was SIGTERM.
    package static var isTermination: Bool { received.load(ordering: .relaxed) == SIGTERM }

    /// Whether SIGHUP has come since somebody last asked.
    private static let isReloadWanted = Atomic<Bool>(false)

    /// Whether SIGHUP has come since this was last asked.
    package static func takeReload() -> Bool {
        isReloadWanted.load(ordering: .relaxed) && isReloadWanted.exchange(false, ordering: .relaxed)
    }

    /// What the handler writes to, so that a wait that is about to begin ends as well; −1 without one.
    private static let wakeDescriptor = Atomic<Int32>(-1)

    /// Starts listening; a second signal ends the process the hard way, as if nobody listened.
    ///
    /// - Parameter descriptor: An eventfd that is written to when a signal comes; it stays open as long as the process.
    package static func listen(waking descriptor: Int32? = nil) {
        // Touched once here, so that the handler never is the one to initialise it.
        received.store(0, ordering: .relaxed)
        wakeDescriptor.store(descriptor ?? -1, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            Interruption.received.store(signal, ordering: .relaxed)
            Interruption.wake()
        }
        // Without SA_RESTART a sleep wakes up when the signal comes.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        unblock([SIGINT, SIGTERM])
    }

    /// Takes SIGHUP as the wish to read the configuration anew, from now on and each time.
    package static func listenForReload() {
        isReloadWanted.store(false, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            Interruption.isReloadWanted.store(true, ordering: .relaxed)
            Interruption.wake()
        }
        sigaction(SIGHUP, &action, nil)
        unblock([SIGHUP])
    }

    /// Called in signal handlers: nothing but a load and a write.
    private static func wake() {
        let descriptor = wakeDescriptor.load(ordering: .relaxed)
        var one: UInt64 = 1
        if descriptor >= 0 { _ = write(descriptor, &one, 8) }
    }

    /// Whoever started this process may have left signals blocked.
    private static func unblock(_ wanted: [Int32]) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in wanted { sigaddset(&signals, signal) }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }
}
