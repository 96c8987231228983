import Binnacle
import Configuration
import Handlers
import LinuxSystem
import Store

/// Attaches handlers to the store that delivers to them: one at a time for each name, in their order.
///
/// When a reload exchanges a handler, the new one gets nothing before the old one has ended: what the old one has not done
/// by then is the first that the new one gets.
final class HandlerAttachments {
    private let store: EventStore
    private let tellEnd: @Sendable (_ name: String) -> Void
    private var attached: [String: ThreadedHandler] = [:]
    /// Handlers that were detached and may still be at work.
    private var ending: [String: ThreadedHandler] = [:]
    private var lines: [HandlerLine] = []

    /// Creates attachments of no handler; `tellEnd` is called on any thread when a detached handler has ended, which
    /// ``handlerDidEnd(_:)`` has to be told.
    init(_ store: EventStore, tellEnd: @escaping @Sendable (_ name: String) -> Void) {
        self.store = store
        self.tellEnd = tellEnd
    }

    /// Detaches the handlers that are no longer there, and attaches those that are new; the caller has those that go end
    /// within `duration`.
    func change(to lines: [HandlerLine], within duration: Duration) {
        self.lines = lines.filter(\.isKept)
        store.expect(Set(self.lines.map(\.section.name)))
        for (name, handler) in attached where !lines.contains(where: { $0.handler === handler }) {
            store.detach(name)
            attached[name] = nil
            waitForEnd(of: handler, name, within: duration)
        }
        attach()
    }

    /// Attaches the next handler of a name, after a detached one has ended.
    func handlerDidEnd(_ name: String) {
        ending[name] = nil
        attach()
    }

    /// Detaches all handlers; the store keeps what they do not do.
    func detachAll() {
        for name in attached.keys { store.detach(name) }
        attached = [:]
    }

    private func attach() {
        for line in lines where attached[line.section.name] == nil && ending[line.section.name] == nil {
            guard case .store(_, let limit) = line.deliveredBy else { continue }
            let handler = line.handler
            attached[line.section.name] = handler
            store.attach(line.section.name, limit: limit) { handler.deliver($0) }
        }
    }

    private func waitForEnd(of handler: ThreadedHandler, _ name: String, within duration: Duration) {
        let deadline = SystemClock.monotonic() + Units.nanoseconds(duration + .seconds(5))
        let tellEnd = tellEnd
        ending[name] = handler
        do throws(SystemError) {
            try WorkerThread.start {
                _ = handler.waitForEnd(until: deadline)
                tellEnd(name)
            }
        } catch {
            // Without a thread to wait on, its successor begins at once, and may do the same work again.
            ending[name] = nil
        }
    }
}
