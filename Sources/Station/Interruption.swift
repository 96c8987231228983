import Glibc
import Synchronization

/// Ctrl-C and a polite kill, as a flag that long work looks at between two steps.
package enum Interruption {
    /// Set by the signal handler; an atomic store is all that a handler may safely do here.
    private static let received = Atomic<Int32>(0)

    /// Whether SIGINT or SIGTERM has come.
    package static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

    /// Whether it was SIGTERM.
    package static var isTermination: Bool { received.load(ordering: .relaxed) == SIGTERM }

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
            let descriptor = Interruption.wakeDescriptor.load(ordering: .relaxed)
            var one: UInt64 = 1
            if descriptor >= 0 { _ = write(descriptor, &one, 8) }
        }
        // Without SA_RESTART a sleep wakes up when the signal comes.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        // Whoever started this process may have left the signals blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }
}
