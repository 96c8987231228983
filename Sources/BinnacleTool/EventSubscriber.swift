import Binnacle
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Station

/// The subscription of a command: reports problems on standard error, and ends on a signal.
final class EventSubscriber {
    enum Message {
        case event(Event, json: String)
        case samples(StreamedSamples)
        case ended(ExitStatus)
    }

    /// Runs programs and forwards the signal that ends the session to them.
    let program: SessionCommand

    private let reader: SubscriptionReader
    private let errors: LineWriter
    private let waker: Waker
    private let interruption: Interruption

    init(
        _ request: SubscriptionRequest, path: @autoclosure @escaping () -> String,
        patience: SubscriptionReader.Patience, errors: LineWriter, signals: SignalListener
    ) throws(StationError) {
        let waker = try mapError({ StationError(.unavailable, $0.description) }) { () throws(SystemError) in
            try Waker()
        }
        self.waker = waker
        self.errors = errors
        let interruption = signals.interruption
        self.interruption = interruption
        let sensors: Set<String> = request.follows ? request.filter.sensors ?? [] : []
        program = SessionCommand(interruptDescriptor: waker.descriptor) { interruption.signal() }
        reader = SubscriptionReader(
            request, path: path(), patience: patience, cancelling: waker.descriptor
        ) { change in
            switch change {
            case .waiting(let error): errors.report("\(error.description.printable); waiting for it")
            case .connected: errors.report("the daemon answers")
            case .subscribed(let path): EventSubscriber.sayMissing(sensors, at: path, errors)
            }
        }
        signals.listen(waking: waker.descriptor)
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

    /// Waits for the next event or batch of samples, and reports missed ones.
    func next() throws(StationError) -> Message {
        while true {
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .event(let event, let json): return .event(event, json: json)
                case .samples(let samples): return .samples(samples)
                case .missed(let missed): say(missed)
                // Not requested.
                case .readings: break
                case .end: return .ended(.ok)
                case .cancelled: return .ended(status)
                }
            } catch {
                throw StationError(error)
            }
        }
    }

    var isInterrupted: Bool { interruption.isRequested }

    /// The exit status after a signal.
    var status: ExitStatus { interruption.exitStatus }

    private func say(_ missed: MissedEvents) {
        let count = missed.count.map { $0 == 1 ? "1 event" : "\($0) events" } ?? "events"
        var range = ""
        if let first = missed.first, let last = missed.last { range = " (\(first) to \(last))" }
        errors.report("missed \(count)\(range): \(missed.reason.printable)")
    }
}
