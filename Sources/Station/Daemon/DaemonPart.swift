import Binnacle
import Configuration
import LinuxSystem
import PlainText

/// A part of the daemon: it has its own state, its own messages, its deadline, and its own end.
///
/// The daemon knows its parts by this protocol alone. Everything is called on the event thread; a part calls the daemon back
/// where what it contributes has changed. Every method has an empty default.
protocol DaemonPart: AnyObject, SendableMetatype {
    /// Makes what a configuration needs and what may fail; ``apply(_:)`` follows with that configuration.
    func prepare(_ configuration: Configuration) throws(SystemError)
    /// A configuration is about to be replaced; the old one is still in force.
    func willApply(_ change: ConfigurationChange)
    /// Uses the configuration that is in force from now on; nothing in it can fail.
    func apply(_ change: ConfigurationChange)
    /// Does what is due in a turn, with the source's answer.
    func turn(_ answer: SampleAnswer, at now: Int64)
    /// Does what follows when all parts have had their turn and the router has handed their events on.
    func finishTurn(at now: Int64)
    /// When it has something to do although nothing happens, on CLOCK_MONOTONIC; `nil` for never.
    var deadline: Int64? { get }
    /// Does its work of a stage of the end, and waits no longer than to a time on CLOCK_MONOTONIC.
    func end(_ stage: EndStage, until deadline: Int64)

    /// Where it has events led, in the order in which each event gets there.
    var chains: [HandlerChain] { get }
    /// What it has stand behind the detectors.
    var observers: [any Detector] { get }
    /// What is wrong, each a sentence.
    var problems: [String] { get }
    /// Its members of the status, as JSON.
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
    var observers: [any Detector] { [] }
    var problems: [String] { [] }
    func status(at now: Int64) -> [(key: String, json: String)] { [] }
}

/// The configuration that is replaced, and the one that replaces it, with their objects.
struct ConfigurationChange {
    let before: Assembly
    let after: Assembly
    let isFirst: Bool
}

/// The stages of the end, in their order: each begins when the one before it is done.
///
/// A stage has until its time, counted from the beginning of the end, whatever the stages before it took.
enum EndStage: CaseIterable {
    /// Nothing new is begun, and the service manager knows.
    case begin
    /// Events that were held for the store's last number are numbered, so that they are stored.
    case numbering
    /// Decorators forward what they hold back, and the store gets it.
    case decorators
    /// Handlers that act on the world end: the other handlers and the store take the events about them.
    case actors
    /// The store has what it was given and what was acknowledged.
    case store
    case handlers
    /// The servers send their last events, which they have from the store.
    case servers
    /// Files are written: a slow disk has the time that the servers leave.
    case files

    /// The end of the stage, from the beginning of the end.
    var time: Duration {
        switch self {
        case .begin, .numbering, .decorators: .milliseconds(250)
        case .actors: .milliseconds(500)
        case .store: .milliseconds(650)
        case .handlers: .milliseconds(750)
        case .servers, .files: .milliseconds(900)
        }
    }
}

/// Work on another thread that was asked for; what it looks at may change meanwhile, so it is then done once more.
enum RepeatedWork {
    case none
    case running
    case outdated

    /// Whether it can begin now; otherwise it is done again when what runs has ended.
    mutating func mayBegin() -> Bool {
        if case .none = self { return true }
        self = .outdated
        return false
    }

    /// The work has ended; returns whether it is to be done again.
    mutating func end() -> Bool {
        defer { self = .none }
        return if case .outdated = self { true } else { false }
    }
}

/// A message of another thread; it looks for its part among all.
typealias PartMessage = @Sendable ([any DaemonPart]) -> Void

/// What other threads leave for a part, which does it on the event thread.
///
/// All parts share one mailbox, so the messages of one thread are handled in their order: a handler's report before the
/// request for the status that follows it.
struct PartInbox<Part: DaemonPart>: Sendable {
    private let mailbox: Mailbox<PartMessage>

    init(_ daemon: Daemon) {
        mailbox = daemon.mailbox
    }

    /// Leaves a message; from any thread.
    func post(_ message: @escaping @Sendable (Part) -> Void) {
        mailbox.post { parts in
            for case let part as Part in parts { message(part) }
        }
    }

    /// Runs on a thread of its own what may take long, and posts the result to the event thread.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result, then use: @escaping @Sendable (Part, Result) -> Void
    ) throws(SystemError) {
        try WorkerThread.start { [self] in
            let result = work()
            post { use($0, result) }
        }
    }
}
