import Glibc
import Synchronization

/// How many workers are opening a device.
final class OpeningCount: Sendable {
    private let count = Atomic<Int>(0)

    func begin() { count.add(1, ordering: .relaxed) }

    func end() { count.subtract(1, ordering: .releasing) }

    /// Waits until there is none, and not for ever.
    func wait(atMostMilliseconds: Int) {
        for _ in 0..<atMostMilliseconds where count.load(ordering: .acquiring) > 0 { usleep(1000) }
    }
}
