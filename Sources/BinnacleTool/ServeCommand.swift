import Binnacle
import CommandRows
import Glibc
import IIOServer
import LinuxSystem
import Station
import Workbench

/// `binnacle serve`: serves the daemon's sensors, or those of recordings, to clients of iiod.
struct ServeCommand {
    private var recordings: RecordedDevices.Settings?
    private let socketPath: String
    private let isOneClient: Bool
    private let listener: (host: String, port: Int)

    /// The port of iiod.
    private static let standardPort = 30_431

    init(_ arguments: Arguments) throws(StationError) {
        let traces = try arguments.traces(arguments.operands)
        if traces.isEmpty {
            let options = [OptionRow.loop, .speed, .bind, .map, .rate]
            try arguments.refuse(options, "is for traces: name one")
            recordings = nil
        } else {
            try arguments.refuse([.socket], "does not go with traces")
            guard !traces.files.contains(Arguments.standardInput) else {
                throw .usage("-: each client gets the trace from its beginning: name a file")
            }
            let isFastest = arguments.value(.speed) == "max"
            recordings = RecordedDevices.Settings(
                traces, speed: isFastest ? nil : try arguments.speed(mayBeMaximum: true), loops: arguments.has(.loop))
        }
        socketPath = arguments.socketPath
        isOneClient = arguments.has(.stdio)
        listener = try ConnectionListener.place(arguments, port: Self.standardPort)
        if isOneClient { try arguments.refuse([.listen], "does not go with --stdio") }
    }

    mutating func run(_ console: Console) throws(StationError) -> ExitStatus {
        let (errors, interruption) = (console.errors, console.signals.interruption)
        // A file that cannot be read is refused here and not at the first client.
        errors.report(try recordings?.open(interruption) ?? [])
        guard !isOneClient else {
            let stream = PeerStream(input: STDIN_FILENO, output: STDOUT_FILENO)
            var lost = (count: 0, reportTime: Int64.min)
            func report(_ note: IIOSession.Note) {
                let (closing, count) = Self.closing(note)
                errors.report("serve: \(closing.text(count, nil))")
            }
            IIOSession(stream, source(interruption)) { note in
                guard case .lost(let count) = note else { return report(note) }
                lost.count += count
                // A slow client loses some with each request.
                let now = SystemClock.monotonic()
                guard now >= lost.reportTime else { return }
                report(.lost(lost.count))
                lost = (0, Units.later(now, by: ConnectionListener.messageInterval))
            }.serve()
            if lost.count > 0 { report(.lost(lost.count)) }
            return .ok
        }
        return try mapError({ StationError($0) }) { () throws(SystemError) in try listen(console) }
    }

    private func source(_ interruption: Interruption) -> any IIOSource {
        guard let recordings else { return DaemonDevices(path: socketPath) }
        return RecordedDevices(recordings, interruption: interruption)
    }

    private func listen(_ console: Console) throws(SystemError) -> ExitStatus {
        let (command, interruption) = (self, console.signals.interruption)
        // Clients stay for as long as they like.
        let places = try ConnectionPlaces(of: "serve", servedTime: nil)
        let greeting = ConnectionListener(place: listener, places: places, console: console)
        return try greeting.run { port in
            "IIO clients connect to ip:\(listener.host), port \(port)"
                + (ConnectionListener.isLoopback(listener.host) ? "" : "; every machine that reaches it may read")
        } serve: { place, places in
            // Finds clients whose machine is gone.
            try? place.socket.setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
            let stream = PeerStream(input: place.socket.raw, output: place.socket.raw)
            IIOSession(stream, command.source(interruption), admit: { places.admit(place) }) { note in
                let (closing, count) = Self.closing(note)
                places.report(closing, place.peer, count: count)
            }.serve()
        }
    }

    private static func closing(_ note: IIOSession.Note) -> (closing: ConnectionPlaces.Closing, count: Int) {
        switch note {
        case .lost(let count): (.lost, count)
        case .stalled: (.stalled(seconds: Int(IIOLimits.stall / 1_000_000_000)), 1)
        case .silent: (.silent(seconds: Int(IIOLimits.firstRequest / 1_000_000_000)), 1)
        case .notUnderstood: (.notUnderstood, 1)
        case .failed(let reason): (.failed(reason), 1)
        }
    }
}
