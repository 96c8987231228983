import Glibc

/// Requests to end the program or to reload its configuration, by signals or by a test.
package struct Interruption: Sendable {
    /// The signal that requested the end; 0 for none.
    package let signal: @Sendable () -> Int32
    /// Whether a reload was requested since the last call.
    package let takeReload: @Sendable () -> Bool

    /// Creates an interruption; all closures are called once a turn, on any thread.
    package init(
        signal: @escaping @Sendable () -> Int32, takeReload: @escaping @Sendable () -> Bool = { false }
    ) {
        self.signal = signal
        self.takeReload = takeReload
    }

    /// For work that a signal ends by killing the process.
    package static let never = Interruption(signal: { 0 })

    package var isRequested: Bool { signal() != 0 }

    /// Whether SIGTERM, or the end of the terminal, requested the end, and no user who waits for a result.
    package var isTermination: Bool { [SIGTERM, SIGHUP].contains(signal()) }

    /// The exit status after an interruption: 128 + the signal.
    package var exitStatus: ExitStatus { ExitStatus(rawValue: 128 + signal()) ?? .cancelled }
}
