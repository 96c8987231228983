import Glibc

/// A thread for blocking work; a sysfs file of a sleeping device can take seconds.
package enum WorkerThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs a closure, which must not wait for the starting thread, on a new thread.
    ///
    /// The stack counts in the address space: 512 KiB suffice for the project's own code; `nil` is the system's default, for
    /// other code.
    package static func start(
        stackBytes: Int? = 512 * 1024, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
        // Signals are for the event thread, whose waits they end. SIGBUS is for the thread that reads a lost page of a mapped file,
        // and would end the process if it were blocked.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        sigdelset(&all, SIGBUS)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, Self.main, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw SystemError(code: code, call: "pthread_create")
        }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        guard let pointer else { return nil }
        // Retained when the thread was started.
        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}
