import EventSocket
import LinuxSystem
import PlainText
import Station

/// `binnacle reset`, `arm` and `disarm`: changes one thing in the running daemon.
struct ChangeCommand {
    private let change: DaemonChange
    private let path: String

    init(_ action: DaemonChange.Action, _ arguments: Arguments) throws(StationError) {
        guard arguments.operands.count == 1 else {
            let example = action == .reset ? "walked" : "siren"
            throw StationError(
                .usage,
                "\(action.rawValue) takes the name of one \(action.member), as in 'binnacle \(action.rawValue) \(example)'"
            )
        }
        change = DaemonChange(action, arguments.operands[0])
        path = arguments.socketPath
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        let problem = try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in
            try SocketConnection.change(change, path: path)
        }
        let done =
            switch change.action {
            case .reset: "begins again"
            case .arm: "is armed"
            case .disarm: "is disarmed: it gets no events until 'binnacle arm \(change.name.printable)'"
            }
        output.write("'\(change.name.printable)' \(done)")
        if let problem { throw StationError(.inputOutput, problem.printable) }
        return .ok
    }
}
