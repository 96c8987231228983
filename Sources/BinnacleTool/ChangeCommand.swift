import EventSocket
import LinuxSystem
import PlainText
import Station

/// `binnacle reset`, `arm` and `disarm`: changes one thing in the running daemon.
enum ChangeCommand {
    static func run(
        _ action: DaemonChange.Action, _ arguments: Arguments, _ console: Console
    ) throws(StationError) -> ExitStatus {
        guard arguments.operands.count == 1 else {
            let example = action == .reset ? "walked" : "siren"
            throw .usage(
                "\(action.rawValue) takes the name of one \(action.member), as in 'binnacle \(action.rawValue) \(example)'"
            )
        }
        let change = DaemonChange(action, arguments.operands[0])
        let problem = try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in
            try SocketConnection.change(change, path: arguments.socketPath)
        }
        let done =
            switch action {
            case .reset: "begins again"
            case .arm: "is armed"
            case .disarm: "is disarmed: it gets no events until 'binnacle arm \(change.name.printable)'"
            }
        console.output.write("'\(change.name.printable)' \(done)")
        if let problem { throw StationError(.inputOutput, problem.printable) }
        return .ok
    }
}
