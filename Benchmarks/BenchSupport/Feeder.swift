import LinuxSystem

/// A thread that feeds a device while this one listens.
package final class Feeder {
    private let hasEnded = Monitor(false)

    package init(_ body: @escaping @Sendable () -> Void) {
        do throws(SystemError) {
            try WorkerThread.start { [hasEnded] in
                body()
                hasEnded.change { $0 = true }
            }
        } catch {
            fail("\(error)")
        }
    }

    package func wait() {
        hasEnded.wait { $0 ? () : nil }
    }
}
