import Binnacle
import CommandRows
import Configuration
import EventSocket
import Glibc
import LinuxSystem
import PlainText
import Station
import Store

/// `binnacle events`: shows the events in the store.
///
/// A daemon has locked the store's file, so it is asked; without a daemon the file is read.
struct EventsCommand {
    private let request: SubscriptionRequest
    private let path: String
    /// The file of `--store`, which is read without asking a daemon.
    private let storePath: String?
    private let isSocketNamed: Bool
    private let mayReadFile: Bool
    private let writesJSON: Bool
    private let isUTC: Bool
    /// The value of `--until`, in nanoseconds since 1970.
    private let untilNanoseconds: Int64?
    /// The value of `--last`; `nil` shows all events.
    private let lastCount: Int?
    private let listsKinds: Bool

    init(_ arguments: Arguments) throws(StationError) {
        listsKinds = arguments.has(.kinds)
        isUTC = arguments.has(.utc)
        untilNanoseconds = try Self.time(.until, arguments)
        lastCount = try arguments.count(.last, in: 1...1_000_000)
        if listsKinds { try arguments.refuse([.json], "does not go with --kinds, which prints a list") }
        if arguments.has(.follow) {
            try arguments.refuse([.until, .last], "does not go with --follow, which has no last event")
        }
        var request = SubscriptionRequest()
        if arguments.has(.kind) { request.filter.kinds = try KindWords.kinds(arguments.all(.kind), of: "--kind") }
        if arguments.has(.sensor) { request.filter.sensors = Set(arguments.all(.sensor)) }
        request.follows = arguments.has(.follow)
        request.sinceNanoseconds = try Self.time(.since, arguments)
        if request.sinceNanoseconds == nil { request.after = 0 }
        if let since = request.sinceNanoseconds, let until = untilNanoseconds, until < since {
            throw .usage("--until is before --since: nothing lies between them")
        }
        self.request = request
        path = arguments.socketPath
        storePath = arguments.value(.store)
        isSocketNamed = arguments.has(.socket)
        writesJSON = arguments.has(.json)
        if storePath != nil {
            try arguments.refuse([.socket, .follow], "does not go with --store, which reads a file and asks no daemon")
        }
        mayReadFile = !arguments.has(.socket) && !request.follows
    }

    private static func time(_ option: OptionRow, _ arguments: Arguments) throws(StationError) -> Int64? {
        try arguments.value(option).map { text throws(StationError) in
            let now = SystemClock.realtime()
            let isUTC = arguments.has(.utc), isLater = option == .until
            if let time = DurationText.start(text, now: now, isUTC: isUTC, isLater: isLater) { return time }
            throw .usage(
                "--\(option.name) \(text): has to be a number with s, m, h or d before now, as in 10m, or a local time, as "
                    + "in 2026-11-21 or 2026-11-21T12:45, or with Z or +02:00 behind it")
        }
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        let (output, errors) = (console.output, console.errors)
        if listsKinds {
            Self.writeKinds(output)
            return .ok
        }
        if let storePath { return try read(storePath, output, errors) }
        if mayReadFile, let failure = SocketPath.failure(path) {
            let store = EventStoreSettings.readablePath
            switch failure {
            case .notRunning:
                errors.report("no daemon answers; reading \(store.printable)")
                return try read(store, output, errors)
            // A user who may not use the service's socket may have the store of a daemon of their own, and one whose folder's path
            // is too long for a socket.
            case .noPermission where access(store, R_OK) == 0, .system where access(store, R_OK) == 0:
                errors.report("\(failure); reading \(store.printable)")
                return try read(store, output, errors)
            default: break
            }
        }
        errors.sayOwnDaemon(path, isNamed: isSocketNamed)
        return try ask(console)
    }

    private static func writeKinds(_ output: LineWriter) {
        let column = 22
        // Without a terminal, one line for each kind, which programs can parse.
        let width = Terminal.columns(of: STDOUT_FILENO) ?? .max
        for kind in EventKind.allCases {
            let name = kind.rawValue
            let first = name + String(repeating: " ", count: max(1, column - name.count))
            for line in WrappedText.lines(kind.text, width: width, first: first, indent: column) {
                output.write(line)
            }
        }
    }

    /// Shows the events in a store's file.
    private func read(_ path: String, _ output: LineWriter, _ errors: LineWriter) throws(StationError) -> ExitStatus {
        let reader = EventStoreReader(path: path)
        try mapError({ StationError($0.exitStatus, $0.description) }) {
            () throws(EventStoreReader.Failure) in try reader.dropRootRights()
        }
        var shown = printer(output)
        var query = EventQuery(
            after: request.after ?? 0, sinceNanoseconds: request.sinceNanoseconds, filter: request.filter)
        var unreadableCount = 0
        var holes: [ClosedRange<UInt64>] = []
        while true {
            let page = try mapError({ StationError($0.exitStatus, $0.description) }) {
                () throws(EventStoreReader.Failure) in try reader.read(query)
            }
            unreadableCount += page.unreadableCount
            holes += page.missing
            for line in page.lines {
                guard let event = try? Event(json: line.json) else {
                    unreadableCount += 1
                    continue
                }
                guard shown.show(event, line.json, flushes: false) else { return .ok }
            }
            if page.isLast {
                for hole in holes where shown.isWithin(hole) {
                    errors.report(
                        MissedEvents(
                            count: request.filter.isOfAll ? UInt64(hole.count) : nil, first: hole.lowerBound,
                            last: hole.upperBound, reason: "they are not in the store"))
                }
                shown.finish()
                if unreadableCount > 0 {
                    errors.report(
                        "\(path.printable): rows left out, because they are no events that this version knows: "
                            + "\(unreadableCount)")
                }
                return .ok
            }
            query.after = page.through
            // Behind its beginning a clock that was set back hides nothing.
            if page.hasBegun { query.sinceNanoseconds = nil }
        }
    }

    private func ask(_ console: Console) throws(StationError) -> ExitStatus {
        let session = try EventSubscriber(
            request, path: path, patience: request.follows ? .afterFirstAnswer : .none, console)
        var shown = printer(console.output)
        while let message = try session.next() {
            guard case .event(let event, let json) = message else { continue }
            guard shown.show(event, json, flushes: request.follows) else { return .ok }
        }
        shown.finish()
        return session.status
    }

    private func printer(_ output: LineWriter) -> ChosenEvents {
        ChosenEvents(
            EventPrinter(output, writesJSON: writesJSON, isUTC: isUTC), untilNanoseconds: untilNanoseconds,
            lastCount: lastCount)
    }
}

/// Selects the events to show: up to a time, and the last ones.
private struct ChosenEvents {
    let printer: EventPrinter
    let untilNanoseconds: Int64?
    let lastCount: Int?
    /// A ring buffer of the last events.
    var last: [(event: Event, json: String)] = []
    var next = 0
    /// The number of the last event that is shown, or kept.
    private var lastSequence: UInt64?

    init(_ printer: EventPrinter, untilNanoseconds: Int64?, lastCount: Int?) {
        (self.printer, self.untilNanoseconds, self.lastCount) = (printer, untilNanoseconds, lastCount)
    }

    /// Prints an event, or keeps it for ``finish()``; `false` if the reader of the output is gone.
    mutating func show(_ event: Event, _ json: String, flushes: Bool) -> Bool {
        if let untilNanoseconds, let time = event.wallNanoseconds, time > untilNanoseconds { return true }
        lastSequence = event.sequence
        guard let lastCount else { return printer.print(event, json, flushes: flushes) }
        if last.count < lastCount {
            last.append((event, json))
        } else {
            last[next] = (event, json)
            next = (next + 1) % lastCount
        }
        return true
    }

    /// Whether missing events belong to what is shown: behind the first of the last ones, and before a time.
    func isWithin(_ hole: ClosedRange<UInt64>) -> Bool {
        let isLate = lastCount == nil || (last[next...].first.map { hole.lowerBound > $0.event.sequence } ?? false)
        return isLate && (untilNanoseconds == nil || (lastSequence.map { hole.upperBound < $0 } ?? false))
    }

    func finish() {
        for (event, json) in last[next...] + last[..<next] {
            guard printer.print(event, json, flushes: false) else { return }
        }
    }
}

extension EventStoreReader.Failure {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .missing: .noInput
        case .inUse: .unavailable
        case .noPermission: .noPermission
        case .unreadable: .inputOutput
        }
    }
}
