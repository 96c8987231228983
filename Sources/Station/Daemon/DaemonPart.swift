import Binnacle
import Configuration
import LinuxSystem

/// A part of the daemon, with its own state, messages, deadline and end.
///
/// The daemon knows its parts by this protocol alone and calls them on the event thread. A part calls the daemon when
/// its contribution (chains, observers) has changed. Every method has an empty default.
protocol DaemonPart: AnyObject, SendableMetatype {
    /// Makes the objects of a configuration, which may fail; ``apply(_:)`` follows with the same configuration.
    func prepare(_ configuration: Configuration) throws(SystemError)
    /// Called before a configuration is replaced; the old one is still in force.
    func willApply(_ change: ConfigurationChange)
    /// Uses a configuration, which is in force from now on; must not fail.
    func apply(_ change: ConfigurationChange)
    /// Handles one turn, given the source's answer.
    func turn(_ answer: SampleAnswer, at now: Int64)
    /// Called after all parts had their turn and the router was flushed.
    func finishTurn(at now: Int64)
    /// The next turn that is needed without samples, on CLOCK_MONOTONIC; `nil` for none.
    var deadline: Int64? { get }
    /// Ends what belongs to a stage, and waits until `deadline` (CLOCK_MONOTONIC) at most.
    func end(_ stage: EndStage, until deadline: Int64)

    /// Chains that receive all events, in this order.
    var chains: [HandlerChain] { get }
    /// Observers that run after the detectors.
    var observers: [any DrivenDetector] { get }
    /// Present problems, each a sentence.
    var problems: [String] { get }
    /// Members of the status, as JSON.
    func status(at now: Int64) -> [(key: String, json: String)]
}

extension DaemonPart {
    func prepare(_ configuration: Configuration) throws(SystemError) {}
    func willApply(_ change: ConfigurationChange) {}
    func apply(_ change: ConfigurationChange) {}
    func turn(_ answer: SampleAnswer, at now: Int64) {}
    func finishTurn(at now: Int64) {}
    var deadline: Int64? { nil }
    func end(_ stage: EndStage, until deadline: Int64) {}
    var chains: [HandlerChain] { [] }
    var observers: [any DrivenDetector] { [] }
    var problems: [String] { [] }
    func status(at now: Int64) -> [(key: String, json: String)] { [] }
}

/// The configurations before and after a reload, with their objects.
struct ConfigurationChange {
    let before: Assembly
    let after: Assembly
    let isFirst: Bool
}

/// The stages of the end, in their order.
///
/// Each begins when the one before it is done, and has a fixed deadline counted from the beginning of the end.
package enum EndStage: CaseIterable {
    /// Nothing new begins; the service manager is told.
    case begin
    /// Events that wait for the store's last number get numbers, so that they can be stored.
    case numbering
    /// Decorators forward the events that they hold back, while the store still accepts them.
    case decorators
    /// Handlers that act on the outside world end; other handlers and the store still get events about them.
    case actors
    /// The store commits events and acknowledgements.
    case store
    case handlers
    /// The servers read their last events from the store and send them.
    case servers
    /// Files are written last, so that a slow disk does not use the servers' time.
    case files

    /// Deadline of the stage, from the beginning of the end.
    package var time: Duration {
        switch self {
        case .begin, .numbering, .decorators: .milliseconds(250)
        case .actors: .milliseconds(500)
        case .store: .milliseconds(650)
        case .handlers: .milliseconds(750)
        case .servers, .files: .milliseconds(900)
        }
    }
}

/// Work on another thread; a request while it runs repeats it, because its input may have changed.
package enum RepeatedWork {
    case none
    case running
    case outdated

    /// Whether the work may begin now; otherwise it is repeated after the present run.
    package mutating func mayBegin() -> Bool {
        if case .none = self { return true }
        self = .outdated
        return false
    }

    /// Called when the work has ended; returns whether to repeat it.
    package mutating func end() -> Bool {
        defer { self = .none }
        return if case .outdated = self { true } else { false }
    }
}

/// A message of another thread, which selects its part.
typealias PartMessage = @Sendable ([any DaemonPart]) -> Void

/// A queue by which other threads send messages to one part.
///
/// All parts share one mailbox, so messages of one thread keep their order: a handler's report is handled before the
/// request for the status that follows it.
package struct PartInbox<Part: AnyObject & SendableMetatype>: Sendable {
    private let mailbox: Mailbox<PartMessage>

    package init(_ daemon: Daemon) {
        mailbox = daemon.mailbox
    }

    /// Posts a message; callable on any thread.
    package func post(_ message: @escaping @Sendable (Part) -> Void) {
        mailbox.post { parts in
            for case let part as Part in parts { message(part) }
        }
    }

    /// Runs slow work on a new thread, and posts the result to the event thread.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result, then use: @escaping @Sendable (Part, Result) -> Void
    ) throws(SystemError) {
        try WorkerThread.start { [self] in
            let result = work()
            post { use($0, result) }
        }
    }
}
