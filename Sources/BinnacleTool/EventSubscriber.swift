import Binnacle
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Station

/// The subscription of a command: reports problems on standard error, and ends on a signal.
final class EventSubscriber {
    /// Runs programs and forwards the signal that ends the session to them.
    let program: SessionCommand

    private let reader: SubscriptionReader
    private let errors: LineWriter
    private let waker: Waker
    private let interruption: Interruption
    /// The exit status once ``next()`` is `nil`.
    private(set) var status = ExitStatus.ok

    init(
        _ request: SubscriptionRequest, path: @autoclosure @escaping () -> String,
        patience: SubscriptionReader.Patience, _ console: Console
    ) throws(StationError) {
        let waker = try mapError({ StationError(.unavailable, $0.description) }) { () throws(SystemError) in
            try Waker()
        }
        self.waker = waker
        let (errors, interruption) = (console.errors, console.signals.interruption)
        self.errors = errors
        self.interruption = interruption
        let sensors: Set<String> = request.follows ? request.filter.sensors ?? [] : []
        program = SessionCommand(interruptDescriptor: waker.descriptor) { interruption.signal() }
        reader = SubscriptionReader(request, path: path(), patience: patience, cancelling: waker.descriptor) { change in
            switch change {
            case .waiting(let error): errors.report("\(error.description.printable); waiting for it")
            case .connected: errors.report("the daemon answers")
            case .subscribed(let path): EventSubscriber.sayMissing(sensors, at: path, errors)
            }
        }
        console.signals.listen(waking: waker.descriptor)
    }

    /// Reports the named sensors that the daemon does not have: it waits for them, as a reload may add one, and so for a
    /// misspelled one without end.
    private static func sayMissing(_ names: Set<String>, at path: String, _ errors: LineWriter) {
        guard !names.isEmpty, let status = try? DaemonStatus.ask(path).status else { return }
        let present = status["sensors"].items.compactMap { $0["name"]?.text }
        for name in names.sorted() where !present.contains(name) {
            let hint = Spelling.hint(for: name, among: present)
            errors.report(
                "--sensor \(name.printable): the daemon has no such sensor now (\(hint)); waiting for its events")
        }
    }

    /// Waits for the next event or batch of samples, and reports missed ones; `nil` at the end, or after a signal.
    func next() throws(StationError) -> SocketMessage? {
        while true {
            let message = try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in
                try reader.next()
            }
            switch message {
            case .event, .samples: return message
            case .missed(let missed): errors.report(missed)
            case .end: return nil
            case nil:
                status = interruption.exitStatus
                return nil
            // Not requested.
            default: break
            }
        }
    }
}

extension LineWriter {
    /// Reports missed events.
    func report(_ missed: MissedEvents) {
        let count = missed.count.map { $0 == 1 ? "1 event" : "\($0) events" } ?? "events"
        var range = ""
        if let first = missed.first, let last = missed.last {
            range = first == last ? " (\(first))" : " (\(first) to \(last))"
        }
        report("missed \(count)\(range): \(missed.reason.printable)")
    }
}
