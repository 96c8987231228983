import Glibc

/// The requests to end the program, or to read its configuration again.
///
/// The main function makes one from its signal handlers; a test makes one from its own state.
package struct Interruption: Sendable {
    /// The signal that asked for the end; 0 before one has come.
    package let signal: @Sendable () -> Int32
    /// Whether a reload was asked for since the last call.
    package let takeReload: @Sendable () -> Bool

    /// Creates an interruption; both closures are called once a turn, on any thread.
    package init(
        signal: @escaping @Sendable () -> Int32, takeReload: @escaping @Sendable () -> Bool = { false }
    ) {
        self.signal = signal
        self.takeReload = takeReload
    }

    /// For work that a signal ends by killing the process.
    package static let never = Interruption(signal: { 0 })

    /// Whether the work is to end.
    package var isRequested: Bool { signal() != 0 }

    /// Whether the end was asked for with SIGTERM.
    package var isTermination: Bool { signal() == SIGTERM }

    /// The exit status after an interruption: 128 + the signal.
    package var exitStatus: ExitStatus { isTermination ? .terminated : .cancelled }
}
