import Glibc
import LinuxSystem
import Station
import Synchronization

/// The process's signal handlers, and the received signals.
///
/// A signal handler has no context, so this state is static; other code reads it through ``interruption``.
struct SignalListener {
    private static let received = Atomic<Int32>(0)
    /// When the first signal to end came, on CLOCK_MONOTONIC; 0 for none.
    private static let firstNanoseconds = Atomic<Int64>(0)
    private static var sameRequestNanoseconds: Int64 { 1_000_000_000 }
    private static let isReloadWanted = Atomic<Bool>(false)
    /// An eventfd that ends the event thread's wait; −1 for none.
    private static let wakeDescriptor = Atomic<Int32>(-1)

    let interruption = Interruption(
        signal: { received.load(ordering: .relaxed) },
        takeReload: { isReloadWanted.load(ordering: .relaxed) && isReloadWanted.exchange(false, ordering: .relaxed) })

    /// Handles SIGINT, SIGTERM and SIGHUP as requests to end; another one more than a second later kills the process.
    ///
    /// SIGHUP, which comes when the terminal is closed, stays ignored after nohup(1), and is left alone after
    /// ``listenForReload()``. A signal within a second is the same request: Ctrl-C in a shell reaches the whole process
    /// group, and a parent often forwards it. `descriptor` is an eventfd that each signal writes to; it has to stay open.
    func listen(waking descriptor: Int32? = nil) {
        // The first access initialises the static storage, which a signal handler must not do.
        Self.received.store(0, ordering: .relaxed)
        Self.firstNanoseconds.store(0, ordering: .relaxed)
        Self.wakeDescriptor.store(descriptor ?? -1, ordering: .relaxed)
        Self.handle([SIGINT, SIGTERM] + (Self.isHangupUnhandled ? [SIGHUP] : [])) { number in
            // clock_gettime(2) is async-signal-safe.
            let now = SystemClock.monotonic()
            let first = SignalListener.firstNanoseconds.load(ordering: .relaxed)
            guard first == 0 else {
                guard now - first > SignalListener.sameRequestNanoseconds else { return }
                // The signal is blocked in its handler, so the process ends on return.
                signal(number, SIG_DFL)
                raise(number)
                return
            }
            SignalListener.firstNanoseconds.store(now, ordering: .relaxed)
            SignalListener.received.store(number, ordering: .relaxed)
            SignalListener.wake()
        }
    }

    /// A standard descriptor whose terminal ends the process when it is closed; −1 for none.
    private static let terminalDescriptor = Atomic<Int32>(-1)

    /// Handles SIGHUP as a request to reload, or to end if the terminal was closed.
    func listenForReload() {
        Self.isReloadWanted.store(false, ordering: .relaxed)
        _ = Self.wakeDescriptor.load(ordering: .relaxed)
        _ = Self.received.load(ordering: .relaxed)
        // After nohup(1) the process is to outlive its terminal.
        let standard = Self.isHangupUnhandled ? [STDERR_FILENO, STDOUT_FILENO, STDIN_FILENO] : []
        let terminal = standard.first { isatty($0) == 1 }
        Self.terminalDescriptor.store(terminal ?? -1, ordering: .relaxed)
        Self.handle([SIGHUP]) { number in
            if SignalListener.isTerminalClosed() {
                SignalListener.received.store(number, ordering: .relaxed)
            } else {
                SignalListener.isReloadWanted.store(true, ordering: .relaxed)
            }
            SignalListener.wake()
        }
    }

    /// Whether SIGHUP would end the process: it is neither ignored, as after nohup(1), nor handled.
    private static var isHangupUnhandled: Bool {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    }

    /// Whether the terminal is gone; tcgetattr(3) is async-signal-safe.
    private static func isTerminalClosed() -> Bool {
        let descriptor = terminalDescriptor.load(ordering: .relaxed)
        guard descriptor >= 0 else { return false }
        let before = errno
        defer { errno = before }
        var attributes = termios()
        return tcgetattr(descriptor, &attributes) != 0
    }

    private static let terminalSignals = Atomic<UInt32>(0)

    /// Terminal signals since the last call.
    struct TerminalChange: OptionSet {
        let rawValue: UInt32
        static let size = TerminalChange(rawValue: 1)
        /// Ctrl-Z.
        static let stop = TerminalChange(rawValue: 2)
        /// The process continues after a stop.
        static let resume = TerminalChange(rawValue: 4)
    }

    /// Handles SIGWINCH, SIGTSTP and SIGCONT, for a full-screen program.
    func listenForTerminal() {
        _ = Self.terminalSignals.load(ordering: .relaxed)
        _ = Self.wakeDescriptor.load(ordering: .relaxed)
        Self.handle([SIGWINCH, SIGTSTP, SIGCONT]) { number in
            let bit: UInt32 = number == SIGWINCH ? 1 : number == SIGTSTP ? 2 : 4
            SignalListener.terminalSignals.bitwiseOr(bit, ordering: .relaxed)
            SignalListener.wake()
        }
    }

    func takeTerminalChange() -> TerminalChange {
        TerminalChange(rawValue: Self.terminalSignals.exchange(0, ordering: .relaxed))
    }

    /// Stops the process like Ctrl-Z without a handler, until it is continued.
    func stopProcess() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        listenForTerminal()
    }

    /// Called in signal handlers, so it does only async-signal-safe work.
    private static func wake() {
        let descriptor = wakeDescriptor.load(ordering: .relaxed)
        var one: UInt64 = 1
        if descriptor >= 0 { _ = write(descriptor, &one, 8) }
    }

    /// Sets a handler, and unblocks the signals, which the parent process may have blocked.
    private static func handle(_ numbers: [Int32], _ handler: @escaping @convention(c) (Int32) -> Void) {
        // Without SA_RESTART a signal interrupts a blocking call.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers {
            sigaction(number, &action, nil)
            sigaddset(&signals, number)
        }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }
}
