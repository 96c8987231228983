import Binnacle
import Configuration
import Handlers
import LinuxSystem
import Store

/// Attaches handlers to the store, one at a time for each name.
///
/// When a reload replaces a handler, the new one is attached after the old one has ended, and first gets the events
/// that the old one did not handle.
final class HandlerAttachments {
    private let store: EventStore
    private let tellEnd: @Sendable (_ name: String) -> Void
    private var attached: [String: ThreadedHandler] = [:]
    /// Detached handlers that may still be working.
    private var ending: [String: ThreadedHandler] = [:]
    private var lines: [HandlerLine] = []

    /// Creates an empty object; `tellEnd` is called on any thread when a detached handler has ended, and has to lead to
    /// ``handlerDidEnd(_:)``.
    init(_ store: EventStore, tellEnd: @escaping @Sendable (_ name: String) -> Void) {
        self.store = store
        self.tellEnd = tellEnd
    }

    /// Detaches removed handlers and attaches new ones; the caller ends the removed handlers within `duration`.
    func change(to lines: [HandlerLine], within duration: Duration) {
        self.lines = lines.filter(\.isKept)
        let accepted = Dictionary(
            uniqueKeysWithValues: self.lines.map { line in
                (
                    line.section.name,
                    HandledEvents(kinds: Set(line.section.kinds), detectors: line.section.detectors.map { Set($0) })
                )
            })
        store.expect(Set(accepted.keys)) { name, event in
            // Reports of arming are about no detector, and the decorator `quorum` makes an event of others.
            event.kind.isArming || event.kind == .quorumReached
                || accepted[name]?.accepts(event) ?? true
        }
        for (name, handler) in attached where !lines.contains(where: { $0.handler === handler }) {
            store.detach(name)
            attached[name] = nil
            waitForEnd(of: handler, name, within: duration)
        }
        attach()
    }

    func handlerDidEnd(_ name: String) {
        ending[name] = nil
        attach()
    }

    /// Detaches all handlers; the store keeps the events that they have not handled.
    func detachAll() {
        for name in attached.keys { store.detach(name) }
        attached = [:]
    }

    private func attach() {
        for line in lines where attached[line.section.name] == nil && ending[line.section.name] == nil {
            guard let limit = line.deliveryLimit else { continue }
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
            // Without a thread to wait on, the successor starts at once and may repeat work.
            ending[name] = nil
        }
    }
}
