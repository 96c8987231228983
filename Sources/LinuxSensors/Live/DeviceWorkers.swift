import Glibc
package import LinuxSystem
import Synchronization

/// The worker threads of a live source: a driver may block any access to its device for seconds.
///
/// An opening or a closing has its own thread, so that a driver that hangs delays no other sensor; a sensor has one opening at a
/// time. Examinations share a few threads, because udev may report any number of devices.
package final class DeviceWorkers: Sendable {
    package typealias Work = @Sendable () -> Void

    private struct State {
        var examinations = BoundedQueue<Work>(capacity: .max)
        var examinerCount = 0
        var runningCount = 0
    }

    /// The maximum number of threads that examine devices.
    package static let mostExaminers = 4

    private let state = Mutex(State())

    /// Creates workers; threads start on demand.
    package init() {}

    /// Runs work on its own thread.
    ///
    /// - Parameters:
    ///   - work: Work that may block. It is released, with everything it holds, before the call of `report`: a device that it
    ///     holds open could not be opened again.
    ///   - report: Runs on the same thread afterwards.
    /// - Throws: ``SystemError`` when no thread can be started.
    package func start(_ work: @escaping Work, then report: @escaping Work = {}) throws(SystemError) {
        let held = Mutex<Work?>(work)
        state.withLock { $0.runningCount += 1 }
        do throws(SystemError) {
            try WorkerThread.start { [self] in
                held.withLock { $0.take() }?()
                report()
                state.withLock { $0.runningCount -= 1 }
            }
        } catch {
            state.withLock { $0.runningCount -= 1 }
            throw error
        }
    }

    /// Waits until no thread opens or closes a device, or the time is over.
    package func wait(atMostMilliseconds: Int) {
        for _ in 0..<atMostMilliseconds where state.withLock({ $0.runningCount > 0 }) { usleep(1000) }
    }

    /// Runs work on one of the examination threads, in the order of the calls.
    ///
    /// - Throws: ``SystemError`` when no thread can be started.
    package func examine(_ work: @escaping Work) throws(SystemError) {
        let needsThread = state.withLock { state in
            _ = state.examinations.append(work, load: 0)
            guard state.examinerCount < Self.mostExaminers else { return false }
            state.examinerCount += 1
            return true
        }
        guard needsThread else { return }
        do throws(SystemError) {
            try WorkerThread.start { [self] in while let next = nextExamination() { next() } }
        } catch {
            let isOrphaned = state.withLock { state in
                state.examinerCount -= 1
                if state.examinerCount == 0 { state.examinations = BoundedQueue(capacity: .max) }
                return state.examinerCount == 0
            }
            if isOrphaned { throw error }
        }
    }

    private func nextExamination() -> Work? {
        state.withLock { state in
            let next = state.examinations.popFirst()
            if next == nil { state.examinerCount -= 1 }
            return next
        }
    }
}
