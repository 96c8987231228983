import Glibc
import LinuxSystem

/// Brings a log to the disk on a thread of its own: the store's thread goes on meanwhile.
///
/// That is all `synchronous = NORMAL` takes: what is in the log is found there after a power cut, and merged.
final class LogSync: Sendable {
    private let courier: Courier<BoundedQueue<Descriptor>>

    /// Starts the thread.
    init() throws(SystemError) {
        courier = try Courier(BoundedQueue(capacity: 1))
        try courier.startBatches { { logs in for log in logs { _ = fdatasync(log.raw) } } }
    }

    deinit {
        courier.requestStop()
    }

    /// Begins to bring a log to the disk, or goes on with that.
    ///
    /// A failure is not told here: the next checkpoint meets it, too, with a connection that knows what it means. No lock of
    /// SQLite's is on a log, so that closing a descriptor of it gives up none.
    func begin(_ path: String) {
        guard let log = try? Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        _ = courier.put(log)
    }

    /// Whether everything that was begun is done.
    var isIdle: Bool { courier.withContent { $0.unfinishedCount == 0 } }
}
