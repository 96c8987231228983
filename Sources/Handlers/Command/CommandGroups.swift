import Glibc
import Synchronization

/// The process groups of a handler's running programs, for an end that cannot wait for the thread which supervises them.
final class CommandGroups: Sendable {
    private struct State {
        var leaders: Set<pid_t> = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// Adds a group whose leader was started; it is killed at once after ``kill()``.
    func add(_ leader: pid_t) {
        state.withLock { state in
            state.leaders.insert(leader)
            if state.isOver { _ = Glibc.kill(-leader, SIGKILL) }
        }
    }

    /// Calls a function that may reap a leader, and removes its group if it did: only until then its ID is sure to mean this group.
    func reap(_ leader: pid_t, with waitpid: () -> pid_t) -> pid_t {
        state.withLock { state in
            let result = waitpid()
            if result != 0 { state.leaders.remove(leader) }
            return result
        }
    }

    /// Kills all groups, and those that are added later.
    func kill() {
        state.withLock { state in
            state.isOver = true
            for leader in state.leaders { _ = Glibc.kill(-leader, SIGKILL) }
        }
    }
}
