import Binnacle
import EventSocket
import Handlers
import LinuxSystem
import Station

/// `binnacle events`: shows the events that the daemon has kept.
struct EventsCommand {
    private let request: SubscriptionRequest
    private let path: String
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
        writesJSON = arguments.has(.json)
    }

    func run(_ output: LineWriter, _ errors: LineWriter) throws(StationError) -> ExitStatus {
        let session = try SubscriberSession(
            request, path: path, patience: request.follows ? .afterFirstAnswer : .none, errors: errors)
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
