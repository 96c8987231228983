import Synchronization

/// What closes a device; it has let go of everything that it holds, such as an open file, when it is done.
///
/// A thread's own closure would keep that until the thread has ended, and whoever opens the device next would find it in
/// use.
final class Closing: Sendable {
    private let work: Mutex<(@Sendable () -> Void)?>

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = Mutex(work)
    }

    func run() {
        let taken = work.withLock { work in
            defer { work = nil }
            return work
        }
        taken?()
    }
}
