import Glibc
package import LinuxSystem
import Synchronization

/// A daemon inside this process, for a view of the sensors when no other daemon runs.
///
/// It runs no handlers, stores nothing, and answers at a socket in a temporary folder, so that a view always reads from
/// a socket.
package final class ViewedDaemon: Sendable {
    private struct State {
        /// Ends a wait of the daemon; `nil` before it runs.
        var waker: Waker?
        var outcome: Result<Void, StationError>?
    }

    package let socketPath: String
    private let folder: ScratchFolder
    private let log: Descriptor
    private let state = Mutex(State())
    private let isEnding = Atomic(false)

    /// Maximum time to end, in nanoseconds.
    private static let longestEnd: Int64 = 1_500_000_000

    /// Starts the daemon on another thread, and wakes the waker when it has ended.
    package init(_ options: RunOptions, waking waker: Waker) throws(SystemError) {
        folder = try ScratchFolder(prefix: "binnacle-view")
        socketPath = folder.path + "/s"
        log = try Descriptor(path: folder.put("log", ""), flags: O_RDWR | O_APPEND | O_CLOEXEC)
        var options = options
        (options.viewSocket, options.logDescriptor) = (socketPath, log.raw)
        // A daemon needs the stack of a main thread.
        try WorkerThread.start(stackBytes: nil) { [self, options] in
            run(options)
            waker.wake()
        }
    }

    private func run(_ options: RunOptions) {
        let interruption = Interruption(signal: { [self] in isEnding.load(ordering: .relaxed) ? SIGTERM : 0 })
        let outcome = Result { () throws(StationError) in
            let daemon = try Daemon(options, interruption: interruption)
            state.withLock { $0.waker = daemon.waker }
            if let failure = daemon.run() { throw failure }
        }
        state.withLock { $0.outcome = outcome }
    }

    /// The result of the run; `nil` while it runs.
    package var outcome: Result<Void, StationError>? { state.withLock { $0.outcome } }

    /// Ends the daemon; returns the messages that it logged.
    package func end() -> [String] {
        isEnding.store(true, ordering: .relaxed)
        let deadline = SystemClock.monotonic() + Self.longestEnd
        while outcome == nil, SystemClock.monotonic() < deadline {
            state.withLock { $0.waker?.wake() }
            usleep(5000)
        }
        let bytes = (try? SmallFile.bytes(folder.path + "/log", limit: 1 << 20, kind: .regular)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
