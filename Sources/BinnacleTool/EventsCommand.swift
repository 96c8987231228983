import Binnacle
import CommandRows
import Configuration
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Station
import Store

/// `binnacle events`: shows the events in the store.
///
/// The daemon is asked, because it has locked the store's file; without a daemon the file is read.
struct EventsCommand {
    private let request: SubscriptionRequest
    private let path: String
    /// The file to read without asking a daemon; `nil` asks a daemon first.
    private let storePath: String?
    private let mayReadFile: Bool
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("events")
        var request = SubscriptionRequest()
        if arguments.has(.kind) { request.filter.kinds = try KindWords.kinds(arguments.all(.kind), of: "--kind") }
        if arguments.has(.sensor) { request.filter.sensors = Set(arguments.all(.sensor)) }
        request.follows = arguments.has(.follow)
        if let text = arguments.value(.since) {
            guard let time = SinceText.nanoseconds(text, now: SystemClock.realtime()) else {
                throw StationError(
                    .usage,
                    "--since \(text): has to be a number with s, m, h or d before now, as in 10m, or a time in UTC, as in "
                        + "2026-11-21 or 2026-11-21T12:45")
            }
            request.sinceNanoseconds = time
        } else {
            request.after = 0
        }
        self.request = request
        path = arguments.value(.socket) ?? SocketPath.forClient()
        storePath = arguments.value(.store)
        writesJSON = arguments.has(.json)
        for option in [OptionRow.socket, .follow] where storePath != nil && arguments.has(option) {
            throw StationError(
                .usage, "--\(option.name) does not go with --store, which reads a file and asks no daemon")
        }
        mayReadFile = !arguments.has(.socket) && !request.follows
    }

    func run(
        _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> ExitStatus {
        if let storePath { return try read(storePath, output) }
        if mayReadFile, !isAnswered {
            let path = EventStoreSettings.standardPath
            errors.write("binnacle: no daemon answers; reading \(path.printable)")
            errors.flush()
            return try read(path, output)
        }
        return try ask(output, errors, signals)
    }

    /// Whether a daemon listens; it may still refuse the request, with a reason.
    private var isAnswered: Bool {
        do throws(EventSubscriptionError) {
            _ = try SocketConnection(path: path)
            return true
        } catch {
            return error != .notRunning(path: path)
        }
    }

    /// Shows the events of a store's file.
    private func read(_ path: String, _ output: LineWriter) throws(StationError) -> ExitStatus {
        let reader = EventStoreReader(path: path)
        let printer = EventPrinter(output, writesJSON: writesJSON)
        var query = EventQuery(
            after: request.after ?? 0, sinceNanoseconds: request.sinceNanoseconds, filter: request.filter)
        while true {
            let page: EventPage
            do throws(EventStoreReader.Failure) {
                page = try reader.read(query)
            } catch {
                throw StationError(error.exitStatus, error.description)
            }
            for line in page.lines {
                guard let event = try? Event(json: line.json) else { continue }
                guard printer.print(event, line.json, flushes: false) else { return .ok }
            }
            if page.isLast { return .ok }
            query.after = page.through
        }
    }

    private func ask(
        _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> ExitStatus {
        let session = try SubscriberSession(
            request, path: path, patience: request.follows ? .afterFirstAnswer : .none, errors: errors,
            signals: signals)
        let printer = EventPrinter(output, writesJSON: writesJSON)
        while true {
            switch try session.next() {
            case .event(let event, let json):
                guard printer.print(event, json, flushes: request.follows) else { return .ok }
            case .ended(let status): return status
            }
        }
    }
}

extension EventStoreReader.Failure {
    /// The exit status.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .missing: .noInput
        case .inUse: .unavailable
        case .unreadable: .inputOutput
        }
    }
}
