import Binnacle
import Glibc
package import LinuxSystem
import Synchronization

/// A daemon of this process for a view of the sensors, where none runs: it acts on nothing, keeps nothing, and answers at a
/// socket in a folder of its own, so that a view has one source of readings.
package final class ViewedDaemon: Sendable {
    private struct State {
        /// Ends a wait of the daemon; `nil` before it runs.
        var waker: Waker?
        var outcome: Result<Void, StationError>?
    }

    /// The path of its socket.
    package let socketPath: String
    private let folder: ScratchFolder
    private let log: Descriptor
    private let state = Mutex(State())
    private let isEnding = Atomic(false)

    /// How long it has to end.
    private static let longestEnd: Int64 = 1_500_000_000

    /// Starts the daemon on a thread of its own; the waker is woken when it has ended.
    package init(_ options: RunOptions, waking waker: Waker) throws(SystemError) {
        folder = try ScratchFolder(prefix: "binnacle-view")
        socketPath = folder.path + "/s"
        log = try Descriptor(path: folder.put("log", ""), flags: O_RDWR | O_APPEND | O_CLOEXEC)
        var options = options
        (options.viewSocket, options.logDescriptor) = (socketPath, log.raw)
        // A daemon is made for the stack of a main thread.
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

    /// How it has ended; `nil` while it runs.
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
